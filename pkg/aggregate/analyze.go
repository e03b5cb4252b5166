package aggregate

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"warp/pkg/oplog"
	"warp/pkg/results"
)

// A Log is an op log that can be read repeatedly.
type Log interface {
	// Header returns the header, which precedes the first row.
	Header() oplog.Header
	// Read calls rows with all rows, in batches that are valid only during the
	// call. It calls decided, with all marks so far, whenever more of the
	// window becomes known or a mark was set. It returns the first error of its
	// own or of rows.
	Read(decided func(oplog.Window, []oplog.Mark) error, rows func([]oplog.Record) error) (oplog.Trailer, error)
}

// Analyze makes the report of a log. It reads a log with windows once, and
// others twice: first to derive the windows, then to count. It reads the log
// once more if the options ask for a cache.
func Analyze(log Log, o Options) (*results.Report, error) {
	r, err := reportOf(log, o)
	if err == nil && o.Cache > 0 {
		err = o.addCache(log, r)
	}
	return r, err
}

func reportOf(log Log, o Options) (*results.Report, error) {
	h := log.Header()
	s := NewSummary(o)
	s.merged = mergedRuns(h.Merged)
	merged, ok := mergedWindows(h.Merged)
	if len(h.Merged) > 0 && ok {
		s.windows = merged
	}
	ok = ok && (h.Windowed || len(h.Merged) > 0)
	if ok {
		decided := s.decide
		if len(h.Merged) > 0 {
			decided = s.takeMarks
		}
		t, err := o.read(log, decided, s.Write)
		if err != nil {
			return nil, err
		}
		if s.close(t) {
			return s.describe(h, t)
		}
	}
	return analyzeTwice(log, o, s.windows)
}

// close ends a pass. It returns false if the run was killed before the end of
// its window was known.
func (s *Summary) close(t oplog.Trailer) bool {
	s.Close(t)
	return s.windows.Common.Start == 0 || s.windows.Common.End != 0
}

// analyzeTwice analyses a log that does not record the end of its window.
func analyzeTwice(log Log, o Options, known runWindows) (*results.Report, error) {
	h := log.Header()
	first := &survey{after: math.MinInt64}
	killed := known.Common.Start != 0 && known.starts == nil
	if killed {
		first.after = known.Common.Start
	}
	if _, err := o.read(log, ignoreDecisions, first.write); err != nil {
		return nil, err
	}
	s := NewSummary(o)
	s.merged = mergedRuns(h.Merged)
	if killed {
		s.windows.Common, s.windows.Basis = known.Common, results.Derived
		if all := windowsOf(first.ops); len(all) > 0 {
			common := intersect(all)
			s.windows.Common.End = common.End
			if known.Common.Begin == 0 {
				s.windows.Common.Begin = common.Begin
			}
		}
	} else {
		s.windows.Basis, s.windows.ops = results.Derived, first.groups()
	}
	t, err := o.read(log, s.takeMarks, s.Write)
	if err != nil {
		return nil, err
	}
	t.Window = nil
	s.Close(t)
	return s.describe(h, t)
}

func ignoreDecisions(oplog.Window, []oplog.Mark) error { return nil }

// describe makes the report and adds the log's metadata.
func (s *Summary) describe(h oplog.Header, t oplog.Trailer) (*results.Report, error) {
	r, err := s.Report()
	if err == nil {
		r.Describe(h, t)
	}
	return r, err
}

// errStop ends a pass early.
var errStop = errors.New("enough rows")

// read applies Offset and Limit.
func (o *Options) read(log Log, decided func(oplog.Window, []oplog.Mark) error, rows func([]oplog.Record) error) (oplog.Trailer, error) {
	if o.Offset <= 0 && o.Limit <= 0 {
		return log.Read(decided, rows)
	}
	skip, left := max(o.Offset, 0), o.Limit
	t, err := log.Read(decided, func(batch []oplog.Record) error {
		n := min(skip, int64(len(batch)))
		skip -= n
		batch = batch[n:]
		if o.Limit > 0 {
			batch = batch[:min(left, int64(len(batch)))]
			left -= int64(len(batch))
		}
		if len(batch) > 0 {
			if err := rows(batch); err != nil {
				return err
			}
		}
		if o.Limit > 0 && left == 0 {
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return t, err
}

// matchOp finds the requested operation among the operations in the log.
func (s *Summary) matchOp() (string, error) {
	asked := s.options.Op
	if asked == "" {
		return "", nil
	}
	names := map[string]bool{}
	for _, g := range s.groups {
		for _, op := range g.Ops {
			if strings.EqualFold(op.ID.Name, asked) {
				return op.ID.Name, nil
			}
			names[op.ID.Name] = true
		}
	}
	if len(names) == 0 {
		return "", fmt.Errorf("no %s operations: the log has no rows", asked)
	}
	return "", s.options.noOp(names)
}

// matchHost returns an error if the requested host matched nothing.
func (s *Summary) matchHost(op string) error {
	if s.options.Host == "" {
		return nil
	}
	seen := map[string]bool{}
	for _, g := range s.groups {
		for _, o := range g.Ops {
			hosts := o.allTotals().Hosts
			for i, h := range hosts.Vals {
				if !h.unwanted && (op == "" || o.ID.Name == op) {
					return nil
				}
				if name := hosts.Keys[i]; name != "" {
					seen[name] = true
				}
			}
		}
	}
	if len(seen) == 0 {
		return fmt.Errorf("no host %q in the log; its rows name no host", s.options.Host)
	}
	return s.options.noHost(seen)
}

// noOp returns the error of a log that has only other operations.
func (o *Options) noOp(others map[string]bool) error {
	return fmt.Errorf("no operation %q in the log; it has %s", o.Op, strings.Join(sortedKeys(others), ", "))
}

// noHost returns the error of a log that has only requests to other hosts.
func (o *Options) noHost(others map[string]bool) error {
	return fmt.Errorf("no requests to host %q in the log; it has %s", o.Host, strings.Join(sortedKeys(others), ", "))
}

// sameHost compares the endpoint of a row with user input, which may omit the
// scheme or add a slash.
func sameHost(endpoint, asked string) bool {
	asked = strings.TrimSuffix(asked, "/")
	if strings.Contains(asked, "://") {
		return strings.EqualFold(strings.TrimSuffix(endpoint, "/"), asked)
	}
	_, bare, ok := strings.Cut(endpoint, "://")
	if !ok {
		bare = endpoint
	}
	return strings.EqualFold(strings.TrimSuffix(bare, "/"), asked)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
