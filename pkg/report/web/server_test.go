package web

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/counter"
	"warp/pkg/monitor"
	"warp/pkg/report/page"
	"warp/pkg/results"
)

const timeout = time.Minute

// A run is a run with a page.
type run struct {
	*Server
	t       *testing.T
	base    string
	token   string
	stopped atomic.Int32
	marks   chan string
}

func serve(t *testing.T, addr string) *run {
	t.Helper()
	r := &run{t: t, marks: make(chan string, 10)}
	log := filepath.Join(t.TempDir(), "run.csv.zst.part")
	check.OK(t, os.WriteFile(log, []byte("rows"), 0o600))
	var err error
	r.Server, err = Listen(addr, Options{
		Stop: func() { r.stopped.Add(1) },
		Mark: func(text string) error {
			if text == "" {
				return errors.New("a mark needs a text")
			}
			r.marks <- text
			return nil
		},
		Log: func() string { return log },
	})
	check.OK(t, err)
	t.Cleanup(r.Close)
	u, err := url.Parse(r.URL())
	check.OK(t, err)
	r.token = u.Query().Get("token")
	r.base = "http://" + r.addr.String()
	return r
}

// ask sends a request and returns its answer.
func (r *run) ask(method, path string, change func(*http.Request), body string) (code int, text string, h http.Header) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if change != nil {
		change(req)
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer.StatusCode, string(b), answer.Header
}

func some(name string) *page.Page {
	return page.Report(&results.Report{Version: 2, Groups: []results.GroupReport{{Kind: "measured", Operations: []string{name}}},
		Operations: []results.Operation{{Op: name, Inside: 10, WindowS: 1, ObjectsPerS: 10}}}, page.Options{})
}

// On loopback everybody may read, but only a client with the token may change the run. Pages for
// others do not contain the token.
func TestWhoMayWhat(t *testing.T) {
	t.Parallel()
	r := serve(t, "127.0.0.1:0")
	r.Show(some("GET"))
	r.Say("measuring")
	with := func(q *http.Request) { q.Header.Set("X-Warp-Token", r.token) }
	for _, c := range []struct {
		name, method, path string
		change             func(*http.Request)
		body               string
		want               int
	}{
		{"page", "GET", "/", nil, "", 200},
		{"page as localhost", "GET", "/", func(q *http.Request) { q.Host = "localhost:" + strings.Split(r.base, ":")[2] }, "", 200},
		{"page by another name", "GET", "/", func(q *http.Request) { q.Host = "evil.example:" + strings.Split(r.base, ":")[2] }, "", 421},
		{"page by another port", "GET", "/", func(q *http.Request) { q.Host = "127.0.0.1:1" }, "", 421},
		{"events by another name", "GET", "/events", func(q *http.Request) { q.Host = "evil.example" }, "", 421},
		{"report", "GET", "/report.html", nil, "", 200},
		{"json", "GET", "/report.json", nil, "", 200},
		{"log", "GET", "/log", nil, "", 200},
		{"elsewhere", "GET", "/etc/passwd", nil, "", 404},
		{"stop by GET", "GET", "/stop?token=" + r.token, nil, "", 405},
		{"stop without a token", "POST", "/stop", nil, "", 403},
		{"stop with another token", "POST", "/stop?token=" + strings.Repeat("A", len(r.token)), nil, "", 403},
		{"stop by another name", "POST", "/stop?token=" + r.token, func(q *http.Request) { q.Host = "evil.example" }, "", 421},
		{"stop from another site", "POST", "/stop", func(q *http.Request) { with(q); q.Header.Set("Origin", "http://evil.example") }, "", 403},
		{"stop from a site that hides", "POST", "/stop", func(q *http.Request) { with(q); q.Header.Set("Origin", "null") }, "", 403},
		{"stop as browsers mark it", "POST", "/stop", func(q *http.Request) { with(q); q.Header.Set("Sec-Fetch-Site", "cross-site") }, "", 403},
		{"report for another site", "GET", "/report.json", func(q *http.Request) { q.Header.Set("Sec-Fetch-Site", "cross-site") }, "", 403},
		{"page by a link", "GET", "/", func(q *http.Request) {
			q.Header.Set("Sec-Fetch-Site", "cross-site")
			q.Header.Set("Sec-Fetch-Mode", "navigate")
		}, "", 200},
		{"mark without a token", "POST", "/mark", nil, "disk pulled", 403},
		{"empty mark", "POST", "/mark", with, " ", 409},
		{"large mark", "POST", "/mark", with, strings.Repeat("x", 2*maxBody), 409},
	} {
		if code, text, _ := r.ask(c.method, c.path, c.change, c.body); code != c.want {
			t.Errorf("%s: %d, not %d: %.100s", c.name, code, c.want, text)
		}
	}
	if n := r.stopped.Load(); n != 0 || len(r.marks) != 0 {
		t.Fatalf("stopped %d times, marked %d times", n, len(r.marks))
	}
	if _, text, _ := r.ask("GET", "/", nil, ""); strings.Contains(text, r.token) || strings.Contains(text, `id="stop"`) {
		t.Error("the page has the token, or buttons, for who came without it")
	}
	_, text, h := r.ask("GET", "/?token="+r.token, nil, "")
	if !strings.Contains(text, r.token) || !strings.Contains(text, `id="stop"`) || !strings.Contains(text, "measuring") {
		t.Error("the page lacks the token, a button or the state")
	}
	if h.Get("Referrer-Policy") != "no-referrer" || h.Get("X-Frame-Options") != "DENY" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", h)
	}
	if _, text, _ := r.ask("GET", "/report.html", nil, ""); strings.Contains(text, r.token) || strings.Contains(text, `id="live"`) {
		t.Error("the saved page is not a file of its own")
	}
	if _, text, _ := r.ask("GET", "/log", nil, ""); text != "rows" {
		t.Errorf("the log is %q", text)
	}
	if code, _, _ := r.ask("POST", "/mark", with, "disk pulled\n"); code != 204 || <-r.marks != "disk pulled" {
		t.Errorf("mark: %d", code)
	}
	if code, _, _ := r.ask("POST", "/stop", with, ""); code != 204 || r.stopped.Load() != 1 {
		t.Errorf("stop: %d", code)
	}
	r.End("over")
	if code, _, _ := r.ask("POST", "/stop", with, ""); code != 409 {
		t.Errorf("stop after the end: %d", code)
	}
}

