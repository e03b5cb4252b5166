package oplog

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// anonymousPrefix begins the run ids that a merge makes up for runs that have
// neither run nor client id and are not the same.
const anonymousPrefix = "anon-"

// anonymous says that only the times of the rows can tell whose they are.
func anonymous(run, client string) bool {
	return client == "" && (run == "" || strings.HasPrefix(run, anonymousPrefix))
}

// identify finds out whose rows all sources are, gives everybody thread
// numbers, and makes the header and the trailer. It can be called again when more is known.
func (m *merger) identify() error {
	m.people, m.header, m.trailer = nil, Header{}, Trailer{}
	m.splitSources()
	people := map[sourceKey]*person{}
	if err := m.identifyAnonymous(people); err != nil {
		return err
	}
	for _, s := range m.sources {
		for i := range s.parts {
			p := &s.parts[i]
			if p.who.threads < p.highest(s) {
				p.who.threads = p.highest(s)
			}
		}
	}
	m.addIdle(people)
	for _, p := range people {
		m.people = append(m.people, p)
	}
	slices.SortFunc(m.people, func(a, b *person) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.client, b.client))
	})
	runs := map[string]bool{}
	for i, p := range m.people {
		p.at = i
		p.leaf = m.leafOf(p)
		runs[runName(p)] = true
	}
	m.stats.Runs, m.stats.Clients = len(runs), len(m.people)
	return m.makeHeader()
}

// runName is the run, for which the client stands where it has no id.
func runName(p *person) string {
	if p.run == "" {
		return "\x00" + p.client
	}
	return p.run
}

// highest is one more than the highest thread of the part, as its person numbers them.
func (p *part) highest(s *mergeSource) uint32 {
	if p.count == math.MaxUint32 { // the whole source
		return s.highest + 1
	}
	return p.count
}

// splitSources gives every source its parts. A source without a header may be
// a piece of a merged log whose header another input has: so it is taken where
// all its threads are among those that the header gives to the client.
func (m *merger) splitSources() {
	origins := map[string][]Origin{}
	for _, l := range m.leaves {
		for _, o := range l.origins {
			if !slices.ContainsFunc(origins[o.Client], func(p Origin) bool {
				return p.Run == o.Run && p.Offset == o.Offset && p.Threads == o.Threads
			}) {
				origins[o.Client] = append(origins[o.Client], o)
			}
		}
	}
	for _, s := range m.sources {
		s.parts = nil
		if s.run != "" || s.merged || !s.split(origins[s.client]) {
			s.parts = []part{{from: 0, count: math.MaxUint32, who: &person{run: s.run, client: s.client}, node: -1}}
		}
	}
}

// split cuts the source by origins and says whether they cover it.
func (s *mergeSource) split(origins []Origin) bool {
	x, err := newOriginIndex(origins)
	if err != nil || x == nil {
		return false // none, or those of two merges that number differently
	}
	used := map[uint32]part{}
	if !s.threads.each(func(t uint32) bool {
		o := x.find(s.client, t)
		if o != nil {
			used[o.Offset] = part{from: o.Offset, count: o.Threads, who: &person{run: o.Run, client: o.Client}, node: -1}
		}
		return o != nil
	}) {
		return false
	}
	for _, offset := range slices.Sorted(maps.Keys(used)) {
		s.parts = append(s.parts, used[offset])
	}
	return len(s.parts) > 0
}

// adopt returns the run that rows with only a client id belong to.
func (m *merger) adopt(client string) string {
	run := ""
	for _, s := range m.sources {
		if s.run == "" || s.client != client {
			continue
		}
		if run != "" && run != s.run {
			return "" // two runs have it, so it cannot be known
		}
		run = s.run
	}
	for k, l := range m.leaves {
		if k.run == "" || k.client != client && !slices.Contains(l.clients, client) {
			continue
		}
		if run != "" && run != k.run {
			return ""
		}
		run = k.run
	}
	return run
}

