package s3

import (
	"net/http"

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

// Fail counts an object that the store has not deleted.
func (d *Deletions) Fail(err *store.Error) {
	if d.bad++; d.firstBad != nil {
		return
	}
	if status := entryStatus(err.Code); status > 0 && err.Status < 300 {
		err.Status = status // the error is an entry of an answer that is a success
	}
	d.firstBad = err
}

// entryStatus returns the status that the code of an entry has in an answer of its own, as it says
// whether a repetition can help. It returns 0 for other codes.
func entryStatus(code string) int {
	switch code {
	case "InternalError":
		return http.StatusInternalServerError
	case "SlowDown", "ServiceUnavailable", "OperationAborted", "RequestTimeout":
		return http.StatusServiceUnavailable
	case "AccessDenied", "AllAccessDisabled":
		return http.StatusForbidden
	case "NoSuchKey", "NoSuchVersion", "NoSuchBucket":
		return http.StatusNotFound
	case "MethodNotAllowed":
		return http.StatusMethodNotAllowed
	case "NotImplemented":
		return http.StatusNotImplemented
	}
	return 0
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