// If other machines can reach the server, every request needs the token.
func TestOtherAddresses(t *testing.T) {
	t.Parallel()
	r := serve(t, "0.0.0.0:0")
	r.base = "http://127.0.0.1:" + r.base[strings.LastIndex(r.base, ":")+1:]
	r.Show(some("GET"))
	for _, path := range []string{"/", "/events", "/report.html", "/report.json", "/log"} {
		if code, _, _ := r.ask("GET", path, nil, ""); code != 403 {
			t.Errorf("%s without the token: %d", path, code)
		}
	}
	if code, _, _ := r.ask("GET", "/?token="+r.token, nil, ""); code != 200 {
		t.Errorf("with the token: %d", code)
	}
}

// viewer reads events until it finds one.
type viewer struct {
	t       *testing.T
	answer  *http.Response
	scanner *bufio.Scanner
}

func (r *run) view() *viewer {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	r.t.Cleanup(cancel)
	req, _ := http.NewRequestWithContext(ctx, "GET", r.base+"/events", nil)
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { answer.Body.Close() })
	s := bufio.NewScanner(answer.Body)
	s.Buffer(nil, 16<<20)
	return &viewer{r.t, answer, s}
}

func (v *viewer) find(event, part string) {
	v.t.Helper()
	now := ""
	for v.scanner.Scan() {
		line := v.scanner.Text()
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			now = name
		}
		if now == event && strings.HasPrefix(line, "data: ") && strings.Contains(line, part) {
			return
		}
	}
	v.t.Fatalf("no event %s with %q: %v", event, part, v.scanner.Err())
}

func TestEvents(t *testing.T) {
	t.Parallel()
	r := serve(t, "127.0.0.1:0")
	if r.Wanted() {
		t.Error("wanted by nobody")
	}
	v := r.view()
	v.find("state", "getting ready")
	if !r.Wanted() {
		t.Error("not wanted with a viewer")
	}
	r.Show(some("GET"))
	v.find("page", "GET")
	r.Say("measuring")
	v.find("state", "measuring")
	again := r.view() // after a reload, or a lost connection
	again.find("page", "GET")
	v.answer.Body.Close()
	r.Show(some("PUT"))
	again.find("page", "PUT")
	r.End("it is over")
	again.find("state", `"over":true`)
	if r.Wanted() {
		t.Error("wanted after the end")
	}
	go r.Close()
	again.find("end", "")
}

