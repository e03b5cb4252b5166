package bench

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/pause"
	"warp/internal/teststore"
	"warp/pkg/oplog"
)

// A witness is a sink that holds rows against what it knows of the window.
type witness struct {
	t     *testing.T
	onSet func(oplog.Window)
	slow  time.Duration // each batch takes that long

	mu      sync.Mutex
	windows []oplog.Window
	rows    []oplog.Record
	early   int // rows of the measured part before its start
}

func (s *witness) Write(batch []oplog.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	time.Sleep(s.slow)
	if s.window().Start == 0 {
		s.early += len(batch)
	}
	s.rows = append(s.rows, batch...)
	return nil
}

func (s *witness) Flush() error { return nil }

func (s *witness) window() oplog.Window {
	if len(s.windows) == 0 {
		return oplog.Window{}
	}
	return s.windows[len(s.windows)-1]
}

// SetWindow checks that all rows so far had ended by the newest instant.
func (s *witness) SetWindow(w oplog.Window) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	newest := max(w.Start, w.Begin, w.End)
	for _, r := range s.rows {
		if end := r.Start + int64(r.Duration); end > newest {
			s.t.Errorf("a row that ended at %d came before %+v", end, w)
			break
		}
	}
	s.windows = append(s.windows, w)
	if s.onSet != nil {
		s.onSet(w)
	}
	return nil
}

// A scenario is an operation whose requests are functions.
type scenario struct {
	prepare int // requests of the preparation
	do      func(ctx context.Context, w *Worker, n int64) error
	begun   atomic.Int64
}

func (f *scenario) Prepare(ctx context.Context, e *Env) error {
	return e.Spread(ctx, f.prepare, func(ctx context.Context, w *Worker, i int) error {
		return w.Measure(ctx, "PUT", "key", func(context.Context, *Request) error { return nil })
	})
}

func (f *scenario) Do(ctx context.Context, w *Worker) error { return f.do(ctx, w, f.begun.Add(1)) }

// takes is a request that takes so long unless it is cut off.
func takes(ctx context.Context, w *Worker, d time.Duration) error {
	return w.Measure(ctx, "GET", "key", func(ctx context.Context, _ *Request) error {
		if !pause.For(ctx, d) {
			return ctx.Err()
		}
		return nil
	})
}

func runSteps(t *testing.T, workers int, set func(*Options), do func(context.Context, *Worker, int64) error) (*Outcome, *witness) {
	t.Helper()
	r := emptyRunner(t, workers)
	set(&r.Options)
	r.Op = &scenario{prepare: 20, do: do}
	w := &witness{t: t}
	return r.Run(t.Context(), w), w
}

// Under load every row is on the right side of each instant, however slow the
// sinks are, and the trailer has the instants that were announced to them.
func TestWindowIsInOrderWithTheRows(t *testing.T) {
	t.Parallel()
	for _, slow := range []time.Duration{0, 100 * time.Microsecond} {
		r := emptyRunner(t, 16)
		r.Options.Duration = 6 * time.Second
		r.Op = &scenario{prepare: 1000, do: func(ctx context.Context, w *Worker, n int64) error {
			return takes(ctx, w, time.Duration(n%50)*time.Microsecond)
		}}
		s := &witness{t: t, slow: slow}
		out := r.Run(t.Context(), s)
		if len(s.windows) != 3 || out.Trailer.Window == nil || *out.Trailer.Window != s.window() {
			t.Fatalf("windows %+v, trailer %+v", s.windows, out.Trailer.Window)
		}
		if s.early != 1000 {
			t.Errorf("%d rows came before the start, want the 1000 of the preparation", s.early)
		}
		first, second, third := s.windows[0], s.windows[1], s.windows[2]
		if first.Begin != 0 || first.End != 0 || second.Start != first.Start || second.Begin == 0 || second.End != 0 || third.Begin != second.Begin {
			t.Errorf("windows %+v", s.windows)
		}
		length := time.Duration(third.End - third.Start) // somewhat less where rows were looked at after the start was read off the clock
		if third.Cold != 0 || length > 6*time.Second || length < 5*time.Second || third.Begin <= third.Start || third.Begin >= third.End {
			t.Errorf("window %+v", third)
		}
	}
}

