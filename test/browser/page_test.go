package browser

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"warp/internal/check"
	"warp/internal/testlog"
)

// hostile is text that must stay text.
const hostile = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>&lt;\u202e\x1b[31m\x00<!--"

// watched records what a page must not do.
type watched struct {
	mu  sync.Mutex
	bad []string
}

func (w *watched) note(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bad = append(w.bad, s)
}

// watch reports errors, dialogs, and requests that leave the page.
func watch(ctx context.Context) *watched {
	w := &watched{}
	chromedp.ListenTarget(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			w.note("exception: " + ev.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if ev.Type == runtime.APITypeError || ev.Type == runtime.APITypeWarning {
				w.note("console: " + string(ev.Type))
			}
		case *log.EventEntryAdded:
			w.note("log: " + ev.Entry.Text)
		case *cdppage.EventJavascriptDialogOpening:
			w.note("dialog: " + ev.Message)
		case *network.EventRequestWillBeSent:
			if u := ev.Request.URL; !strings.HasPrefix(u, "file:") && !strings.HasPrefix(u, "data:") {
				w.note("request: " + u)
			}
		}
	})
	return w
}

func (w *watched) check(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.bad {
		t.Error(s)
	}
}

// pointAtFirstValue moves the mouse to the start of the first chart over time.
func pointAtFirstValue(ctx context.Context) error {
	var box struct{ X, Y float64 }
	const first = `(svg => { svg.scrollIntoView(); const b = svg.getBoundingClientRect(); return {X: b.x, Y: b.y} })(document.querySelector(".plot[data-places] svg"))`
	if err := chromedp.Evaluate(first, &box).Do(ctx); err != nil {
		return err
	}
	return chromedp.MouseEvent(input.MouseMoved, box.X+1, box.Y+20).Do(ctx)
}

// In a browser the page draws its charts without errors and without loading anything. It fits a
// phone, has a dark scheme, can be used by keyboard, and can be printed.
func TestBrowser(t *testing.T) {
	t.Parallel()
	load := testlog.Loads()["mixed"]
	load.Length = 20 * time.Second
	r := reportOf(t, load, func(l *memoryLog) {
		for i := range l.rows {
			if l.rows[i].Err != "" {
				l.rows[i].Err = hostile
			}
		}
		l.header.Command = hostile
	})
	file := filepath.Join(t.TempDir(), "page.html")
	check.OK(t, os.WriteFile(file, []byte(render(t, r)), 0o600))
	ctx := browser(t)
	w := watch(ctx)
	var charts, drawn, wide, tall, tables int
	var background, reading, pointed string
	var pdf []byte
	err := chromedp.Run(ctx, log.Enable(), network.Enable(),
		chromedp.EmulateViewport(1400, 1000),
		chromedp.Navigate("file://"+file),
		chromedp.WaitVisible(".plot[data-places]", chromedp.ByQuery),
		chromedp.Evaluate(`document.querySelectorAll(".plot[data-places]").length`, &charts),
		chromedp.Evaluate(`document.querySelectorAll(".reading").length`, &drawn), // nothing before somebody points
		chromedp.Evaluate(`[...document.querySelectorAll(".plot[data-places]")].filter(p => p.dataset.places.split(" ").length === p.closest("figure").querySelector("tbody").rows.length).length`, &tables),
		chromedp.Focus(".plot[data-places]", chromedp.ByQuery),
		chromedp.KeyEvent(kb.ArrowRight),
		chromedp.KeyEvent(kb.ArrowRight),
		chromedp.Poll(`(t => t?.startsWith("1.5 s (") && t)(document.querySelector(".reading:not([hidden])")?.textContent)`, &reading),
		chromedp.Poll(`document.querySelectorAll(".reading:not([hidden])").length === document.querySelectorAll(".plot[data-places]").length`, nil),
		chromedp.KeyEvent(kb.Escape),
		chromedp.Poll(`document.querySelectorAll(".reading:not([hidden])").length === 0`, nil),
		chromedp.ActionFunc(func(ctx context.Context) error { // a busy browser may lose an event
			for {
				if err := pointAtFirstValue(ctx); err != nil {
					return err
				}
				err := chromedp.Poll(`(n => n && n.textContent)(document.querySelector(".reading:not([hidden])"))`, &pointed, chromedp.WithPollingTimeout(2*time.Second)).Do(ctx)
				if !errors.Is(err, chromedp.ErrPollingTimeout) {
					return err
				}
			}
		}),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}),
		chromedp.Evaluate(`getComputedStyle(document.body).backgroundColor`, &background),
		chromedp.EmulateViewport(390, 800),
		chromedp.Poll(`document.documentElement.scrollWidth <= 390 && document.documentElement.scrollWidth`, &wide),
		chromedp.Evaluate(`document.documentElement.scrollHeight`, &tall),
		chromedp.ActionFunc(func(ctx context.Context) (err error) {
			pdf, _, err = cdppage.PrintToPDF().Do(ctx)
			return err
		}),
	)
	if err != nil {
		w.check(t)
		t.Fatal(err)
	}
	if charts < 2 || drawn != 0 || tables != charts {
		t.Errorf("%d charts over time, %d with a table of all their values, %d readings before anybody points", charts, tables, drawn)
	}
	if !strings.Contains(reading, " UTC)\nGET ") || !strings.HasPrefix(pointed, "0.5 s (") {
		t.Errorf("the second value reads %q, the first %q", reading, pointed)
	}
	if tall > 12000 {
		t.Errorf("on a phone the page is %d pixels high", tall)
	}
	if background != "rgb(20, 24, 28)" {
		t.Errorf("the dark scheme has the background %s", background)
	}
	if len(pdf) < 10<<10 || !bytes.HasPrefix(pdf, []byte("%PDF")) {
		t.Errorf("printed, the page is %d bytes", len(pdf))
	}
	w.check(t)
}