// A client that does not read costs the run nothing, and is disconnected.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	r := serve(t, "127.0.0.1:0")
	c, err := net.Dial("tcp", r.addr.String())
	check.OK(t, err)
	defer c.Close()
	if _, err := io.WriteString(c, "GET /events HTTP/1.1\r\nHost: "+r.addr.String()+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p := some(strings.Repeat("x", 256<<10))
		for range 50 { // more than any socket buffer
			r.Show(p)
		}
		r.Show(some("LAST"))
	}()
	select {
	case <-done:
	case <-time.After(timeout):
		t.Fatal("a reader that does not read stops the run")
	}
	r.view().find("page", "LAST")
}

// Strangers cannot occupy all connections for long.
func TestManyConnections(t *testing.T) {
	t.Parallel()
	r := serve(t, "127.0.0.1:0")
	for range 3 * maxConnections {
		c, err := net.Dial("tcp", r.addr.String())
		check.OK(t, err)
		defer c.Close()
	}
	if code, _, _ := r.ask("GET", "/", nil, ""); code != 200 {
		t.Errorf("the page: %d", code)
	}
}

// The figures of a coordinator make a page too, however long the run is.
func TestTimeline(t *testing.T) {
	t.Parallel()
	c := &Timeline{Workers: 8, Clients: 2, Base: results.Report{Benchmark: "get"}}
	if r := c.Report(); len(r.Operations) != 0 {
		t.Error("there is an operation before the start")
	}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).UnixNano()
	const seconds = 1000
	for i := range int64(seconds) {
		n := uint64(i+1) * 100
		c.Add(monitor.Snapshot{At: start + (i+1)*1e9, Ops: []monitor.Op{{Op: "GET", Counter: counter.Counter{Requests: n, Errors: n / 100, Bytes: n << 20, Objects: n}, Elapsed: time.Duration((i + 1) * 1e9)}}})
	}
	c.Add(monitor.Snapshot{At: start + seconds*1e9}) // nothing new
	r := c.Report()
	op := &r.Operations[0]
	if len(op.Segments) > maxSegments+1 || len(op.Segments) < maxSegments/3 || op.Requests != seconds*100 || op.Errors != seconds || c.Elapsed() != seconds*time.Second {
		t.Fatalf("%d segments, %d requests, %d errors in %v", len(op.Segments), op.Requests, op.Errors, c.Elapsed())
	}
	bytes := uint64(0)
	for i := range op.Segments {
		s := &op.Segments[i]
		bytes += s.Bytes
		if s.ObjectsPerS < 99 || s.ObjectsPerS > 101 {
			t.Errorf("segment %d: %v objects/s", i, s.ObjectsPerS)
		}
	}
	if bytes != op.Bytes {
		t.Errorf("segments have %d bytes of %d", bytes, op.Bytes)
	}
	var b strings.Builder
	p := page.Report(r, page.Options{Hosts: []monitor.Part{{Name: "http://a:1", Counter: counter.Counter{Requests: 5}}, {Name: "http://b:2"}}, Elapsed: c.Elapsed()})
	if err := p.WriteLive(&b, page.Live{}); err != nil || !strings.Contains(b.String(), "By host so far") || !strings.Contains(b.String(), "8 workers of 2 clients") {
		t.Errorf("%v; the page lacks something", err)
	}
}

// The URL for a browser's command line has no token, and works once.
func TestOpenOnce(t *testing.T) {
	t.Parallel()
	r := serve(t, "127.0.0.1:0")
	link := r.OpenURL()
	path, ok := strings.CutPrefix(link, r.base)
	if !ok || strings.Contains(link, r.token) {
		t.Fatalf("the link is %s", link)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(path string) (code int, location string) {
		answer, err := client.Get(r.base + path)
		check.OK(t, err)
		_ = answer.Body.Close()
		return answer.StatusCode, answer.Header.Get("Location")
	}
	for _, wrong := range []string{"/open", "/open?once=", path + "x"} {
		if code, to := get(wrong); code != http.StatusForbidden || to != "" {
			t.Errorf("%s: %d, to %q", wrong, code, to)
		}
	}
	if code, to := get(path); code != http.StatusSeeOther || to != "/?token="+r.token {
		t.Errorf("the link: %d, to %q", code, to)
	}
	if code, to := get(path); code != http.StatusForbidden || to != "" {
		t.Errorf("the link, used again: %d, to %q", code, to)
	}
	r.OpenURL()
	r.mu.Lock()
	r.until = time.Now()
	late := openPath + "?once=" + r.once
	r.mu.Unlock()
	if code, _ := get(late); code != http.StatusForbidden {
		t.Errorf("a link that has expired: %d", code)
	}
}
