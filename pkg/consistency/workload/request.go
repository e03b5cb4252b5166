package workload

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"warp/internal/pause"
	"warp/pkg/bench"
	"warp/pkg/consistency"
	"warp/pkg/generator"
	"warp/pkg/oplog"
	"warp/pkg/store"
)

// A worker is a [bench.Worker] with what it knows about the objects of the properties.
type worker struct {
	*bench.Worker
	load   *Workload
	rand   *generator.Stream
	number uint64 // of tokens so far
	turn   int
	failed bool // a request of this step got no useful answer

	slot         uint64 // of the last creation
	raw          []rawKey
	guesses      map[int]uint64 // generations of other clients' keys
	own          uint64         // names of deleteIf used so far
	versions     []version      // of the property whole, by key
	wholeVersion []uint64
	upload       pendingUpload
	list         []listSlot
	numbers      uint64 // of objects in the worker's folder
}

// A version is one that a worker has written or read.
type version struct {
	token, store string
	blocks       int // of its body; 0 = unknown
}

func newWorker(l *Workload, w *bench.Worker) *worker {
	return &worker{
		Worker: w, load: l, rand: w.Rand, turn: w.ID, guesses: map[int]uint64{},
		raw: make([]rawKey, rawKeys), list: make([]listSlot, listSlots),
		versions: make([]version, wholeKeys*len(l.names)), wholeVersion: make([]uint64, wholeKeys),
	}
}

// pause waits, but not beyond the end of the run.
func (x *worker) pause(ctx context.Context, d time.Duration) { pause.For(ctx, min(d, slotLength)) }

// token returns the token of the worker's next write.
func (x *worker) token(version uint64) string {
	x.number++
	x.CountName()
	return consistency.Token{Client: x.load.client, Thread: x.ID, Number: x.number, Version: version}.String()
}

// An answer is what a request brought.
type answer struct {
	outcome  string
	received string // token of the body
	version  string // the store's name of the version, for conditions
	blocks   int    // of the whole body that was read
}

func (a *answer) won() bool { return a.outcome == consistency.Won }

// certain reports whether the outcome is certain.
func (a *answer) certain() bool {
	return a.won() || a.outcome == consistency.Lost || a.outcome == consistency.Absent
}

// A request is what all requests of a property have in common.
type request struct {
	op, property, key string
	condition         string // as the log has it
	sent              string
	sender            *bench.Worker // nil = the worker itself; or a lane
}

// isFalse reports whether the condition is known to be false.
func (q *request) isFalse() bool { return strings.HasPrefix(q.condition, consistency.False("")) }

// measure sends a request and records what it says. Outcomes that a workload expects are not errors.
func (x *worker) measure(ctx context.Context, q request, send func(ctx context.Context, r *bench.Request, a *answer) error) answer {
	var a answer
	sender := q.sender
	if sender == nil {
		sender = x.Worker
	}
	_ = sender.Measure(ctx, q.op, q.key, func(ctx context.Context, r *bench.Request) error {
		a = answer{}
		err := send(ctx, r, &a)
		a.outcome = x.load.outcome(&q, err, r.Trace)
		r.Check = &oplog.Check{Property: q.property, Outcome: a.outcome, Condition: q.condition, Sent: q.sent, Received: a.received}
		if a.certain() || a.outcome == consistency.Unsupported || a.outcome == consistency.Failed && q.isFalse() {
			return nil
		}
		return err
	})
	if q.sender == nil && !a.certain() && !q.isFalse() {
		x.failed = true
	}
	return a
}