// What ends a run ends its window, then and there.
func TestWhatEndsTheWindow(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	for _, test := range []struct {
		name      string
		set       func(*Options)
		until     int64 // requests, then nothing is left
		finish    time.Duration
		interrupt time.Duration
		min, end  time.Duration // the window's end from the start
	}{
		{name: "deadline", set: func(o *Options) { o.Duration = 200 * ms }, min: 100 * ms, end: 200 * ms},
		{name: "nothing left", until: 400, min: 10 * ms, end: time.Minute},
		{name: "nothing left before the deadline", set: func(o *Options) { o.Duration = time.Hour }, until: 400, min: 10 * ms, end: time.Minute},
		{name: "finish", finish: 150 * ms, min: 150 * ms, end: time.Minute},
		{name: "interrupt", interrupt: 150 * ms, min: 100 * ms, end: time.Minute},
		{name: "open loop", set: func(o *Options) { o.Duration, o.Rate = 200*ms, 1000 }, min: 100 * ms, end: 200 * ms},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := emptyRunner(t, 4)
			if test.set != nil {
				test.set(&r.Options)
			}
			r.Op = &scenario{do: func(ctx context.Context, w *Worker, n int64) error {
				if test.until > 0 && n > test.until {
					return ErrDone
				}
				return takes(ctx, w, ms)
			}}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			s := &witness{t: t, onSet: func(w oplog.Window) {
				if w.Begin == 0 && w.End == 0 && test.finish > 0 {
					time.AfterFunc(test.finish, func() { r.Finish("seen enough") })
				}
				if w.Begin == 0 && w.End == 0 && test.interrupt > 0 {
					time.AfterFunc(test.interrupt, func() { cancel(ErrInterrupted) })
				}
			}}
			out := r.Run(ctx, s)
			w := s.window()
			length := time.Duration(w.End - w.Start)
			if out.Failed > 0 || w.End == 0 || length < test.min || length > test.end || *out.Trailer.Window != w {
				t.Errorf("%+v, %s long; %+v", w, length, out)
			}
			if out.Trailer.CutOff != nil {
				t.Errorf("%+v was cut off, of requests that take a millisecond", out.Trailer.CutOff)
			}
		})
	}
}

// The last object of a budget belongs to the window.
func TestBudgetEndsTheWindow(t *testing.T) {
	t.Parallel()
	r := emptyRunner(t, 1)
	r.Options.MaxObjects = 50
	r.Op = &uploads{}
	s := &witness{t: t}
	r.Run(t.Context(), s)
	w := s.window()
	for _, row := range s.rows {
		if row.Start < w.Start || row.Start > w.End {
			t.Errorf("an upload at %d is outside of %+v", row.Start, w)
		}
	}
}

// One worker that is stuck cannot delay the start beyond the bound, and counts
// as cold. --warmup moves the start further.
func TestBeginOfTheWindow(t *testing.T) {
	t.Parallel()
	const ms = 30 * time.Millisecond // long ones, for machines that stall
	for _, test := range []struct {
		name   string
		set    func(*Options)
		stuck  bool
		min    time.Duration
		cold   int
		absent bool
	}{
		{name: "bound of a long run", stuck: true, set: func(o *Options) { o.Duration = 300 * ms }, min: maxWarmUp(300 * ms), cold: 1},
		{name: "warm-up", set: func(o *Options) { o.Duration, o.Warmup = 300*ms, 200*ms }, min: 200 * ms},
		{name: "warm-up beyond the bound", stuck: true, set: func(o *Options) { o.Duration, o.Warmup = 300*ms, 200*ms }, min: 200 * ms, cold: 1},
		{name: "open loop", stuck: true, set: func(o *Options) { o.Duration, o.Rate = 300*ms, 100 }, min: 20 * time.Millisecond},
		{name: "too short for a start", stuck: true, set: func(o *Options) { o.Duration, o.Warmup = 100*ms, 100*ms }, absent: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, s := runSteps(t, 3, test.set, func(ctx context.Context, w *Worker, n int64) error {
				if n == 1 && test.stuck {
					return takes(ctx, w, 400*ms)
				}
				return takes(ctx, w, ms)
			})
			w := s.window()
			if (w.Begin == 0) != test.absent {
				t.Fatalf("%+v", w)
			}
			if late := time.Duration(w.Begin - w.Start); !test.absent && (late < test.min || w.Begin >= w.End || w.Cold != test.cold) {
				t.Errorf("begin after %s, %d cold; want at least %s and %d", late, w.Cold, test.min, test.cold)
			}
		})
	}
	for duration, bound := range map[time.Duration]time.Duration{
		0: 10 * time.Second, time.Second: time.Second / 2, 4 * time.Second: 2 * time.Second, 30 * time.Second: 2 * time.Second,
		100 * time.Second: 5 * time.Second, time.Hour: 10 * time.Second,
	} {
		if got := maxWarmUp(duration); got != bound {
			t.Errorf("%s of a run of %s", got, duration)
		}
	}
}

