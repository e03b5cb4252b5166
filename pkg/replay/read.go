package replay

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"warp/internal/extsort"
	"warp/pkg/oplog"
)

// Options of a plan.
type Options struct {
	Speed  float64 // 2 = twice as fast
	Folder string  // of temporary files, which are about as large as the log without compression
}

// ErrForeign is the error of a file that is not an op log of warp.
var ErrForeign = errors.New("only op logs of warp can be replayed")

// ErrNothing is the error of a log without a request that can be sent again.
var ErrNothing = errors.New("the log has no request that can be sent again")

// Read plans the replay of the log at path.
func Read(ctx context.Context, path string, o Options) (plan *Plan, err error) {
	r, err := oplog.Open(path)
	if err != nil {
		if errors.Is(err, oplog.ErrAggregated) { // whose text is about other commands
			return nil, fmt.Errorf("%s: %w", path, ErrForeign)
		}
		if read := (*oplog.ReadError)(nil); errors.As(err, &read) {
			return nil, fmt.Errorf("%w (%w)", err, ErrForeign)
		}
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	h := r.Header()
	if h.Warp == "" {
		return nil, fmt.Errorf("%s: %w", path, ErrForeign)
	}
	l := newLog(h, extsort.New(o.Folder))
	defer func() { err = errors.Join(err, l.sorted.Close()) }()
	if err := r.EachInWindow(ctx, l.decided, l.add); err != nil {
		return nil, err
	}
	if n := r.Trailer().Unsent; n > 0 {
		l.notSent[oplog.NotSent{Why: "the replayed run ended before a worker was free"}] = n
	}
	if err := l.sorted.Finish(ctx); err != nil {
		return nil, err
	}
	if plan, err = l.plan(ctx, o); err != nil {
		return nil, err
	}
	if plan.count == 0 {
		return nil, errors.Join(fmt.Errorf("%s: %w%s", path, ErrNothing, reasons(plan.Replay.NotSent)), plan.Close())
	}
	plan.Replay.Log, plan.Replay.Run, plan.Warnings = filepath.Base(path), h.Run, r.Warnings()
	return plan, nil
}

// reasons names the reasons why requests are not sent.
func reasons(all []oplog.NotSent) (text string) {
	for i, n := range all {
		text += fmt.Sprintf("%s%d %s: %s", [2]string{": ", "; "}[min(i, 1)], n.Count, cmp.Or(n.Op, "due"), n.Why)
	}
	return text
}

// A log is an op log that is being read.
type log struct {
	header      oplog.Header
	preparation *oplog.Preparation
	headers     map[clientID]*oplog.Header // of the clients of a merged log
	sorted      *extsort.Sorter            // rows by the time at which they count
	body        []byte
	notSent     map[oplog.NotSent]int64 // without Count
	threads     map[thread]struct{}
}

type clientID struct{ run, client string }

type thread struct {
	client clientID
	number uint32
}

func newLog(h oplog.Header, sorted *extsort.Sorter) *log {
	l := &log{header: h, preparation: oplog.NewPreparation(&h), sorted: sorted,
		notSent: map[oplog.NotSent]int64{}, threads: map[thread]struct{}{}, headers: map[clientID]*oplog.Header{}}
	for i := range h.Merged {
		o := &h.Merged[i]
		l.headers[clientID{o.Run, o.Client}] = &o.Header
	}
	return l
}

func (l *log) decided(w oplog.Window, _ []oplog.Mark) { l.preparation.Decided(w) }

// A code is the kind of a sorted row. Of two rows at the same time, the one with the lower code comes first.
type code byte

const (
	prepared   code = iota // an upload of the preparation
	requested              // plus the kind
	failed     = requested + code(Kinds)
	failedPart = failed + 1 // of an upload or a download in parts
	partPut    = failed + 2
	partGet    = failed + 3
)

// inParts reports whether a row is about an object in parts, or about a part. Such a row also has its thread, the delay of its
// start, and its duration.
func (c code) inParts() bool {
	return c == requested+code(Upload) || c == requested+code(Download) || c >= failedPart
}

// add adds a batch of rows.
func (l *log) add(batch []oplog.Record) error {
	for i := range batch {
		r := &batch[i]
		from, before := clientID{r.Run, r.Client}, l.preparation.Has(r)
		c, why := classify(r, cmp.Or(l.headers[from], &l.header))
		switch {
		case before && r.Op == "PUT" && r.Err == "" && r.Objects == 1:
			c = prepared
		case before:
			continue
		case why != "":
			l.notSent[oplog.NotSent{Op: r.Op, Why: why}]++
			if c != failedPart {
				continue
			}
		}
		if !before {
			l.threads[thread{from, r.Thread}] = struct{}{}
		}
		l.body = append(l.body[:0], byte(c))
		l.body = binary.AppendUvarint(l.body, uint64(r.Bytes))
		if c.inParts() {
			l.body = binary.AppendUvarint(l.body, uint64(r.Thread))
			l.body = binary.AppendUvarint(l.body, uint64(max(r.Start-r.Counted(), 0)))
			l.body = binary.AppendUvarint(l.body, uint64(max(r.Duration, 0)))
		}
		l.body = append(l.body, r.Key...)
		if err := l.sorted.Add(&extsort.Row{At: r.Counted(), Body: l.body}); err != nil {
			return err
		}
	}
	return nil
}

// classify returns the kind of a row, or the reason why it cannot be sent again.
func classify(r *oplog.Record, h *oplog.Header) (c code, why string) {
	switch r.Op {
	case "PUTPART":
		return partPut, ""
	case "GETPART":
		return partGet, ""
	}
	kind := slices.Index(kindNames[:], r.Op)
	inParts := kind == int(Upload) || kind == int(Download)
	switch {
	case kind < 0:
		return failed, "warp does not send this operation again"
	case r.Err != "" && inParts:
		return failedPart, "it failed"
	case r.Err != "":
		return failed, "it failed"
	case r.Check != nil:
		return failed, "it had a condition, or depended on the answer to another one"
	case r.Key == "":
		return failed, "the log does not name its object"
	case elsewhere(h) != "":
		return failed, elsewhere(h)
	case r.Objects != 1:
		return failed, "the log names only one of its objects"
	}
	return requested + code(kind), ""
}

var kindNames = Names()

// elsewhere says what the rows of a run are about if they have the names of common operations, but are not about whole objects.
func elsewhere(h *oplog.Header) string {
	switch {
	case h.Benchmark == "zip":
		return "it is about a file within an archive"
	case h.Benchmark == "snowball":
		return "it is about an archive of objects"
	case h.Benchmark == "multipart":
		return "it is about a part of an object"
	case h.HasVersions():
		return "it is about one version of an object"
	}
	return ""
}

// unknown is the size of an object that is not known.
const unknown = -1

// A planned is an object whose requests are being planned.
type planned struct {
	size             int64 // before the first write; or unknown
	exact            bool  // it is the size of an upload
	prepare          bool
	requests, writes uint32
}

// A span is the time in which a thread uploaded or downloaded an object in parts.
type span struct {
	start, end int64
	transfer   int32 // none if it failed
}

const none = -1

// maxObjects limits the objects of a replay, which are kept in memory.
const maxObjects = 100_000_000

// A planner makes a plan of sorted rows.
type planner struct {
	*Plan
	log     *log
	out     *writer
	keys    map[string]uint32
	objects []planned
	spans   map[uint32][]span // by thread, in the order of their starts
	sizes   []int64           // of uploads that the requests make
	begin   int64             // when the first request was due
	last    int64
}

// plan makes the plan.
func (l *log) plan(ctx context.Context, o Options) (*Plan, error) {
	p := &planner{Plan: &Plan{Speed: o.Speed, Threads: len(l.threads)}, log: l, keys: map[string]uint32{}, spans: map[uint32][]span{}}
	p.AtOnce, p.Head = l.partsAtOnce()
	var err error
	if p.out, err = newWriter(o.Folder); err != nil {
		return nil, err
	}
	p.file = p.out.file
	err = l.sorted.Each(ctx, p.add)
	if err == nil {
		err = p.out.buffer.Flush()
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.finish()
	return p.Plan, nil
}

// partsAtOnce returns how many parts of an object were in flight, and whether a download began with a HEAD.
func (l *log) partsAtOnce() (n int, head bool) {
	headers := []oplog.Header{l.header}
	for _, o := range l.header.Merged {
		headers = append(headers, o.Header)
	}
	for _, h := range headers {
		for _, flag := range []string{"part.concurrent", "split.concurrent"} {
			if at, err := strconv.Atoi(h.Parameters[flag]); err == nil {
				n = max(n, at)
			}
		}
		head = head || h.Parameters["split.head"] == "true"
	}
	return max(n, 1), head
}

var errRow = fmt.Errorf("reading a sorted row: %w", extsort.ErrDamaged)

// add plans a row.
func (p *planner) add(row *extsort.Row) error {
	if len(row.Body) < 2 {
		return errRow
	}
	c, rest := code(row.Body[0]), row.Body[1:]
	var numbers [4]int64 // size, thread, delay of the start, duration
	fields := numbers[:1]
	if c.inParts() {
		fields = numbers[:]
	}
	for i := range fields {
		x, n := binary.Uvarint(rest)
		if n <= 0 {
			return errRow
		}
		fields[i], rest = int64(x), rest[n:]
	}
	index, err := p.object(rest)
	if err != nil {
		return err
	}
	size, thread, start := numbers[0], uint32(numbers[1]), row.At+numbers[2]
	switch c {
	case prepared:
		if o := &p.objects[index]; o.requests == 0 {
			o.size, o.exact = size, true
		}
	case partPut, partGet:
		p.part(thread, start, size)
	case failedPart:
		p.spans[thread] = append(p.spans[thread], span{start, start + numbers[3], none})
	default:
		if c.inParts() {
			p.spans[thread] = append(p.spans[thread], span{start, start + numbers[3], int32(len(p.transfers))})
		}
		return p.request(row.At, Kind(c-requested), index, size)
	}
	return nil
}

// object returns the number of an object.
func (p *planner) object(key []byte) (uint32, error) {
	if i, ok := p.keys[string(key)]; ok {
		return i, nil
	}
	if len(p.objects) == maxObjects {
		return 0, fmt.Errorf("the log is about more than %d objects, which is the maximum of a replay", maxObjects)
	}
	i := uint32(len(p.objects))
	p.keys[string(key)] = i
	p.objects = append(p.objects, planned{size: unknown})
	return i, nil
}

// part adds a part to the transfer during which its thread sent it: several threads may transfer the same object at the same time.
// Parts of one that failed are not sent, like the whole.
func (p *planner) part(thread uint32, start, size int64) {
	spans := p.spans[thread]
	for len(spans) > 0 && spans[0].end < start {
		spans = spans[1:]
	}
	p.spans[thread] = spans
	if len(spans) == 0 || spans[0].start > start || spans[0].transfer == none {
		return
	}
	t := &p.transfers[spans[0].transfer]
	t.parts++
	t.part, t.total = max(t.part, size), t.total+size
}

// request plans a request that was due at that time.
func (p *planner) request(at int64, kind Kind, index uint32, size int64) error {
	o := &p.objects[index]
	if p.count == 0 {
		p.begin = at
	}
	p.last = at
	r := record{due: at - p.begin, kind: kind, object: index, after: o.writes, size: size}
	if kind.Writes() {
		r.after = o.requests
	}
	if o.requests == 0 && kind != Put && kind != Upload {
		o.prepare = true
	}
	switch {
	case kind == Get && o.writes == 0 && !o.exact:
		o.size = max(o.size, size)
	case kind == Put:
		p.sizes = append(p.sizes, size)
		p.Written += size
	case kind == Upload || kind == Download:
		r.size = int64(len(p.transfers))
		p.transfers = append(p.transfers, transfer{object: index, first: o.writes == 0, upload: kind == Upload})
	}
	o.requests++
	if kind.Writes() {
		o.writes++
	}
	p.Counts[kind]++
	p.count++
	return p.out.write(&r)
}

// finish completes the plan after the last row.
func (p *planner) finish() {
	for i := range p.transfers {
		t := &p.transfers[i]
		o := &p.objects[t.object]
		switch {
		case t.upload:
			p.Written += t.total
		case t.first && !o.exact:
			o.size = max(o.size, t.total)
		}
	}
	p.uploads()
	p.Length = p.scaled(p.last - p.begin)
	p.Replay.Speed, p.Replay.Requests = p.Speed, p.count
	for n, count := range p.log.notSent {
		n.Count = count
		p.Replay.NotSent = append(p.Replay.NotSent, n)
		p.Replay.Requests += count
	}
	slices.SortFunc(p.Replay.NotSent, func(a, b oplog.NotSent) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Why, b.Why))
	})
}

// uploads decides on the objects that must exist before. One whose size no request shows gets the median of the others.
func (p *planner) uploads() {
	known := p.sizes
	for i := range p.objects {
		if o := &p.objects[i]; o.prepare && o.size != unknown {
			known = append(known, o.size)
		}
	}
	assumed := int64(0)
	if len(known) > 0 {
		slices.Sort(known)
		assumed = known[len(known)/2]
	}
	p.Objects = make([]Object, len(p.objects))
	for i := range p.objects {
		o := &p.objects[i]
		if !o.prepare {
			continue
		}
		if o.size == unknown {
			o.size = assumed
			p.Replay.AssumedSizes++
			p.Replay.AssumedBytes = assumed
		}
		p.Objects[i] = Object{true, o.size}
		p.Prepared++
		p.Bytes += o.size
	}
}
