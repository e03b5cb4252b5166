package bench

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"warp/internal/human"
	"warp/internal/pause"
	"warp/pkg/bench/recording"
	"warp/pkg/bench/verify"
	"warp/pkg/generator"
	"warp/pkg/oplog"
	"warp/pkg/store"
)

// A Worker performs steps one after the other. It is one thread of the log.
type Worker struct {
	ID   int
	Rand *generator.Stream // the worker's own stream of the run's seed
	Env  *Env              // of the worker's own bucket

	Bucket int // index of Env among all buckets
	Body   *generator.Reader
	Check  *verify.Verifier
	Silent bool            // requests are neither recorded nor counted
	Text   generator.Arena // for names of objects
	Picked store.Object    // of the next request
	// Arrival is the number of the step in the schedule of an open loop, from 0.
	Arrival int64

	run     *run
	newLane func() *Worker
	lanes   []*Worker // see Lanes
	queue   *recording.Queue
	due     time.Time     // of the step's first request; zero in a closed loop
	behind  time.Duration // in an open loop: how much earlier an infinitely fast client would be
	refused bool          // the last request found no connection
	uploads uint64        // names used so far, of those that NextKey returns
	named   uint64        // and of others, see CountName
	pick    pick          // of the next request
	picks   oplog.Picks
	warm    bool // the window has begun

	statement oplog.Statement // of a script that the next request belongs to

	// Reused by every request: a worker that allocates nothing is not slowed by the
	// garbage collector.
	record  oplog.Record
	request Request
	trace   store.Trace
	phases  store.Phases
	sample  rand.PCG // chooses the requests to trace; Rand determines the requests themselves
}

// newWorker returns the worker with the given id, or a lane of it, which has the same
// number in the log.
func (o *Options) newWorker(id, lane int, env *Env, payload *generator.Payload, t *recording.Queue) *Worker {
	w := &Worker{ID: id, Env: env, queue: t, Body: payload.NewReader(), Check: verify.New(o.Verify, payload)}
	w.sample.Seed(o.Seed, uint64(o.stream(id))<<32|uint64(lane))
	return w
}

// A Request is one attempt, timed by [Worker.Measure]. The caller sends it through
// the host with the trace, and sets Objects and Bytes.
type Request struct {
	*store.Host
	Trace    *store.Trace
	Receives bool // the request is a download, so the first byte of the answer is recorded
	Objects  int
	Bytes    int64
	Once     bool         // not repeated, since its parts were, and have their own rows
	Check    *oplog.Check // what the request says about the store, for the log; nil = nothing
}

// Measure times call and records it. No other place of the project times requests.
// The error that it returns is recorded already.
func (w *Worker) Measure(ctx context.Context, op, key string, call func(context.Context, *Request) error) error {
	start := time.Now()
	if err := w.Env.lapsed(start); err != nil {
		w.run.abort(err)
		return err
	}
	rec := &w.record
	*rec = oplog.Record{Op: op, Key: key, Thread: uint32(w.ID), Statement: w.statement, Run: w.run.id, Client: w.run.client, Start: w.run.unixNano(start)}
	if !w.due.IsZero() {
		rec.Due = w.run.unixNano(w.due)
		w.due = time.Time{}
	}
	w.countPicked(rec)
	outer := w.queue.Begin(op)
	err := w.attempts(ctx, start, call)
	w.queue.End(outer)
	w.behind += rec.ClientTime
	if errors.Is(err, ErrUnfinished) {
		w.run.unfinished.Add(1)
		return err
	}
	if err != nil && ctx.Err() != nil {
		return w.cutOff(ctx, rec, start, err)
	}
	if err != nil {
		rec.Err = err.Error()
		if w.run.opts.Redact != nil {
			rec.Err = w.run.opts.Redact(rec.Err)
		}
	}
	w.refused = store.IsConnection(err)
	if !w.Silent {
		w.enqueue(rec, err)
	}
	return err
}