// identifyAnonymous replaces what the rows say about their owner by who that
// is, the same person for all of its parts.
func (m *merger) identifyAnonymous(people map[sourceKey]*person) error {
	nodes := 0
	var first []nodeOrigin
	for _, s := range m.sources {
		for i := range s.parts {
			if p := &s.parts[i]; anonymous(p.who.run, p.who.client) {
				p.node = nodes
				first = append(first, nodeOrigin{s.input, s.merged || len(s.parts) > 1, p.who.run})
				nodes++
			}
		}
	}
	names := make([]string, nodes)
	if nodes > 1 {
		if m.sorter == nil {
			return errIndirect
		}
		g := newOverlaps(first)
		if err := m.sorter.each(m.ctx, func(row *sortRow, _ bool) error {
			s := m.sources[row.source]
			p := s.part(row.thread())
			if p.node < 0 {
				return nil
			}
			return g.note(row, p)
		}); err != nil {
			return err
		}
		if err := g.settle(); err != nil {
			return err
		}
		names = g.names()
	}
	for _, s := range m.sources {
		for i := range s.parts {
			p := &s.parts[i]
			key := sourceKey{p.who.run, p.who.client}
			switch {
			case p.node >= 0:
				key.run = names[p.node]
			case key.run == "":
				key.run = m.adopt(key.client)
			}
			if people[key] == nil {
				people[key] = &person{run: key.run, client: key.client}
			}
			p.who = people[key]
		}
	}
	return nil
}

// addIdle adds clients that are known from headers only, so that what their
// run has to say is not lost with rows that it does not have, and threads that
// are.
func (m *merger) addIdle(people map[sourceKey]*person) {
	runs := map[string]bool{}
	for key := range people {
		runs[key.run] = true
	}
	for key, l := range m.leaves {
		for _, o := range l.origins {
			k := sourceKey{o.Run, o.Client}
			if p := people[k]; p != nil {
				p.threads = max(p.threads, o.Threads)
			} else if !anonymous(k.run, k.client) {
				people[k] = &person{run: o.Run, client: o.Client, threads: o.Threads}
			}
		}
		k := sourceKey(key)
		if key.run != "" && len(l.origins) == 0 && people[k] == nil && (key.client != "" || !runs[key.run]) {
			people[k] = &person{run: key.run, client: key.client}
		}
	}
	for key, l := range m.leaves { // when all are there, whatever the order
		if p := people[sourceKey(key)]; p != nil && key.client != "" {
			p.threads = max(p.threads, min(l.header().Threads, maxThread+1))
		}
	}
}

// number gives everybody thread numbers of their own. Those that know only the
// documented columns read 16 bits; where that is too few, only threads of the
// same client id are kept apart, since the id tells the others apart.
func (m *merger) number() error {
	var total uint64
	for _, p := range m.people {
		p.offset = uint32(min(total, math.MaxUint32))
		total += uint64(p.threads)
	}
	if total <= maxThread+1 {
		return nil
	}
	byClient := map[string]uint64{}
	for _, p := range m.people {
		p.offset = uint32(byClient[p.client])
		byClient[p.client] += uint64(p.threads)
		if byClient[p.client] > maxThread+1 {
			return fmt.Errorf("the runs of client %q have more than %d threads together, which is all that one log can tell apart: merge fewer logs", p.client, maxThread+1)
		}
	}
	return nil
}

// A nodeOrigin says where rows without a name come from.
type nodeOrigin struct {
	input  int
	merged bool // an earlier merge has found out that the input's are different runs
	run    string
}

// overlaps finds out which rows without a name can be of one run.
type overlaps struct {
	nodes    []nodeOrigin
	ops      map[string]int
	busy     map[opThread][]int64        // until when, by node
	conflict map[[2]int]map[int]struct{} // pair of nodes: operations in which they overlap
	broken   map[int]bool                // operations of which a node overlaps with itself
	order    []int                       // nodes, as they came up
	found    []nodeRows                  // by node
	rows     int                         // different ones so far
	last     sortRow
	same     []*part // of all nodes that have the last row
	decode   rowDecoder
	text     []byte
}

// nodeRows is what tells the rows of one node from those of others.
type nodeRows struct {
	first int    // which row is its first one
	hash  string // of that row
	all   xxhash.Digest
}

type opThread struct {
	op     int
	thread uint32
}

func newOverlaps(nodes []nodeOrigin) *overlaps {
	found := make([]nodeRows, len(nodes))
	for i := range found {
		found[i].all.Reset()
	}
	return &overlaps{nodes: nodes, ops: map[string]int{}, busy: map[opThread][]int64{},
		conflict: map[[2]int]map[int]struct{}{}, broken: map[int]bool{}, found: found}
}

