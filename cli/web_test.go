package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"warp/cli/exit"
)

// A pageReader is a browser that looks at the page of a run as soon as warp says where it is.
type pageReader struct {
	*ctrlC
	urls chan string
}

func (r *pageReader) Write(p []byte) (int, error) {
	if m := regexp.MustCompile(`page at (http://\S+)`).FindSubmatch(p); m != nil {
		r.urls <- string(m[1])
	}
	return r.ctrlC.Write(p)
}

// A run is watched, marked and stopped on its page, which shows the report then, until Ctrl-C.
func TestWebPageOfARun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := &pageReader{&ctrlC{signals: make(chan os.Signal, 1), text: "never", Reader: strings.NewReader("")}, make(chan string, 1)}
	a := &app{in: r, out: io.Discard, errw: r, env: mapEnvironment(nil), signals: r.signals, exit: func(int) { t.Error("exit was called") }}
	watched := make(chan error, 1)
	go func() {
		watched <- watchRun(t.Context(), <-r.urls)
		r.signals <- os.Interrupt
	}()
	code := a.main(t.Context(), []string{"get", "--host=embedded", "--obj.size=1KiB", "--objects=20", "--concurrent=2", "--duration=10m",
		"--serve=127.0.0.1:0", "--benchdata=" + filepath.Join(dir, "run")})
	if err := <-watched; err != nil {
		t.Errorf("%v; warp said: %s", err, r.String())
	}
	if code != exit.OK || !strings.Contains(r.String(), "the page stays until Ctrl-C") {
		t.Errorf("exit code %d: %s", code, r.String())
	}
	log := decoded[struct {
		Reason string                  `json:"end_reason"`
		Marks  []struct{ Text string } `json:"marks"`
	}](t, exit.OK, "analyze", filepath.Join(dir, "run.csv.zst"))
	if log.Reason != "it was stopped on its page" || len(log.Marks) != 1 || log.Marks[0].Text != "disk <1> pulled" {
		t.Errorf("the log has %+v", log)
	}
}

// watchRun looks at the page until the run is over.
func watchRun(ctx context.Context, page string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	u, err := url.Parse(page)
	if err != nil {
		return err
	}
	ask := func(method, path, body string) (*http.Response, error) {
		q, err := http.NewRequestWithContext(ctx, method, "http://"+u.Host+path, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		q.Header.Set("X-Warp-Token", u.Query().Get("token"))
		return http.DefaultClient.Do(q)
	}
	post := func(path, body string) error {
		answer, err := ask("POST", path, body)
		if err != nil {
			return err
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusNoContent {
			return fmt.Errorf("%s: %s", path, answer.Status)
		}
		return nil
	}
	events, err := ask("GET", "/events", "")
	if err != nil {
		return err
	}
	defer events.Body.Close()
	lines := bufio.NewScanner(events.Body)
	lines.Buffer(nil, 16<<20)
	pages, stopped := 0, false
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, `data: {"title"`) {
			pages++
		}
		if strings.Contains(line, `"text":"measuring`) && pages > 0 && !stopped {
			stopped = true
			if err := post("/mark", "disk <1> pulled"); err != nil {
				return err
			}
			if err := post("/stop", ""); err != nil {
				return err
			}
		}
		if strings.Contains(line, `"over":true`) {
			break
		}
	}
	if !stopped || pages < 2 {
		return fmt.Errorf("%d pages, stopped: %v, %v", pages, stopped, lines.Err())
	}
	for path, want := range map[string]string{"/": "disk &lt;1&gt; pulled", "/report.html": "<h1>GET, 1", "/report.json": `"version":2`, "/log": ""} {
		answer, err := ask("GET", path, "")
		if err != nil {
			return err
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || len(text) == 0 || !strings.Contains(string(text), want) {
			return fmt.Errorf("%s: %s, %d bytes without %q, %v", path, answer.Status, len(text), want, err)
		}
	}
	return nil
}