// attempts sends the request, and repeats it as often as --retries allows.
func (w *Worker) attempts(ctx context.Context, start time.Time, call func(context.Context, *Request) error) error {
	rec := &w.record
	traced, all := w.traces()
	var client clientTime
	for {
		host := w.Env.Client.Acquire()
		req := &w.request
		w.trace.Reset(start)
		if traced {
			w.phases = store.Phases{}
			w.trace.RecordPhases(&w.phases, all)
		}
		*req = Request{Host: host, Trace: &w.trace, Objects: 1}
		err := withTimeout(ctx, w.run.opts.RequestTimeout, req, call)
		w.Env.Client.Release(host, err)
		end := time.Now()
		rec.Duration = end.Sub(start)
		rec.ClientTime = client.after(rec.Duration, req.Trace, end)
		rec.Endpoint = host.Endpoint
		rec.Objects, rec.Bytes, rec.Check = req.Objects, req.Bytes, req.Check
		// Readers recognise downloads and uploads by which of the two is set.
		rec.FirstByte, rec.LastByte = 0, req.Trace.LastByte()
		if req.Receives {
			rec.FirstByte = req.Trace.FirstByte()
		}
		rec.Status = req.Trace.Status()
		if traced {
			rec.Phases = keepPhases(&w.phases)
		}
		rec.Requests += min(req.Trace.Requests(), math.MaxUint16-rec.Requests)
		if err == nil || int(rec.Retries) >= w.run.opts.Retries || !store.Repeatable(err) || req.Once {
			return err
		}
		paused := pause.For(ctx, backoff(int(rec.Retries)))
		client.paused += time.Since(end)
		if !paused || w.Env.lapsed(time.Now()) != nil {
			return err
		}
		rec.Retries++
	}
}

// A clientTime works out which part of a row's time was warp's.
type clientTime struct {
	wire, paused time.Duration // of the attempts, and between them
	unknown      bool
}

// after returns the client's part of a row that has taken d until now, with an attempt that has just ended; 0 = unknown.
func (c *clientTime) after(d time.Duration, tr *store.Trace, now time.Time) time.Duration {
	wire, ok := tr.WireTime(now)
	c.wire += wire
	c.unknown = c.unknown || !ok
	if c.unknown {
		return 0
	}
	return max(d-c.wire-c.paused, 1)
}

// withTimeout limits the time of the whole request.
func withTimeout(ctx context.Context, limit time.Duration, req *Request, call func(context.Context, *Request) error) error {
	if limit == 0 {
		return call(ctx, req)
	}
	short, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := call(short, req)
	if err != nil && ctx.Err() == nil && short.Err() != nil {
		return store.Errorf(store.CodeTimeout, int(req.Trace.Status()), "the request was not over after %s", human.Duration(limit))
	}
	return err
}

func backoff(attempt int) time.Duration {
	return min(10*time.Millisecond<<min(attempt, 10), time.Second)
}

func (w *Worker) enqueue(rec *oplog.Record, err error) {
	w.queue.Append(rec)
	w.run.countRequest(err)
	if w.queue.Full() {
		w.run.abort(errOverrun)
	}
}

var errOverrun = errors.New("the op log cannot keep up with the requests: write it to a faster disk with --benchdata, or use --stress")

// Abort ends the run early because of err.
func (w *Worker) Abort(err error) { w.run.abort(err) }

// Lanes returns n lanes of w: workers that send requests while w waits. In the log they have its thread number.
func (w *Worker) Lanes(n int) []*Worker {
	for len(w.lanes) < n {
		w.lanes = append(w.lanes, w.newLane())
	}
	for _, lane := range w.lanes {
		lane.Silent = w.Silent
	}
	return w.lanes[:n]
}

// A pick says how popular the object of a request is.
type pick uint8

const (
	notPicked pick = iota // all objects are alike
	pickedOther
	pickedHottest
)

// CountPick says that the object of the next request was chosen by popularity, and whether it is among the hottest 1 %.
func (w *Worker) CountPick(hottest bool) {
	w.pick = pickedOther
	if hottest {
		w.pick = pickedHottest
	}
}

// countPicked counts the choice of the object of a request, if the request belongs to the window.
func (w *Worker) countPicked(rec *oplog.Record) {
	if w.pick == notPicked {
		return
	}
	w.warm = w.warm || w.run.window.Begun(rec.Counted())
	if w.warm {
		w.picks.All++
		if w.pick == pickedHottest {
			w.picks.Hottest++
		}
	}
	w.pick = notPicked
}
