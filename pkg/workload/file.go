package workload

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Limits of profiles from files.
const (
	maxFile      = 16 << 20
	maxBuckets   = 1 << 14
	maxIntervals = 1 << 12
	maxStatuses  = 1000
	maxCaches    = 1000
	maxNotes     = 100
	maxExponent  = 20
	maxDuration  = 200 * 365 * 24 * 3600 // seconds
	maxSize      = 1 << 60
)

// Write writes the profile as JSON.
func (p *Profile) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(p)
}

// errNoProfile is the error of another file, such as a log.
var errNoProfile = errors.New("this is not a profile of a workload; warp workload LOG -o FILE writes one")

// firstByte returns the first byte that is not a space, without consuming it.
func firstByte(text *bufio.Reader) (byte, error) {
	for {
		b, err := text.ReadByte()
		if err != nil {
			return 0, err
		}
		if !slices.Contains([]byte(" \t\r\n"), b) {
			return b, text.UnreadByte()
		}
	}
}

// Read reads a profile that Write has written, and checks it.
func Read(r io.Reader) (*Profile, error) {
	limited := &io.LimitedReader{R: r, N: maxFile + 1}
	text := bufio.NewReader(limited)
	if first, err := firstByte(text); err == nil && first != '{' {
		return nil, errNoProfile
	}
	d := json.NewDecoder(text)
	var raw json.RawMessage
	err := d.Decode(&raw)
	switch {
	case limited.N <= 0:
		return nil, fmt.Errorf("the profile is larger than %d MiB", maxFile>>20)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("the profile is cut off")
	case err != nil:
		return nil, fmt.Errorf("this is not a profile of a workload, or a damaged one: %w", err)
	}
	var head struct {
		Version int    `json:"version"`
		Kind    string `json:"kind"`
	}
	err = json.Unmarshal(raw, &head)
	switch {
	case err != nil || head.Kind != Kind:
		return nil, errNoProfile
	case d.More():
		return nil, errors.New("there is more after the profile; save each in a file of its own")
	case head.Version != Version:
		return nil, fmt.Errorf("the profile has version %d, and this warp knows version %d: use the warp that wrote it, or write it again from the log", head.Version, Version)
	}
	p := &Profile{}
	if err := json.Unmarshal(raw, p); err != nil {
		return nil, fmt.Errorf("the profile is damaged: %w", err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("the profile is damaged: %w", err)
	}
	return p, nil
}

// check returns an error for values that no Collector makes.
func (p *Profile) check() error {
	if len(p.Notes) > maxNotes || len(p.Formats) > maxNotes {
		return errors.New("it has too many notes or formats")
	}
	if err := inRange("duration_s", p.DurationS, maxDuration); err != nil {
		return err
	}
	if err := p.checkOperations(); err != nil {
		return err
	}
	if r := p.Ranges; r != nil {
		if err := errors.Join(inRange("ranges.share", r.Share, 1), r.Sizes.check("ranges.sizes", r.Requests), r.Objects.check("ranges.objects", r.Requests)); err != nil {
			return err
		}
	}
	if q := p.Popularity; q != nil {
		if err := q.check(); err != nil {
			return err
		}
	}
	if r := p.Reuse; r != nil {
		if err := r.check(); err != nil {
			return err
		}
	}
	return p.Arrivals.check(p.Requests)
}

func (p *Profile) checkOperations() error {
	var requests, failed uint64
	seen := make(map[Op]bool)
	for i := range p.Operations {
		o := &p.Operations[i]
		if !o.Op.Known() || seen[o.Op] {
			return fmt.Errorf("operations: %q is unknown or occurs twice", o.Op)
		}
		seen[o.Op] = true
		if o.Requests == 0 || o.Errors > o.Requests || o.Requests > math.MaxUint64-requests {
			return fmt.Errorf("%s: %d of %d requests failed", o.Op, o.Errors, o.Requests)
		}
		requests, failed = requests+o.Requests, failed+o.Errors
		if err := errors.Join(inRange(string(o.Op)+": share", o.Share, 1), o.Sizes.check(string(o.Op)+": sizes", o.Requests-o.Errors)); err != nil {
			return err
		}
		if err := checkStatuses(o.Statuses, o.Errors); err != nil {
			return fmt.Errorf("%s: %w", o.Op, err)
		}
	}
	if requests != p.Requests || failed != p.Errors {
		return fmt.Errorf("operations: they add up to %d requests and %d errors, but the profile has %d and %d", requests, failed, p.Requests, p.Errors)
	}
	return nil
}

func checkStatuses(all []Status, failed uint64) error {
	var n uint64
	for _, s := range all {
		if s.Status < 0 || s.Status > 999 || s.Requests == 0 || s.Requests > failed-n {
			return errors.New("errors_by_status: a status is impossible, or they count more requests than failed")
		}
		n += s.Requests
	}
	if len(all) > maxStatuses || n != failed {
		return errors.New("errors_by_status: they do not add up to the errors")
	}
	return nil
}

// check returns an error for buckets that are not in order, or count more than limit requests.
func (s Sizes) check(name string, limit uint64) error {
	if len(s) > maxBuckets {
		return fmt.Errorf("%s: more than %d buckets", name, maxBuckets)
	}
	above := int64(-1)
	for _, b := range s {
		if b.Min <= above || b.Max < b.Min || b.Max > maxSize {
			return fmt.Errorf("%s: the bucket from %d to %d is not above the one before, or impossible", name, b.Min, b.Max)
		}
		if b.Requests == 0 || b.Requests > limit {
			return fmt.Errorf("%s: the bucket from %d to %d has no requests, or more than there are", name, b.Min, b.Max)
		}
		above = b.Max
		limit -= b.Requests
	}
	return nil
}

func (q *Popularity) check() error {
	if q.Requests == 0 || q.Keys == 0 {
		return errors.New("popularity: there are no requests, or no keys")
	}
	if q.Exponent != nil {
		if err := inRange("popularity.exponent", *q.Exponent, maxExponent); err != nil {
			return err
		}
		if q.Objects == 0 {
			return errors.New("popularity: there are no objects to choose from")
		}
	}
	return errors.Join(inRange("popularity.exponent_error", q.ExponentError, math.MaxFloat64), inRange("popularity.hottest", q.Hottest, 1),
		inRange("popularity.hottest_error", q.HottestError, math.MaxFloat64), inRange("popularity.sampled", q.Sampled, 1))
}

func (a *Arrivals) check(requests uint64) error {
	if len(a.Requests) > maxIntervals {
		return fmt.Errorf("arrivals: more than %d intervals", maxIntervals)
	}
	if err := errors.Join(inRange("arrivals.resolution_s", a.ResolutionS, maxDuration), inRange("arrivals.interval_s", a.IntervalS, maxDuration)); err != nil {
		return err
	}
	var n uint64
	for _, k := range a.Requests {
		if k > requests-n {
			return errors.New("arrivals: the intervals have more requests than there are")
		}
		n += k
	}
	if n != requests || requests > 0 && a.IntervalS == 0 {
		return errors.New("arrivals: the intervals do not add up to all requests, or have no length")
	}
	if !slices.Contains([]Gaps{EvenGaps, PoissonGaps, BurstyGaps, UnknownGaps}, a.Gaps) || len(a.Dispersion) > 10 {
		return fmt.Errorf("arrivals: gaps are %q, and there are %d indexes of dispersion", a.Gaps, len(a.Dispersion))
	}
	for _, d := range a.Dispersion {
		if err := errors.Join(inRange("dispersion.interval_s", d.IntervalS, maxDuration), inRange("dispersion.index", d.Index, math.MaxFloat64)); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reuse) check() error {
	if r.FirstRequests > r.Requests || r.FirstBytes > r.Bytes || len(r.Caches) > maxCaches {
		return errors.New("reuse: more first downloads than downloads, or too many caches")
	}
	size := int64(0)
	for _, c := range r.Caches {
		if c.Size <= size {
			return errors.New("reuse: the caches are not in ascending order")
		}
		size = c.Size
		if err := errors.Join(inRange("reuse.requests", c.Requests, 1), inRange("reuse.bytes", c.Bytes, 1),
			inRange("reuse.requests_error", c.RequestsError, math.MaxFloat64), inRange("reuse.bytes_error", c.BytesError, math.MaxFloat64)); err != nil {
			return err
		}
	}
	return inRange("reuse.sampled", r.Sampled, 1)
}

// inRange returns an error for a number that is not between 0 and the limit.
func inRange(name string, x, limit float64) error {
	if !(x >= 0 && x <= limit) {
		return fmt.Errorf("%s is %v, which is not between 0 and %v", name, x, limit)
	}
	return nil
}
