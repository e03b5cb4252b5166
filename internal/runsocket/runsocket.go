// Package runsocket lets commands find the runs of their user on this machine
// and talk to them: each run has a Unix socket in a folder that only the user
// can reach.
package runsocket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	maxMessage = 4 << 10         // of a request and of an answer
	maxAtOnce  = 16              // requests that are answered at a time; others wait
	timeout    = 5 * time.Second // of a request and its answer
	suffix     = ".sock"
)

// Info describes a run.
type Info struct {
	ID      string    `json:"run"`
	PID     int       `json:"pid"`
	Command string    `json:"command"` // benchmark
	Start   time.Time `json:"start"`

	path string
}

// A Marked is a mark that a run has set.
type Marked struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// A request asks a run for its description, or to set a mark.
type request struct {
	Mark string `json:"mark,omitempty"`
}

type answer struct {
	Run    Info    `json:"run"`
	Marked *Marked `json:"marked,omitempty"`
	Error  string  `json:"error,omitempty"`
}

// A Server answers for one run.
type Server struct {
	run      Info
	mark     func(text string) (Marked, error)
	listener net.Listener
	work     sync.WaitGroup
	room     chan struct{}
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
}

// Listen answers for the run until Close. The environment says where the
// runtime folder is.
func Listen(env func(string) (string, bool), run Info, mark func(text string) (Marked, error)) (*Server, error) {
	if run.ID == "" || filepath.Base(run.ID) != run.ID || strings.HasPrefix(run.ID, ".") {
		return nil, fmt.Errorf("%q cannot be the name of a file", run.ID)
	}
	run.PID = os.Getpid()
	name := run.ID + "." + strconv.Itoa(run.PID) + suffix
	var errs []error
	for _, f := range folders(env) {
		if err := f.make(); err != nil {
			errs = append(errs, err)
			continue
		}
		path := filepath.Join(f.path, name)
		_ = os.Remove(path) // of an earlier run of this process, or of one that had its number
		l, err := net.Listen("unix", path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s := &Server{run: run, mark: mark, listener: l, room: make(chan struct{}, maxAtOnce)}
		s.ctx, s.cancel = context.WithCancel(context.Background())
		s.work.Go(s.serve)
		return s, nil
	}
	return nil, errors.Join(errs...)
}

// Close removes the socket. It does not wait for clients that send nothing.
func (s *Server) Close() {
	s.cancel()
	_ = s.listener.Close()
	s.work.Wait()
}

func (s *Server) serve() {
	for {
		c, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as too many open files
			select {
			case <-time.After(100 * time.Millisecond):
			case <-s.ctx.Done():
			}
			continue
		}
		s.room <- struct{}{}
		s.work.Go(func() {
			defer func() { <-s.room }()
			s.answer(c)
		})
	}
}

// answer answers one request.
func (s *Server) answer(c net.Conn) {
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(timeout))
	defer context.AfterFunc(s.ctx, func() { _ = c.SetReadDeadline(time.Now()) })()
	a := answer{Run: s.run}
	var r request
	if err := json.NewDecoder(io.LimitReader(c, maxMessage)).Decode(&r); err != nil {
		a.Error = "the request cannot be read"
	} else if r.Mark != "" {
		m, err := s.mark(r.Mark)
		if err != nil {
			a.Error = err.Error()
		} else {
			a.Marked = &m
		}
	}
	_ = json.NewEncoder(c).Encode(a)
}

// List returns the runs of this user, the oldest first. Sockets of runs that were
// killed are removed.
func List(ctx context.Context, env func(string) (string, bool)) (runs []Info, err error) {
	for _, f := range folders(env) {
		if checkErr := f.check(); errors.Is(checkErr, os.ErrNotExist) {
			continue
		} else if checkErr != nil {
			err = errors.Join(err, checkErr)
			continue
		}
		entries, readErr := os.ReadDir(f.path)
		err = errors.Join(err, readErr)
		for _, e := range entries {
			path := filepath.Join(f.path, e.Name())
			pid, ok := pidOf(e.Name())
			if !ok {
				continue
			}
			a, askErr := ask(ctx, path, request{})
			switch {
			case askErr == nil && a.Run.ID != "":
				a.Run.path = path
				runs = append(runs, a.Run)
			case gone(askErr) && !alive(pid):
				_ = os.Remove(path)
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
		}
	}
	slices.SortFunc(runs, func(a, b Info) int { return a.Start.Compare(b.Start) })
	return runs, err
}

// pidOf returns the process whose socket has that name.
func pidOf(name string) (pid int, ok bool) {
	name, ok = strings.CutSuffix(name, suffix)
	_, number, found := strings.Cut(name, ".")
	pid, err := strconv.Atoi(number[strings.LastIndexByte(number, '.')+1:])
	return pid, ok && found && err == nil && pid > 0
}

// gone reports whether nothing listens at a socket any more.
func gone(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist)
}

// Mark asks a run to set a mark.
func Mark(ctx context.Context, run Info, text string) (Marked, error) {
	a, err := ask(ctx, run.path, request{Mark: text})
	switch {
	case err != nil:
		return Marked{}, fmt.Errorf("run %s does not answer: %w", run.ID, err)
	case a.Error != "":
		return Marked{}, errors.New(a.Error)
	case a.Marked == nil:
		return Marked{}, fmt.Errorf("run %s did not set the mark", run.ID)
	}
	return *a.Marked, nil
}

// ask sends a request and reads the answer.
func ask(ctx context.Context, path string, r request) (a answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return a, err
	}
	defer func() { _ = c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Now()) })()
	if err := json.NewEncoder(c).Encode(r); err != nil {
		return a, err
	}
	err = json.NewDecoder(io.LimitReader(c, maxMessage)).Decode(&a)
	return a, err
}
