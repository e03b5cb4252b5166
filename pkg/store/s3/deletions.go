package s3

import (
	"warp/pkg/store"
)

// Deleted reports whether the status of the answer to a DELETE is a success.
func Deleted(status int) bool { return status == 204 || status == 200 || status == 202 }

// Deletions collects the results of a batch of deletions.
type Deletions struct {
	Refs     []store.Ref
	good     int
	left     map[string]int // unconfirmed names; nil while they come in order
	bad      int
	firstBad *store.Error
}

// Confirm counts an object that the store reports as deleted. Most stores answer in the order of
// the request, so no map is needed.
func (d *Deletions) Confirm(key []byte, status int) error {
	if d.left == nil {
		if d.bad == 0 && d.good < len(d.Refs) && d.Refs[d.good].Key == string(key) {
			d.good++
			return nil
		}
		d.left = make(map[string]int, len(d.Refs))
		for _, r := range d.Refs[d.good:] {
			d.left[r.Key]++
		}
	}
	if d.left[string(key)] == 0 {
		return store.BadAnswer(status, "the store confirms a deletion that it was not asked for: %.60q", key)
	}
	d.left[string(key)]--
	d.good++
	return nil
}

func (d *Deletions) Fail(err *store.Error) {
	if d.bad++; d.firstBad == nil {
		d.firstBad = err
	}
}

// Err returns the error of the whole batch.
func (d *Deletions) Err(tr *store.Trace) error {
	switch {
	case d.firstBad != nil && d.bad == len(d.Refs):
		return d.firstBad
	case d.firstBad != nil:
		e := d.firstBad
		return store.Errorf(e.Code, e.Status, "%d of %d objects not deleted; first: %s", d.bad, len(d.Refs), e.Message)
	case d.good != len(d.Refs):
		return store.BadAnswer(int(tr.Status()), "the store confirmed %d of %d deletions", d.good, len(d.Refs))
	}
	return nil
}