// All charts are visible without scripts.
func TestBrowserWithoutScripts(t *testing.T) {
	t.Parallel()
	r := reportOf(t, testlog.Loads()["mixed"], nil)
	file := filepath.Join(t.TempDir(), "page.html")
	check.OK(t, os.WriteFile(file, []byte(render(t, r)), 0o600))
	ctx := browser(t)
	w := watch(ctx)
	var charts, flat int
	var scripted bool
	err := chromedp.Run(ctx, log.Enable(), network.Enable(),
		emulation.SetScriptExecutionDisabled(true),
		chromedp.EmulateViewport(1400, 1000),
		chromedp.Navigate("file://"+file),
		chromedp.Evaluate(`document.documentElement.classList.contains("js")`, &scripted),
		chromedp.Evaluate(`document.querySelectorAll("svg.chart").length`, &charts),
		chromedp.Evaluate(`[...document.querySelectorAll("svg.chart")].filter(s => s.getBoundingClientRect().width < 100 || s.getBoundingClientRect().height < 20).length`, &flat),
	)
	check.OK(t, err)
	if scripted || charts < 4 || flat > 0 {
		t.Errorf("scripts ran: %v; %d charts, of which %d are not seen", scripted, charts, flat)
	}
	w.check(t)
}

// The charts are readable under the policy with which Jenkins serves reports, which blocks scripts and styles.
func TestBrowserStrictPolicy(t *testing.T) {
	t.Parallel()
	html := render(t, reportOf(t, testlog.Loads()["mixed"], nil))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'; img-src 'self'; style-src 'self'")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, html)
	}))
	t.Cleanup(server.Close)
	var width, line, inside, heat, grid string
	var black, charts int
	err := chromedp.Run(browser(t),
		chromedp.EmulateViewport(1200, 1000),
		chromedp.Navigate(server.URL),
		chromedp.Evaluate(`getComputedStyle(document.body).maxWidth`, &width),
		chromedp.Evaluate(`getComputedStyle(document.querySelector(".lines path.s0")).stroke`, &line),
		chromedp.Evaluate(`getComputedStyle(document.querySelector(".lines path.s0")).fill`, &inside),
		chromedp.Evaluate(`getComputedStyle(document.querySelector(".heat path")).stroke`, &heat),
		chromedp.Evaluate(`getComputedStyle(document.querySelector(".grid line")).stroke`, &grid),
		chromedp.Evaluate(`document.querySelectorAll("svg.chart").length`, &charts),
		chromedp.Evaluate(`[...document.querySelectorAll("svg path, svg line, svg rect, svg circle")].filter(n => (s => s.fill === "rgb(0, 0, 0)" && n.tagName !== "line" || n.tagName === "line" && s.stroke === "none")(getComputedStyle(n))).length`, &black),
	)
	check.OK(t, err)
	if width != "none" {
		t.Fatalf("the policy lets the style sheet through: the body is up to %s wide", width)
	}
	if line != "rgb(0, 114, 178)" || inside != "none" || heat != "rgb(11, 60, 93)" || grid != "rgb(232, 235, 239)" {
		t.Errorf("a line is %s, filled with %s; the heat map is %s, the grid %s", line, inside, heat, grid)
	}
	if black > 0 || charts < 4 {
		t.Errorf("%d of the shapes of %d charts have no color", black, charts)
	}
}

