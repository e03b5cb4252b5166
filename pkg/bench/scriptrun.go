package bench

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"warp/pkg/bench/pacing"
	"warp/pkg/bench/verify"
	"warp/pkg/generator"
	"warp/pkg/store"
)

// A scriptRun is one statement while it is executed.
type scriptRun struct {
	script  *Script
	step    *ScriptStep
	number  int
	max     int   // workers
	total   int64 // requests; 0 = until the time is over
	objects *scriptObjects
	targets []*scriptObject // of GET and DELETE
	names   *generator.Names

	part    *run
	began   time.Time
	begun   atomic.Int64 // requests that have begun
	peak    Peak
	waiting atomic.Int64 // workers that wait for an arrival
	unclear atomic.Bool  // an upload failed, but may have been stored
	missed  int64

	mu      sync.Mutex
	started int // workers
	wg      sync.WaitGroup
}

// statement prepares a statement. It completes a REUSE.
func (s *Script) statement(step *ScriptStep, number int) (*scriptRun, error) {
	t := &scriptRun{script: s, step: step, number: number, total: int64(step.Objects), objects: s.contexts[step.Context]}
	if t.objects == nil {
		t.objects = &scriptObjects{known: make(map[string]*scriptObject)}
		s.contexts[step.Context] = t.objects
	}
	if step.Runtime > 0 && step.Op != "DELETE" {
		t.total = 0 // the objects are used repeatedly until the time is over
	}
	switch step.Op {
	case "", "PUT":
		t.names = scriptNames(step.Seed, step.Random)
		if step.Op == "" {
			t.reuse()
		}
	case "GET":
		t.targets = t.objects.first(step.Objects, true)
		if len(t.targets) == 0 {
			return nil, fmt.Errorf("line %d, column %d: GET: nothing is in context %q: no upload succeeded, or everything was deleted", step.Line, step.Column, step.Context)
		}
	case "DELETE":
		t.targets = t.objects.first(step.Objects, false)
		t.total = int64(len(t.targets))
	}
	t.max = t.workersFor()
	return t, nil
}

// workersFor returns how many requests the statement may send at a time.
func (t *scriptRun) workersFor() int {
	limit := t.step.Max
	switch {
	case limit > 0:
	case t.step.Rate > 0:
		limit = t.script.maxPaced()
	default:
		limit = maxUnpaced
	}
	if t.total > 0 {
		limit = int(min(int64(limit), t.total))
	}
	return limit
}

// reuse adds the objects that another script has uploaded.
func (t *scriptRun) reuse() {
	for i := range int64(t.step.Objects) {
		t.objects.put(t.order(i), store.Object{Ref: t.ref(i), Size: verify.AnyLength})
	}
}

// ref names object i of the statement.
func (t *scriptRun) ref(i int64) store.Ref {
	return store.Ref{Bucket: t.script.Options.Bucket, Key: t.names.Key(0, uint64(i))}
}

// order returns the sort key of an object in its context. It follows the script,
// whichever request was fastest.
func (t *scriptRun) order(i int64) uint64 { return uint64(t.number)<<48 | uint64(i) }

// execute sends the requests of the statement and waits for all of them.
func (t *scriptRun) execute(part *run) error {
	t.part = part
	if t.step.Op == "DELETE" && t.total == 0 {
		return nil // nothing is left to delete
	}
	t.began = time.Now()
	if t.step.Runtime > 0 {
		part.deadline = t.began.Add(t.step.Warmup + t.step.Runtime)
	}
	if t.step.Rate > 0 {
		if err := t.pace(); err != nil {
			return err
		}
		defer part.pacer.Close()
	}
	defer part.measuring()()
	first := t.max
	if part.pacer != nil {
		first = 1 // others start when they are needed
	}
	for range first {
		t.start()
	}
	t.wg.Wait()
	if part.pacer != nil {
		t.missed = part.pacer.Unsent(t.began, time.Now()).Count
	}
	return nil
}

func (t *scriptRun) pace() (err error) {
	schedule := pacing.Constant(t.step.Rate)
	if t.step.Warmup > 0 {
		schedule.Stages = []pacing.Stage{{Length: t.step.Warmup, To: t.step.Rate}}
	}
	p, err := pacing.New(schedule, t.began, t.part.deadline)
	if err == nil {
		p.Max, p.Lag = t.total, &t.part.meter.Lag
		warm := t.began.Add(t.step.Warmup)
		p.Measured = func(due time.Time) bool { return !due.Before(warm) }
		t.part.pacer = p
	}
	return err
}