// A request without an answer at the end of the drain is a failed one; one that
// an interrupt cuts off is none.
func TestDrain(t *testing.T) {
	t.Parallel()
	frozen := func(ctx context.Context, w *Worker, n int64) error {
		if n > 100 {
			return takes(ctx, w, time.Hour)
		}
		return takes(ctx, w, time.Millisecond)
	}
	t.Run("over", func(t *testing.T) {
		t.Parallel()
		r := emptyRunner(t, 4)
		r.Options.Drain = 300 * time.Millisecond
		op := &scenario{prepare: 20, do: frozen}
		r.Op = op
		go func() {
			waitUntilFrozen(t, op)
			r.Finish("seen enough")
		}()
		s := &witness{t: t}
		out := r.Run(t.Context(), s)
		if out.Fatal != nil || out.Failed != 4 || out.Sent != 124 || out.Trailer.CutOff != nil || out.Trailer.End != "completed" {
			t.Errorf("%+v", out)
		}
		failed := 0
		for _, r := range s.rows {
			if r.Err == "" {
				continue
			}
			failed++
			if !strings.HasPrefix(r.Err, "DrainTimeout: ") || r.Duration < 300*time.Millisecond || r.Start+int64(r.Duration) < s.window().End {
				t.Errorf("%q after %s", r.Err, r.Duration)
			}
		}
		if failed != 4 {
			t.Errorf("%d rows failed", failed)
		}
	})
	for name, stop := range map[string]func(r *Runner, cancel context.CancelCauseFunc){
		"interrupted": func(_ *Runner, cancel context.CancelCauseFunc) { cancel(ErrInterrupted) },
		"interrupted after its end": func(r *Runner, cancel context.CancelCauseFunc) {
			r.Finish("seen enough")
			cancel(ErrInterrupted)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := emptyRunner(t, 4)
			op := &scenario{do: frozen}
			r.Op = op
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var at time.Time
			go func() {
				waitUntilFrozen(t, op)
				at = time.Now()
				stop(r, cancel)
			}()
			out := r.Run(ctx, &witness{t: t})
			if took := time.Since(at); took < interruptDrain || took > 25*time.Second { // a run that is not interrupted drains for 30 s
				t.Errorf("it ended %s after the interrupt", took)
			}
			cut := out.Trailer.CutOff
			if out.Failed != 0 || out.Sent != 100 || !errors.Is(out.Fatal, ErrInterrupted) || cut == nil || cut.Count != 4 || cut.LongestS < 2 {
				t.Errorf("%+v, cut off %+v", out, cut)
			}
		})
	}
}

// waitUntilFrozen waits until four workers have a request without an answer, after 100 that had one.
func waitUntilFrozen(t *testing.T, op *scenario) {
	for op.begun.Load() < 104 && pause.For(t.Context(), time.Millisecond) {
	}
}

