package aggregate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"warp/pkg/oplog"
)

// Analyze makes a report of a log. It is the only way from requests to a
// report; a run without a log arrives at the same figures with a Deferred.
func Analyze(src Source, o Options) (*Report, error) {
	return analyzeWithin(src, o, usualLimits)
}

// analyzeWithin reads the log once where that is enough, otherwise twice.
func analyzeWithin(src Source, o Options, l limits) (*Report, error) {
	src = o.rows(src)
	first := newOnePass(o, l)
	if err := src(first.write); err != nil {
		return nil, err
	}
	return first.report(src)
}

// report ends the first pass over src, and makes the second where that is needed.
func (p *onePass) report(src Source) (*Report, error) {
	o := p.options
	op, err := matchOp(p.survey.Ops(), o.Op)
	if err != nil {
		return nil, err
	}
	plan, err := p.survey.Plan(o)
	if err != nil {
		return nil, err
	}
	f := &p.filter
	if !p.finish(plan) {
		f = &filter{op: op, host: o.Host, summary: NewSummary(plan, o)}
		p.giveUp()
		if err := src(f.write); err != nil {
			return nil, err
		}
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	r := f.summary.Report(o)
	r.Runs = p.survey.Runs()
	return r, nil
}

// An Alongside is Analyze of a log that is just being written, which takes the
// rows that the log gets. Its report is that of the log, to the byte: the same
// code counts the same rows in the same order, and where one pass was not
// enough the log is read for the second.
type Alongside struct {
	pass *onePass
	rows int64
	odd  bool // a row was written that reads otherwise
}

// NewAlongside returns nil for options that are better served by reading the
// log: to keep the names of objects would burden the run.
func NewAlongside(o Options) *Alongside {
	if o.Verbose || o.Limit > 0 || o.Offset > 0 {
		return nil
	}
	return &Alongside{pass: newOnePass(o, usualLimits)}
}

// Write takes the next rows of the log; it never fails.
func (a *Alongside) Write(batch []oplog.Record) error {
	a.rows += int64(len(batch))
	for i := range batch {
		a.odd = a.odd || readsOtherwise(&batch[i])
	}
	if a.odd {
		a.pass.giveUp()
		return nil // the log will be read from its begin
	}
	return a.pass.write(batch)
}

// readsOtherwise says whether a log has something else of a row than was written.
func readsOtherwise(r *oplog.Record) bool {
	outside := r.FirstByte < 0 || r.FirstByte > r.Duration || r.LastByte < 0 || r.LastByte > r.Duration
	return outside || strings.IndexByte(r.Err, 0) >= 0
}

// Report makes the report of the log, which src reads and which has that many
// rows. It can be called once.
func (a *Alongside) Report(src Source, rows int64) (*Report, error) {
	if a.odd || a.rows != rows {
		return Analyze(src, a.pass.options)
	}
	return a.pass.report(src)
}

// Write adds a batch; it never fails.
func (s *Survey) Write(batch []oplog.Record) error {
	for i := range batch {
		s.Add(&batch[i])
	}
	return nil
}

// Write adds a batch; it never fails.
func (s *Summary) Write(batch []oplog.Record) error {
	for i := range batch {
		s.Add(&batch[i])
	}
	return nil
}

// errStop ends a pass early.
var errStop = errors.New("enough rows")

// rows applies Offset and Limit.
func (o Options) rows(src Source) Source {
	if o.Offset <= 0 && o.Limit <= 0 {
		return src
	}
	return func(yield func([]oplog.Record) error) error {
		skip, left := max(o.Offset, 0), o.Limit
		err := src(func(batch []oplog.Record) error {
			n := min(skip, int64(len(batch)))
			skip -= n
			batch = batch[n:]
			if o.Limit > 0 {
				batch = batch[:min(left, int64(len(batch)))]
				left -= int64(len(batch))
			}
			if len(batch) > 0 {
				if err := yield(batch); err != nil {
					return err
				}
			}
			if o.Limit > 0 && left == 0 {
				return errStop
			}
			return nil
		})
		if errors.Is(err, errStop) {
			return nil
		}
		return err
	}
}

// matchOp finds the operation that was asked for among those in the log.
func matchOp(present []string, asked string) (string, error) {
	if asked == "" {
		return "", nil
	}
	for _, name := range present {
		if strings.EqualFold(name, asked) {
			return name, nil
		}
	}
	if len(present) == 0 {
		return "", fmt.Errorf("no %s operations: the log has no rows", asked)
	}
	return "", fmt.Errorf("no operation %q in the log; it has %s", asked, strings.Join(present, ", "))
}

// filter passes on what is to be reported.
type filter struct {
	op, host string
	summary  *Summary
	passed   int64
	hosts    keyed[string, bool] // seen, and whether wanted; only kept where a host is asked for
}

func (f *filter) write(batch []oplog.Record) error {
	if f.op == "" && f.host == "" {
		return f.summary.Write(batch)
	}
	for i := range batch {
		f.add(&batch[i])
	}
	return nil
}

func (f *filter) add(r *oplog.Record) {
	if (f.op == "" || strings.EqualFold(r.Op, f.op)) && f.hostWanted(r.Endpoint) {
		f.passed++
		f.summary.Add(r)
	}
}

func (f *filter) hostWanted(endpoint string) bool {
	if f.host == "" {
		return true
	}
	if wanted := f.hosts.get(endpoint); wanted != nil {
		return *wanted
	}
	wanted := sameHost(endpoint, f.host)
	return *f.hosts.put(strings.Clone(endpoint), &wanted)
}

// sameHost compares the endpoint of a row with what a person wrote, who may
// leave out the scheme and end with a slash.
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

// check says so where a host matched nothing.
func (f *filter) check() error {
	if f.host == "" || f.passed > 0 {
		return nil
	}
	var seen []string
	for _, h := range f.hosts.keys {
		if h != "" {
			seen = append(seen, h)
		}
	}
	slices.Sort(seen)
	if len(seen) == 0 {
		return fmt.Errorf("no host %q in the log; its rows name no host", f.host)
	}
	return fmt.Errorf("no requests to host %q in the log; it has %s", f.host, strings.Join(seen, ", "))
}