// start starts one more worker, unless there are enough.
func (t *scriptRun) start() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.started >= t.max {
		return
	}
	w := t.script.worker(t.started)
	w.run = t.part
	t.started++
	t.wg.Go(func() { t.work(w) })
}

// work sends one request after the other.
func (t *scriptRun) work(w *Worker) {
	for !t.part.stopped() {
		if !t.mayStart(w) {
			t.part.startDrain()
			return
		}
		number := t.begun.Add(1) - 1
		if t.total > 0 && number >= t.total {
			t.part.startDrain()
			return
		}
		warmup := t.step.Warmup > 0 && w.due.Before(t.began.Add(t.step.Warmup))
		w.statement = statementOf(t.number, warmup)
		t.peak.begin(warmup)
		t.request(w, number)
		t.peak.end()
		t.part.backOff(w)
	}
}

// mayStart waits until a request is due, and reports whether one is left.
func (t *scriptRun) mayStart(w *Worker) bool {
	if t.part.pacer == nil {
		return t.part.mayStart(w)
	}
	t.waiting.Add(1)
	ok := t.part.mayStart(w)
	if t.waiting.Add(-1) == 0 && ok {
		t.start() // for the next arrival
	}
	return ok
}

// request sends the request of that number in the statement.
func (t *scriptRun) request(w *Worker, number int64) {
	switch t.step.Op {
	case "PUT":
		t.put(w, number)
	case "GET":
		t.get(w, number)
	case "DELETE":
		obj := t.targets[number]
		if err := w.Delete(t.part.requests, []store.Ref{obj.Ref}); err == nil {
			t.objects.remove(obj)
		}
	}
}

func (t *scriptRun) put(w *Worker, number int64) {
	if n := int64(t.step.Objects); n > 0 {
		number %= n
	}
	ref := t.ref(number)
	obj, err := w.Put(t.part.requests, ref.Key, t.step.Size)
	if err == nil {
		obj.Ref, obj.Size = ref, t.step.Size
		t.objects.put(t.order(number), obj)
		return
	}
	var refused *store.Error
	if t.part.requests.Err() == nil && errors.As(err, &refused) && refused.Status >= 300 && refused.Status < 500 {
		return // the store has refused it
	}
	t.unclear.Store(true)
	t.objects.unsure(t.order(number), ref)
}

// get downloads one of the objects: the next one if the statement has a number of
// objects, and otherwise a random one.
func (t *scriptRun) get(w *Worker, number int64) {
	n := int64(len(t.targets))
	i := number % n
	if t.step.Objects == 0 {
		i = w.Rand.Int64N(n)
	}
	obj := &t.targets[i].Object
	_ = w.DownloadLength(t.part.requests, obj, store.Get{Ref: obj.Ref}, obj.Size)
}

// scriptObjects are the objects of a context.
type scriptObjects struct {
	mu    sync.Mutex
	known map[string]*scriptObject // by name
}

type scriptObject struct {
	store.Object
	order  uint64
	unsure bool // it may not exist
}

// put adds an object that exists.
func (c *scriptObjects) put(order uint64, obj store.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.known[obj.Key]; old != nil && old.order == order && old.ETag != obj.ETag {
		// Of two uploads of one name in one statement, only the store knows which was last.
		obj.ETag = ""
	}
	obj.VersionID = "" // the current version is meant
	c.known[obj.Key] = &scriptObject{Object: obj, order: order}
}

// unsure adds an object that may exist, or may have been replaced.
func (c *scriptObjects) unsure(order uint64, ref store.Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.known[ref.Key]; old != nil && !old.unsure {
		c.known[ref.Key] = &scriptObject{Object: store.Object{Ref: ref, Size: verify.AnyLength}, order: old.order}
		return
	}
	c.known[ref.Key] = &scriptObject{Object: store.Object{Ref: ref, Size: verify.AnyLength}, order: order, unsure: true}
}

func (c *scriptObjects) remove(obj *scriptObject) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, obj.Key)
}

// first returns the first n objects, all of them if n is 0.
func (c *scriptObjects) first(n int, certain bool) []*scriptObject {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*scriptObject, 0, len(c.known))
	for _, obj := range c.known {
		if !certain || !obj.unsure {
			all = append(all, obj)
		}
	}
	slices.SortFunc(all, func(a, b *scriptObject) int { return cmp.Compare(a.order, b.order) })
	if n > 0 && n < len(all) {
		all = all[:n]
	}
	return all
}
