package browser

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"warp/internal/check"
	"warp/pkg/counter"
	"warp/pkg/monitor"
	"warp/pkg/report/page"
	"warp/pkg/report/web"
)

const limit = time.Minute

// A run is a run with a page.
type run struct {
	*web.Server
	base  string
	marks chan string
}

func serve(t *testing.T) *run {
	t.Helper()
	r := &run{marks: make(chan string, 10)}
	log := filepath.Join(t.TempDir(), "run.csv.zst.part")
	check.OK(t, os.WriteFile(log, []byte("rows"), 0o600))
	var err error
	r.Server, err = web.Listen("127.0.0.1:0", web.Options{
		Stop: func() {},
		Mark: func(text string) error { r.marks <- text; return nil },
		Log:  func() string { return log },
	})
	check.OK(t, err)
	t.Cleanup(r.Close)
	u, err := url.Parse(r.URL())
	check.OK(t, err)
	r.base = "http://" + u.Host
	return r
}

// at returns the page of a timeline after so many seconds.
func at(seconds int) *page.Page {
	c := &web.Timeline{Workers: 8, Clients: 1}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).UnixNano()
	for i := range int64(seconds) {
		n := uint64(i+1) * 100
		c.Add(monitor.Snapshot{At: start + (i+1)*1e9, Ops: []monitor.Op{{Op: "GET", Counter: counter.Counter{Requests: n, Bytes: n << 20, Objects: n}, Elapsed: time.Duration((i + 1) * 1e9)}}})
	}
	return page.Report(c.Report(), page.Options{})
}

// In a browser the page follows the run: figures and charts change in place, and what the reader
// reads and has opened stays. Marks can be set, a
// reload shows the same, and the end is visible. No request goes anywhere else.
func TestBrowserFollowsTheRun(t *testing.T) {
	t.Parallel()
	r := serve(t)
	ctx := browser(t)
	var mu sync.Mutex
	var bad []string
	note := func(s string) { mu.Lock(); bad = append(bad, s); mu.Unlock() }
	chromedp.ListenTarget(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			note("exception: " + ev.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			note("log: " + ev.Entry.Text)
		case *network.EventRequestWillBeSent:
			if u := ev.Request.URL; !strings.HasPrefix(u, r.base) && !strings.HasPrefix(u, "data:") {
				note("request: " + u)
			}
		}
	})
	poll := func(expression string) chromedp.Action {
		return chromedp.ActionFunc(func(ctx context.Context) error {
			for {
				err := chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(limit)).Do(ctx)
				if err == nil || !strings.Contains(err.Error(), "Cannot find context") { // a reload replaces the context
					return err
				}
			}
		})
	}
	step := func(name string, actions ...chromedp.Action) {
		t.Helper()
		if err := chromedp.Run(ctx, actions...); err != nil {
			mu.Lock()
			defer mu.Unlock()
			t.Fatalf("%s: %v; %q", name, err, bad)
		}
	}
	step("open", log.Enable(), network.Enable(), chromedp.Navigate(r.URL()), poll(`document.querySelector("h1").textContent === "No figures yet"`))
	r.Show(at(5))
	r.Say("measuring for 5s")
	step("first figures", poll(`document.querySelectorAll(".plot[data-places] svg path").length >= 1`), poll(`document.getElementById("state").textContent === "measuring for 5s"`),
		chromedp.Focus(".plot[data-places]", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight),
		poll(`document.querySelector(".reading")?.textContent.startsWith("1.5 s (")`),
		chromedp.Evaluate(`document.querySelector("figure details").open = true, document.querySelector(".plot[data-places]").dataset.seen = "yes"`, nil))
	r.Show(at(20))
	step("more figures", poll(`document.getElementById("top").textContent.includes("2,000")`), poll(`document.querySelectorAll("figure tbody tr").length >= 20`),
		poll(`document.querySelector(".plot[data-places]").dataset.seen === undefined && document.querySelector("figure details").open`),
		poll(`document.activeElement === document.querySelector(".plot[data-places]") && document.querySelector(".reading:not([hidden])")?.textContent.startsWith("1.5 s (")`))
	step("mark", chromedp.SendKeys("#marktext", "disk pulled\r", chromedp.ByQuery), poll(`document.getElementById("marktext").value === ""`))
	if text := <-r.marks; text != "disk pulled" {
		t.Errorf("the mark is %q", text)
	}
	step("reload", chromedp.Reload(), poll(`document.querySelectorAll(".plot[data-places] svg path").length >= 1`), poll(`document.getElementById("top").textContent.includes("2,000")`))
	r.Show(at(30))
	r.End("the run is over")
	step("end", poll(`document.getElementById("state").textContent === "the run is over"`), poll(`document.getElementById("top").textContent.includes("3,000")`),
		poll(`document.getElementById("stop") === null`))
	mu.Lock()
	defer mu.Unlock()
	for _, s := range bad {
		t.Error(s)
	}
}