// note takes the rows in order of their start.
func (g *overlaps) note(row *sortRow, p *part) error {
	if len(g.same) == 0 || row.compare(&g.last) != 0 {
		if err := g.settle(); err != nil {
			return err
		}
		g.last.keep(row)
		g.rows++
	}
	g.text = row.kinds.appendFull(g.text[:0], row)
	d := bodyReader{b: g.text}
	thread := uint32(d.uint()) - p.from // a piece of a merged log has other numbers
	n := &g.found[p.node]
	if n.hash == "" {
		n.hash = hashText(fmt.Sprint(row.start, thread), string(d.b))
		n.first = g.rows
		g.order = append(g.order, p.node)
	}
	n.all.Write(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(d.b, uint64(row.start)), thread))
	if !slices.ContainsFunc(g.same, func(o *part) bool { return o.node == p.node }) {
		g.same = append(g.same, p)
	}
	return nil
}

// settle looks at the last row. Where several inputs have it, it is the same request, and does not overlap with itself.
func (g *overlaps) settle() error {
	if len(g.same) == 0 {
		return nil
	}
	var rec Record
	if _, err := g.decode.decode(&g.last, &rec); err != nil {
		return err
	}
	op, ok := g.ops[rec.Op]
	if !ok {
		op = len(g.ops)
		g.ops[rec.Op] = op
	}
	for _, p := range g.same {
		busy, err := g.busyWith(opThread{op, rec.Thread - p.from})
		if err != nil {
			return err
		}
		for other, until := range busy {
			if until > rec.Start {
				g.overlap(other, p.node, op)
			}
		}
	}
	for _, p := range g.same {
		busy := g.busy[opThread{op, rec.Thread - p.from}]
		busy[p.node] = max(busy[p.node], rec.End())
	}
	g.same = g.same[:0]
	return nil
}

// busyWith says until when that thread of every node is busy with an operation.
func (g *overlaps) busyWith(key opThread) ([]int64, error) {
	if busy := g.busy[key]; busy != nil {
		return busy, nil
	}
	if len(g.busy) > 1<<20/len(g.nodes) {
		return nil, errors.New("too many logs without client ids, or too many threads in them, to find out which belong together")
	}
	busy := make([]int64, len(g.nodes))
	for i := range busy {
		busy[i] = math.MinInt64
	}
	g.busy[key] = busy
	return busy, nil
}

func (g *overlaps) overlap(a, b, op int) {
	if a == b {
		g.broken[op] = true
		return
	}
	pair := [2]int{min(a, b), max(a, b)}
	if g.conflict[pair] == nil {
		g.conflict[pair] = map[int]struct{}{}
	}
	g.conflict[pair][op] = struct{}{}
}

func (g *overlaps) different(a, b int) bool {
	x, y := g.nodes[a], g.nodes[b]
	if x.merged && y.merged && x.run != "" && y.run != "" {
		return x.run != y.run
	}
	for op := range g.conflict[[2]int{min(a, b), max(a, b)}] {
		if !g.broken[op] {
			return true
		}
	}
	return false
}

// names puts nodes that can be one run together, in the order of their first
// rows, and names the runs after the first row if there are several. The order of
// the inputs does not matter: nodes that begin with the same row are told apart by all of theirs.
func (g *overlaps) names() []string {
	slices.SortStableFunc(g.order, func(a, b int) int {
		x, y := &g.found[a], &g.found[b]
		return cmp.Or(cmp.Compare(x.first, y.first), cmp.Compare(x.all.Sum64(), y.all.Sum64()))
	})
	var groups [][]int
	for _, node := range g.order {
		at := slices.IndexFunc(groups, func(group []int) bool {
			return !slices.ContainsFunc(group, func(other int) bool { return g.different(node, other) })
		})
		if at < 0 {
			at = len(groups)
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], node)
	}
	names := make([]string, len(g.nodes))
	if len(groups) < 2 {
		return names
	}
	for _, group := range groups {
		for _, node := range group {
			names[node] = anonymousPrefix + g.found[group[0]].hash
		}
	}
	return names
}
