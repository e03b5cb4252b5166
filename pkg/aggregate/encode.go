package aggregate

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"warp/pkg/oplog"
	"warp/pkg/results"
)

// maxEncoded limits the inflated size of an encoded summary. A day on hundreds
// of hosts needs a fraction of it.
const maxEncoded = 64 << 20

// An encodedSummary is a Summary in transit from a client to its coordinator.
type encodedSummary struct {
	Window oplog.Window
	Groups []*group
	Runs   []string
}

// maxHostTimes limits the encoded size up to which request times are kept by
// segment and host. A coordinator limits the size it accepts.
const maxHostTimes = 12 << 20

// Encode encodes the summary for Decode on another machine. If the result would
// be too large, the times by segment are merged over all hosts.
func (s *Summary) Encode() ([]byte, error) { return s.encodeWithin(maxHostTimes) }

func (s *Summary) encodeWithin(limit int) ([]byte, error) {
	b, err := s.encode()
	if err != nil || len(b) <= limit {
		return b, err
	}
	for _, g := range s.groups {
		for _, op := range g.Ops {
			if op.In != nil {
				op.In.joinTimes()
			}
			for _, p := range op.Whole.Vals {
				p.joinTimes()
			}
		}
	}
	return s.encode()
}

func (s *Summary) encode() ([]byte, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if err := json.NewEncoder(w).Encode(encodedSummary{s.windows.Common, s.groups, sortedKeys(s.runs)}); err != nil {
		return nil, fmt.Errorf("encode the figures of the run: %w", err)
	}
	err = w.Close()
	return b.Bytes(), err
}

// errSummary reports data that Encode has not written.
var errSummary = errors.New("the figures of a client cannot be read")

// Decode reads a summary written by Encode, of a run with the given options.
func Decode(b []byte, o Options) (*Summary, error) {
	inflated := io.LimitReader(flate.NewReader(bytes.NewReader(b)), maxEncoded)
	var e encodedSummary
	if err := json.NewDecoder(inflated).Decode(&e); err != nil {
		return nil, fmt.Errorf("%w: %w", errSummary, err)
	}
	s := NewSummary(o)
	s.windows.Common = e.Window
	for _, run := range e.Runs {
		s.runs[run] = true
	}
	for _, g := range e.Groups {
		if g == nil || g.Kind < preparation || g.Kind > statement || !g.valid(&o) {
			return nil, errSummary
		}
		for _, c := range g.Clients {
			c.run = c.Client.runKey()
		}
		g.basis = results.Whole
		if g.Kind == measured {
			g.basis, g.window = results.Measured, e.Window
		}
		s.groups = append(s.groups, g)
	}
	return s, nil
}

// valid reports whether the group is safe to merge and report.
func (g *group) valid(o *Options) bool {
	for _, c := range g.Clients {
		if c == nil || !c.Threads.valid() {
			return false
		}
	}
	for _, op := range g.Ops {
		if op == nil || op.WarmUp.Kinds.invalid() || op.Late.Kinds.invalid() || !validKeys(&op.Totals.Hosts) || !validKeys(&op.Whole) || op.In != nil && !op.In.valid(o) ||
			slices.ContainsFunc(op.Whole.Vals, func(p *runPart) bool { return !p.valid(o) }) {
			return false
		}
	}
	return true
}

func (p *runPart) valid(o *Options) bool {
	return p.windowStats.valid(o) && validKeys(&p.Totals.Hosts) && validKeys(&p.Threads) &&
		!slices.ContainsFunc(p.Threads.Vals, func(t *threadSet) bool { return !t.valid() })
}

func validKeys[K comparable, V any](k *keyed[K, V]) bool {
	seen := map[K]bool{}
	for _, key := range k.Keys {
		seen[key] = true
	}
	return len(seen) == len(k.Vals) && len(k.Keys) == len(k.Vals) && !slices.Contains(k.Vals, nil)
}

func (p *windowStats) valid(o *Options) bool {
	return p.Asked == o.SegmentDur && validKeys(&p.Hosts) && validKeys(&p.Clients) && p.validSlices(o) &&
		(p.AllHosts == nil || p.AllHosts.Valid(p.newSeries())) && (p.Failed == nil || p.Failed.Valid(p.newSeries())) && p.sections.valid() &&
		!slices.ContainsFunc(p.Hosts.Vals, func(h *hostSummary) bool {
			return !h.Series.Valid(p.newSeries()) || h.Kinds.invalid()
		})
}

func (e *errorKinds) invalid() bool {
	for _, k := range e.ByCode {
		if k == nil {
			return true
		}
	}
	return len(e.ByCode) > maxKinds
}