// outcome returns the outcome of a request that returned err.
func (l *Workload) outcome(q *request, err error, tr *store.Trace) string {
	var e *store.Error
	notFound := errors.As(err, &e) && e.Status == 404 && e.Code != store.CodeNoBucket
	reads := q.op == consistency.Get || q.op == consistency.Stat
	switch outcome := l.contract.Outcome(err, tr); {
	case notFound && reads:
		return consistency.Absent
	case notFound && q.condition == consistency.False(consistency.Aborted):
		return consistency.Failed // as it should
	case notFound && q.op == consistency.Delete && q.condition == "":
		return consistency.Unknown // what repeats requests on the way may have deleted it before
	case notFound && q.condition != "" && q.op != consistency.Complete:
		return consistency.Lost
	case outcome == store.Won:
		return consistency.Won
	case outcome == store.Lost:
		return consistency.Lost
	case outcome == store.Refused:
		return consistency.Refused
	case outcome == store.NotSupported:
		return consistency.Unsupported
	case outcome == store.Failed:
		return consistency.Failed
	}
	return consistency.Unknown
}

func (x *worker) ref(key string) store.Ref { return store.Ref{Bucket: x.load.bucket, Key: key} }

const contentType = "application/octet-stream"

// put uploads a body of that many blocks.
func (x *worker) put(ctx context.Context, q request, blocks int, condition store.Condition) answer {
	q.op = consistency.Put
	body := consistency.AppendBody(nil, q.key, q.sent, blocks)
	return x.measure(ctx, q, func(ctx context.Context, r *bench.Request, a *answer) error {
		r.Bytes = int64(len(body))
		o, err := r.Put(ctx, store.Put{
			Ref: x.ref(q.key), Body: bytes.NewReader(body), Size: int64(len(body)), ContentType: contentType, Whole: true, If: condition,
		}, r.Trace)
		a.version = o.Token()
		return err
	})
}

// get downloads a body.
func (x *worker) get(ctx context.Context, q request) answer {
	return x.getBlocks(ctx, q, 0, 0, store.Condition{})
}

// getBlocks downloads blocks of a body, 0 blocks = all, if the condition holds.
func (x *worker) getBlocks(ctx context.Context, q request, from, blocks int, condition store.Condition) answer {
	q.op = consistency.Get
	var body consistency.Body
	return x.measure(ctx, q, func(ctx context.Context, r *bench.Request, a *answer) error {
		r.Receives = true
		body.Reset(q.key, from, blocks)
		d, err := r.Get(ctx, store.Get{
			Ref: x.ref(q.key), Offset: int64(from) * consistency.BlockSize, Length: int64(blocks) * consistency.BlockSize, Into: &body, If: condition,
		}, r.Trace)
		r.Bytes = d.Bytes
		if err == nil {
			a.received, a.version, a.blocks = body.Finish(), d.Token(), body.Blocks()
		}
		return err
	})
}

// stat asks for an object. received is the token of the version that the store names, if known has it. A store that gives two
// versions the same name says nothing about which of them is there.
func (x *worker) stat(ctx context.Context, q request, known ...version) answer {
	q.op = consistency.Stat
	return x.measure(ctx, q, func(ctx context.Context, r *bench.Request, a *answer) error {
		o, err := r.Stat(ctx, x.ref(q.key), r.Trace)
		a.version = o.Token()
		if err == nil {
			a.received = tokenOf(o.Token(), known)
		}
		return err
	})
}

// tokenOf returns the token of the only known version that the store names so; "" = there is none, or several.
func tokenOf(name string, known []version) (token string) {
	for _, v := range known {
		switch {
		case name == "" || v.store != name:
		case token != "":
			return ""
		default:
			token = v.token
		}
	}
	return token
}

// delete deletes an object, if the condition holds.
func (x *worker) delete(ctx context.Context, q request, condition store.Condition) answer {
	q.op = consistency.Delete
	return x.measure(ctx, q, func(ctx context.Context, r *bench.Request, _ *answer) error {
		if condition.Given() {
			return r.DeleteIf(ctx, x.ref(q.key), condition, r.Trace)
		}
		return r.Delete(ctx, []store.Ref{x.ref(q.key)}, r.Trace)
	})
}
