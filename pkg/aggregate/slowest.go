package aggregate

import (
	"cmp"
	"slices"
	"strings"

	"warp/pkg/oplog"
	"warp/pkg/results"
)

// maxSlowest limits how many of the slowest requests are kept.
const maxSlowest = 20

// slowest holds the slowest requests, slowest first.
type slowest []slowRequest

// A slowRequest is one of the slowest requests.
type slowRequest struct {
	Start, Duration int64
	Client          clientID
	Key, Host, Code string
	Thread          uint32
	Status          uint16
	Bytes           int64
}

// compare is a total order, so that the order of rows does not change which
// requests are kept.
func (a *slowRequest) compare(b *slowRequest) int {
	return cmp.Or(
		cmp.Compare(b.Duration, a.Duration), cmp.Compare(a.Start, b.Start),
		strings.Compare(a.Client.Run, b.Client.Run), strings.Compare(a.Client.ID, b.Client.ID), cmp.Compare(a.Thread, b.Thread),
		strings.Compare(a.Key, b.Key), strings.Compare(a.Host, b.Host), strings.Compare(a.Code, b.Code),
		cmp.Compare(a.Status, b.Status), cmp.Compare(a.Bytes, b.Bytes),
	)
}

// add counts a request of a client if it is slow enough.
func (s *slowest) add(c clientID, r *oplog.Record, start, end int64) {
	d := end - start
	if n := len(*s); n == maxSlowest && d < (*s)[n-1].Duration {
		return
	}
	one := slowRequest{
		Start: start, Duration: d, Client: c, Key: r.Key, Host: r.Endpoint, Code: r.Code(), Thread: r.Thread, Status: r.Status, Bytes: r.Bytes,
	}
	if i, ok := s.place(&one); ok {
		// Clone, so that the batch of the row can be freed.
		one.Key, one.Host, one.Code = strings.Clone(one.Key), strings.Clone(one.Host), strings.Clone(one.Code)
		*s = slices.Insert(*s, i, one)
	}
}

// place makes room for a request and returns its index, or false if it is not
// slow enough.
func (s *slowest) place(one *slowRequest) (int, bool) {
	i, _ := slices.BinarySearchFunc(*s, one, func(a slowRequest, b *slowRequest) int { return a.compare(b) })
	if i == maxSlowest {
		return 0, false
	}
	*s = (*s)[:min(len(*s), maxSlowest-1)]
	return i, true
}

func (s *slowest) merge(o slowest) {
	for k := range o {
		if i, ok := s.place(&o[k]); ok {
			*s = slices.Insert(*s, i, o[k])
		}
	}
}

// valid reports whether a decoded list can be merged.
func (s slowest) valid() bool {
	return len(s) <= maxSlowest && slices.IsSortedFunc(s, func(a, b slowRequest) int { return a.compare(&b) })
}

func (s slowest) report() []results.SlowRequest {
	list := make([]results.SlowRequest, len(s))
	for i := range s {
		r := &s[i]
		list[i] = results.SlowRequest{
			Start: utc(r.Start), DurationMS: float64(r.Duration) / 1e6, Key: r.Key, Host: r.Host, Client: r.Client.ID, Run: r.Client.Run,
			Thread: r.Thread, Bytes: r.Bytes, Status: r.Status, Error: r.Code,
		}
	}
	return list
}