func TestLengthOfTheDrain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ asked, longest, want time.Duration }{
		{0, 0, 30 * time.Second}, {0, 15 * time.Second, 30 * time.Second}, {0, 80 * time.Second, 160 * time.Second}, {time.Second, time.Minute, time.Second},
	} {
		o := &Options{Drain: test.asked}
		if got := o.drainLength(test.longest); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// In an open loop against a store that freezes, what was due and not sent is
// counted, with how long it had waited.
func TestUnsentArrivalsHaveWaited(t *testing.T) {
	t.Parallel()
	const rate = 200.0
	out, s := runSteps(t, 2, func(o *Options) { o.Duration, o.Rate = 500*time.Millisecond, rate }, func(ctx context.Context, w *Worker, n int64) error {
		if n > 20 {
			return takes(ctx, w, 600*time.Millisecond)
		}
		return takes(ctx, w, time.Microsecond)
	})
	u, w := out.Trailer.UnsentWaits, s.window()
	measured := int64(0)
	for _, r := range s.rows {
		if r.Due != 0 {
			measured++
		}
	}
	// 100 arrivals are due in the run. They are sent in order.
	if u == nil || u.Count != 100-measured || u.Count != out.Trailer.Unsent || out.Trailer.Offered != rate {
		t.Fatalf("%+v of %d sent, %+v", u, measured, out.Trailer)
	}
	due := w.Start + measured*int64(1e9/rate)
	if d := u.FirstDue.UnixNano() - due; d < -1000 || d > 1e6 || u.Until.UnixNano() < w.End {
		t.Errorf("%+v: the first is off by %s", u, time.Duration(d))
	}
	u.Each(func(_ int64, d time.Duration) {
		if d < u.Until.Sub(time.Unix(0, w.End)) {
			t.Errorf("one of them had waited %s", d)
		}
	})
}

// A coordinator decides on begin and end.
type coordinator struct {
	warm, ended chan int
}

func (c *coordinator) Warm(cold int) { c.warm <- cold }
func (c *coordinator) Ended()        { c.ended <- 0 }

func TestCoordinatedWindow(t *testing.T) {
	t.Parallel()
	r := emptyRunner(t, 4)
	c := &coordinator{make(chan int, 2), make(chan int, 2)}
	r.Window = c
	r.Op = &scenario{prepare: 5, do: func(ctx context.Context, w *Worker, n int64) error {
		if n > 1000 {
			return ErrDone
		}
		return takes(ctx, w, time.Millisecond)
	}}
	s := &witness{t: t}
	if err := r.SetBegin(time.Now()); err == nil {
		t.Error("a run began before it was there")
	}
	done := make(chan *Outcome)
	go func() { done <- r.Run(t.Context(), s) }()
	<-c.warm
	warm := time.Now()
	if err := r.SetBegin(warm.Add(-time.Second)); err == nil {
		t.Error("the window begins before the run is warm")
	}
	// Rows wait for the coordinator's answer, so one that is a little late is in time.
	begin := warm.Add(20 * time.Millisecond)
	time.Sleep(50 * time.Millisecond)
	for range 2 { // what is said again changes nothing
		if err := r.SetBegin(begin); err != nil {
			t.Error(err)
		}
	}
	<-c.ended
	end := time.Now().Add(50 * time.Millisecond)
	for range 2 {
		if err := r.SetEnd(end); err != nil {
			t.Error(err)
		}
	}
	out := <-done
	w := out.Trailer.Window
	if out.Fatal != nil || w == nil || w.Begin != begin.UnixNano() && time.Duration(w.Begin-begin.UnixNano()).Abs() > time.Millisecond ||
		time.Duration(w.End-end.UnixNano()).Abs() > time.Millisecond || *w != s.window() || len(s.windows) != 3 {
		t.Errorf("%+v, %+v", out.Fatal, w)
	}
}

// Without a word from the coordinator a deadline ends the window, and a run
// that does not know its begin is no good.
func TestCoordinatorThatDoesNotDecide(t *testing.T) {
	t.Parallel()
	r := emptyRunner(t, 2)
	r.Window = &coordinator{make(chan int, 2), make(chan int, 2)}
	r.Options.Duration = 100 * time.Millisecond
	r.Op = &scenario{do: func(ctx context.Context, w *Worker, _ int64) error { return takes(ctx, w, time.Millisecond) }}
	out := r.Run(t.Context(), &witness{t: t})
	if out.Fatal == nil || !strings.Contains(out.Fatal.Error(), "when the window begins") || out.Trailer.Window.End == 0 {
		t.Errorf("%v, %+v", out.Fatal, out.Trailer.Window)
	}
}

// What holds for requests of our own making holds on the wire too: a store that
// freezes in the middle leaves one failed request per worker.
func TestStoreThatFreezes(t *testing.T) {
	t.Parallel()
	var frozen atomic.Bool
	front, dropped := freezingFront(t, teststore.Silent(t), &frozen)
	w := testWorker(t, front)
	r := &Runner{Client: w.Env.Client, Progress: noProgress{}, Options: Options{Concurrency: 3, Drain: 300 * time.Millisecond}}
	r.env = &Env{Client: r.Client, Bucket: "bucket", Names: w.Env.Names, Concurrency: 3, Progress: noProgress{}}
	r.env.Buckets = []*Env{r.env}
	r.Op = &uploads{before: 3}
	s := &witness{t: t, onSet: func(w oplog.Window) {
		if w.Begin != 0 && w.End == 0 {
			frozen.Store(true)
		}
	}}
	go func() {
		for dropped.Load() < 3 && pause.For(t.Context(), time.Millisecond) {
		}
		r.Finish("frozen")
	}()
	out := r.Run(t.Context(), s)
	if out.Fatal != nil || out.Failed != 3 || out.Trailer.CutOff != nil {
		t.Errorf("%+v", out)
	}
	for _, row := range s.rows {
		if row.Err != "" && (!strings.HasPrefix(row.Err, "DrainTimeout: ") || row.Duration < 300*time.Millisecond || row.Start >= s.window().End) {
			t.Errorf("%+v in %+v", row, s.window())
		}
	}
}

// freezingFront passes on what a store answers until it is frozen. It counts the connections that it has kept something from.
func freezingFront(t *testing.T, store string, frozen *atomic.Bool) (addr string, dropped *atomic.Int64) {
	dropped = &atomic.Int64{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	t.Cleanup(func() { l.Close() })
	pass := func(to, from net.Conn) {
		defer to.Close()
		buf := make([]byte, 64<<10)
		for first := true; ; {
			n, err := from.Read(buf)
			switch {
			case err != nil:
				return
			case !frozen.Load():
				_, _ = to.Write(buf[:n])
			case first:
				first = false
				dropped.Add(1)
			}
		}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("tcp", store)
			if err != nil {
				c.Close()
				return
			}
			go pass(s, c)
			go pass(c, s)
		}
	}()
	return l.Addr().String(), dropped
}
