package bench

import (
	"fmt"
	"sync"

	"warp/internal/human"
)

// A budget limits how much a run writes. Workers claim an object before they upload
// it, so that together they never send one too many. If an upload fails, its claim is
// returned and another object can use it.
type budget struct {
	objects, bytes int64 // limits; 0 = none

	mu             sync.Mutex
	claimed, wrote amount
}

type amount struct{ objects, bytes int64 }

// reaches reports whether a uses up the budget. The last object may
// exceed the limit in bytes: the run ends with the one that reaches it.
func (b *budget) reaches(a amount) bool {
	return b.objects > 0 && a.objects >= b.objects || b.bytes > 0 && a.bytes >= b.bytes
}

// claim returns how many of n objects of the given size may be written. Unless that
// is 0, resolve must follow.
func (b *budget) claim(n int, size int64) (granted int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for granted < n && !b.reaches(b.claimed) {
		b.claimed.objects++
		b.claimed.bytes += size
		granted++
	}
	return granted
}

// resolve ends a claim and reports whether the budget is used up for good.
func (b *budget) resolve(n int, size int64, written bool) (done bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if written {
		b.wrote.objects += int64(n)
		b.wrote.bytes += int64(n) * size
	} else {
		b.claimed.objects -= int64(n)
		b.claimed.bytes -= int64(n) * size
	}
	return b.reaches(b.wrote)
}

// spent reports whether nothing can be claimed at this moment.
func (b *budget) spent() bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reaches(b.claimed)
}

// reason says why the budget ended the run; "" means that it did not.
func (b *budget) reason() string {
	if b == nil {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.objects > 0 && b.wrote.objects >= b.objects:
		if b.objects == 1 {
			return "the one object of --max-objects was written"
		}
		return fmt.Sprintf("all %d objects of --max-objects were written", b.objects)
	case b.reaches(b.wrote):
		return human.Count(b.wrote.bytes, "byte was", "bytes were") + " written, and --total-size is reached"
	}
	return ""
}

// written describes what was written.
func (b *budget) written() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return human.Plural(b.wrote.objects, "object") + " and " + human.Plural(b.wrote.bytes, "byte") + " written"
}

// spend calls do to write n objects of the given size, or as many as the budget
// still allows. It returns ErrDone if the budget allows none. Writes of the
// preparation do not count.
func (w *Worker) Spend(n int, size int64, do func(n int) error) error {
	b := w.run.budget
	if b == nil {
		return do(n)
	}
	if n = b.claim(n, size); n == 0 {
		return ErrDone
	}
	err := do(n)
	if b.resolve(n, size, err == nil) {
		w.run.stopPacing() // workers that wait for an arrival can end now
	}
	return err
}
