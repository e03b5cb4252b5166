// Package workload has the requests of warp consistency: a small workload for each property of package consistency, all
// side by side. No request is ever repeated, and each says in the log what it checks.
package workload

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"warp/pkg/bench"
	"warp/pkg/consistency"
	"warp/pkg/generator"
	"warp/pkg/store"
)

// A Workload checks properties. It is a [bench.Op].
type Workload struct {
	Properties  []string
	WholeBlocks int // size of the objects of the property whole in blocks, without parts of the min size

	contract *store.Contract
	names    []*generator.Names // of each client of the fleet
	client   int                // number of this one
	bucket   string
	off      map[string]bool // properties that the store does not know, or whose conditions it ignores
	noParts  atomic.Bool     // the store has no uploads in parts
	turns    []func(*worker, context.Context)
	workers  []*worker
	written  []atomic.Uint64 // generations of this client's keys of read-after-write
}

// Sizes and numbers of the workloads.
const (
	DefaultWholeBlocks = 16
	smallBlocks        = 1
	registers          = 2  // counters that all workers increase
	rawKeys            = 2  // of each worker, of read-after-write
	wholeKeys          = 4  // of each client
	severalParts       = 32 // every so many versions of such a key, one is uploaded in two parts
	soonParts          = 4  // versions up to this one are, too, for short runs
	minPartBlocks      = 5 << 20 / consistency.BlockSize
	listSlots          = 16
	listStill          = 6 // of these, that nobody touches
	listPage           = 5

	// slotLength is how long workers create the same object. Slots are by the clock, so that the machines of a fleet
	// race without talking to each other.
	slotLength = 50 * time.Millisecond
)

// Prepare tries what the store knows, and writes what all clients need.
func (l *Workload) Prepare(ctx context.Context, e *bench.Env) error {
	l.contract, l.bucket, l.client = e.Client.Contract(), e.Bucket, e.Number
	l.off = map[string]bool{}
	for i := range max(1, e.Clients) {
		l.names = append(l.names, e.NamesOf(i))
	}
	l.written = make([]atomic.Uint64, e.Concurrency*rawKeys)
	for _, w := range e.Workers {
		l.workers = append(l.workers, newWorker(l, w))
	}
	first := l.workers[0]
	for _, property := range l.Properties {
		if err := first.try(ctx, property); err != nil {
			return err
		}
	}
	l.makeTurns()
	if l.client == 0 && l.checks(consistency.Register) {
		return first.makeRegisters(ctx)
	}
	return ctx.Err()
}

// checks reports whether a property is checked under load.
func (l *Workload) checks(property string) bool {
	return slices.Contains(l.Properties, property) && !l.off[property]
}

// makeTurns makes the list of steps that each worker goes through.
func (l *Workload) makeTurns() {
	for _, t := range []struct {
		property string
		times    int
		step     func(*worker, context.Context)
	}{
		{consistency.ReadAfterWrite, 6, (*worker).readAfterWrite},
		{consistency.Register, 3, (*worker).register},
		{consistency.Whole, 2, (*worker).whole},
		{consistency.ListAfterWrite, 2, (*worker).listAfterWrite},
		{consistency.CompleteIf, 1, (*worker).complete},
		{consistency.DeleteIf, 1, (*worker).deleteIf},
	} {
		for range t.times {
			if l.checks(t.property) {
				l.turns = append(l.turns, t.step)
			}
		}
	}
}

// Do performs the next step of a worker. At the start of a slot that is the creation of its object.
func (l *Workload) Do(ctx context.Context, w *bench.Worker) error {
	x := l.workers[w.ID]
	x.failed = false
	slot := currentSlot()
	switch {
	case l.checks(consistency.Create) && slot > x.slot:
		x.create(ctx, slot)
	case len(l.turns) > 0:
		x.turn++
		l.turns[x.turn%len(l.turns)](x, ctx)
	case l.checks(consistency.Create):
		x.pause(ctx, time.Until(time.Unix(0, int64(slot+1)*int64(slotLength))))
	default:
		return bench.Done("the store knows none of the conditions")
	}
	if x.failed {
		x.pause(ctx, failurePause) // a store that refuses everything gets no storm
	}
	return nil
}

// currentSlot returns the number of the slot that it is now.
func currentSlot() uint64 { return uint64(time.Now().UnixNano() / int64(slotLength)) }

// failurePause follows a step in which a request got no useful answer.
const failurePause = 5 * time.Millisecond

// Areas of names. Each property has its own, so that no key belongs to two.
const areaSize = 1 << 17

// key returns the name of an object of a property, in a numbered folder of a client.
func (l *Workload) key(client int, property string, folder int, n uint64) string {
	return l.names[client].Key(thread(property, folder), n)
}

// folder returns the prefix of the names of a folder.
func (l *Workload) folder(client int, property string, folder int) string {
	return string(l.names[client].AppendThreadPrefix(nil, thread(property, folder)))
}

// thread returns the number of a folder among the threads that the names distinguish, above the threads of workers.
func thread(property string, folder int) uint32 {
	return uint32(areaSize*(1+slices.Index(consistency.Properties(), property)) + folder)
}

// triesFolder is the folder of the objects with which conditions are tried.
const triesFolder = areaSize - 1

// Check returns an error for properties that do not exist.
func (l *Workload) Check() error {
	for _, p := range l.Properties {
		if !slices.Contains(consistency.Properties(), p) {
			return fmt.Errorf("there is no property %q", p)
		}
	}
	return nil
}
