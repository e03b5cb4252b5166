package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"warp/pkg/report/page"
)

// body returns the posted text.
func body(w http.ResponseWriter, r *http.Request) (string, error) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(writeWait))
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	return strings.TrimSpace(string(b)), err
}

// newest returns the page. It waits for a newer one if the page is old, and returns nil if there is
// none yet.
func (s *Server) newest(r *http.Request) *content {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = time.Now()
	timeout := time.After(3 * time.Second)
	for !s.state.Over && (s.shown == nil || time.Since(s.shown.at) > 2*time.Second) {
		changed := s.changed
		s.mu.Unlock()
		over := false
		select {
		case <-changed:
		case <-timeout:
			over = true
		case <-r.Context().Done():
			over = true
		case <-s.done:
			over = true
		}
		s.mu.Lock()
		if over {
			break
		}
		if s.shown == nil {
			break // the run has not begun, and nobody knows when it will
		}
	}
	return s.shown
}

func (s *Server) showPage(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = time.Now()
	c, now := s.shown, s.state
	s.mu.Unlock()
	live := page.Live{State: now.Text, Over: now.Over, Log: s.options.Log != nil}
	if s.knows(r) && s.options.Stop != nil {
		live.Token = s.token
	}
	p := page.Waiting()
	if c != nil {
		p = c.page
	}
	s.answer(w, "text/html; charset=utf-8", "", func(b io.Writer) error { return p.WriteLive(b, live) })
}

// answer renders before it writes, so that a failure becomes an error status.
func (s *Server) answer(w http.ResponseWriter, kind, file string, write func(io.Writer) error) {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	if file != "" {
		w.Header().Set("Content-Disposition", `attachment; filename="`+file+`"`)
	}
	_, _ = w.Write(b.Bytes()) // a client that is gone needs no answer
}

func (s *Server) savePage(w http.ResponseWriter, r *http.Request) {
	s.save(w, r, "text/html; charset=utf-8", "warp.html", (*page.Page).Write)
}

func (s *Server) saveData(w http.ResponseWriter, r *http.Request) {
	s.save(w, r, "application/json", "warp.json", func(p *page.Page, b io.Writer) error { return json.NewEncoder(b).Encode(p.Data()) })
}

// save sends the newest page as a file, in the form that write writes.
func (s *Server) save(w http.ResponseWriter, r *http.Request, kind, file string, write func(*page.Page, io.Writer) error) {
	c := s.newest(r)
	if c == nil {
		http.Error(w, "nothing was measured yet", http.StatusNotFound)
		return
	}
	s.answer(w, kind, file, func(b io.Writer) error { return write(c.page, b) })
}

// saveLog sends the log as it is so far.
func (s *Server) saveLog(w http.ResponseWriter, _ *http.Request) {
	path := ""
	if s.options.Log != nil {
		path = s.options.Log()
	}
	if path == "" {
		http.Error(w, "there is no op log here, or not yet", http.StatusNotFound)
		return
	}
	file, err := os.Open(path)
	if err != nil {
		http.Error(w, "the op log cannot be read now", http.StatusNotFound)
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		http.Error(w, "the op log cannot be read now", http.StatusNotFound)
		return
	}
	name := strings.TrimSuffix(filepath.Base(path), ".part")
	w.Header().Set("Content-Type", "application/zstd")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	control := http.NewResponseController(w)
	rest := io.LimitReader(file, info.Size())
	for {
		_ = control.SetWriteDeadline(time.Now().Add(writeWait))
		if _, err := io.CopyN(w, rest, 256<<10); err != nil {
			return
		}
	}
}

// events sends the state, and each newer page.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	s.look(1)
	defer s.look(-1)
	w.Header().Set("Content-Type", "text/event-stream")
	out := &stream{w, http.NewResponseController(w)}
	var sent *content
	alive := time.NewTicker(beat)
	defer alive.Stop()
	for {
		s.mu.Lock()
		now, c, changed := s.state, s.shown, s.changed
		s.mu.Unlock()
		text, _ := json.Marshal(now)
		if out.send("state", text) != nil {
			return
		}
		if c != nil && c != sent {
			if c.fragments != nil && out.send("page", c.fragments) != nil {
				return
			}
			sent = c
		}
		select {
		case <-changed:
		case <-alive.C:
		case <-r.Context().Done():
			return
		case <-s.done:
			_ = out.send("end", []byte("{}"))
			return
		}
	}
}

func (s *Server) look(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.viewers += n
	s.asked = time.Now()
}

// A stream is one reader of events.
type stream struct {
	http.ResponseWriter
	control *http.ResponseController
}

// send writes an event, whose data has no line breaks.
func (w *stream) send(event string, data []byte) error {
	if err := w.control.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data); err != nil {
		return err
	}
	return w.control.Flush()
}