// A mail viewer that removes style sheets, scripts and drawings leaves the heading, the summary, the cards and all tables readable.
func TestBrowserMailViewer(t *testing.T) {
	t.Parallel()
	html := render(t, reportOf(t, testlog.Loads()["mixed"], nil))
	for _, element := range []string{"style", "script", "svg"} {
		html = regexp.MustCompile(`(?s)<`+element+`\b.*?</`+element+`>`).ReplaceAllString(html, "")
	}
	file := filepath.Join(t.TempDir(), "mail.html")
	check.OK(t, os.WriteFile(file, []byte(html), 0o600))
	var text string
	var cards []string
	var tables, empty, unseen int
	err := chromedp.Run(browser(t),
		chromedp.EmulateViewport(800, 1000),
		chromedp.Navigate("file://"+file),
		chromedp.Evaluate(`document.querySelectorAll("details").forEach(d => d.open = true), document.body.innerText`, &text),
		chromedp.Evaluate(`[...document.querySelectorAll(".card")].map(c => c.innerText)`, &cards),
		chromedp.Evaluate(`document.querySelectorAll("table").length`, &tables),
		chromedp.Evaluate(`[...document.querySelectorAll("table")].filter(t => t.rows.length < 2 || !t.caption.innerText).length`, &empty),
		chromedp.Evaluate(`[...document.querySelectorAll("h1, h2, .lead, td, th")].filter(n => n.innerText && n.getBoundingClientRect().height < 5).length`, &unseen),
	)
	check.OK(t, err)
	if len(cards) < 4 || !regexp.MustCompile(`^Throughput: [\d.]+ \SiB/s; [\d,]+ objects/s$`).MatchString(cards[0]) {
		t.Errorf("the cards read %q", cards)
	}
	if tables < 5 || empty > 0 || unseen > 0 {
		t.Errorf("of %d tables %d are empty or have no caption; %d texts cannot be seen", tables, empty, unseen)
	}
	if word := regexp.MustCompile(`\S{80,}`).FindString(text); word != "" {
		t.Errorf("between the words is %.80s", word)
	}
}

// On paper the first two pages are a summary: up to the errors of a run with four operations.
func TestBrowserPrintsSummaryFirst(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "page.html")
	check.OK(t, os.WriteFile(file, []byte(render(t, reportOf(t, testlog.Loads()["mixed"], nil))), 0o600))
	const width, height = 740, 980 // of a page of 8.5 by 11 inches without its margins
	var order []string
	var end float64
	err := chromedp.Run(browser(t),
		emulation.SetEmulatedMedia().WithMedia("print"),
		chromedp.EmulateViewport(width, height),
		chromedp.Navigate("file://"+file),
		chromedp.Evaluate(`[...document.querySelectorAll("section")].map(s => s.id)`, &order),
		chromedp.Evaluate(`document.querySelector("#errors").getBoundingClientRect().bottom + scrollY`, &end),
	)
	check.OK(t, err)
	summary := order[:slices.Index(order, "errors")+1]
	if !slices.Contains(summary, "operations") || !slices.Contains(summary, "throughput") || !slices.Contains(summary, "latency") || len(summary) > 6 {
		t.Errorf("before the errors are %q", summary)
	}
	if end > 2*height {
		t.Errorf("the errors end %.1f pages after the start", end/height)
	}
}
