package merge

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"warp/internal/wire"
	"warp/pkg/oplog"
)

// nameAnonymous numbers the ranges of rows without a name, the nodes, and returns the run of each
// node.
func (m *merger) nameAnonymous() ([]string, error) {
	var nodes []node
	for _, s := range m.sources {
		for i := range s.ranges {
			if r := &s.ranges[i]; r.id.anonymous() {
				r.node = len(nodes)
				nodes = append(nodes, node{merged: s.merged || len(s.ranges) > 1, run: r.id.run})
			}
		}
	}
	if len(nodes) < 2 {
		return make([]string, len(nodes)), nil
	}
	g := newOverlaps(nodes)
	if err := m.sorter.Each(m.ctx, func(r *row) error {
		threads := m.sources[r.Source].threadRange(threadOf(r))
		if threads.node < 0 {
			return nil
		}
		return g.add(r, threads)
	}); err != nil {
		return nil, err
	}
	if err := g.flush(); err != nil {
		return nil, err
	}
	return g.names(), nil
}

// A node contains the rows of one range without a name.
type node struct {
	merged bool // an earlier merge has found that the input contains different runs
	run    string
	first  int    // number of its first row
	hash   string // hash of that row
	all    xxhash.Digest
}

// overlaps finds the nodes that can belong to one run.
type overlaps struct {
	nodes    []node
	ops      map[string]int
	busy     map[opThread][]int64        // end of the latest request, by node
	conflict map[[2]int]map[int]struct{} // pair of nodes: operations in which they overlap
	broken   map[int]bool                // operations in which a node overlaps with itself
	order    []int                       // nodes, in the order of their first rows
	rows     int                         // number of different rows so far
	last     row
	same     []*threadRange // all nodes that have the last row
	decode   rowDecoder
}

type opThread struct {
	op     int
	thread uint32
}

func newOverlaps(nodes []node) *overlaps {
	for i := range nodes {
		nodes[i].all.Reset()
	}
	return &overlaps{nodes: nodes, ops: map[string]int{}, busy: map[opThread][]int64{},
		conflict: map[[2]int]map[int]struct{}{}, broken: map[int]bool{}}
}

// add is called with all rows in order.
func (g *overlaps) add(r *row, threads *threadRange) error {
	if len(g.same) == 0 || r.Compare(&g.last) != 0 {
		if err := g.flush(); err != nil {
			return err
		}
		g.last.Keep(r)
		g.rows++
	}
	d := wire.NewReader(g.last.Body)
	thread := uint32(d.Uint()) - threads.from // a piece of a merged log has other numbers
	rest := d.Bytes(d.Left())
	n := &g.nodes[threads.node]
	if n.hash == "" {
		n.hash = hashText(fmt.Sprint(r.At, thread), string(rest))
		n.first = g.rows
		g.order = append(g.order, threads.node)
	}
	n.addRow(rest, r.At, thread)
	if !slices.ContainsFunc(g.same, func(o *threadRange) bool { return o.node == threads.node }) {
		g.same = append(g.same, threads)
	}
	return nil
}

func (n *node) addRow(rest []byte, start int64, thread uint32) {
	var b [12]byte
	binary.LittleEndian.PutUint64(b[:], uint64(start))
	binary.LittleEndian.PutUint32(b[8:], thread)
	_, _ = n.all.Write(rest) // cannot fail
	_, _ = n.all.Write(b[:])
}

// flush compares the last row with those before it. If several inputs have it, it is the same
// request and does not overlap with itself.
func (g *overlaps) flush() error {
	if len(g.same) == 0 {
		return nil
	}
	var rec oplog.Record
	if err := g.decode.decode(&g.last, &rec); err != nil {
		return err
	}
	op, ok := g.ops[rec.Op]
	if !ok {
		op = len(g.ops)
		g.ops[rec.Op] = op
	}
	for _, r := range g.same {
		busy, err := g.busyWith(opThread{op, rec.Thread - r.from})
		if err != nil {
			return err
		}
		for other, until := range busy {
			if until > rec.Start {
				g.overlap(other, r.node, op)
			}
		}
	}
	for _, r := range g.same {
		busy := g.busy[opThread{op, rec.Thread - r.from}]
		busy[r.node] = max(busy[r.node], rec.End())
	}
	g.same = g.same[:0]
	return nil
}

// busyWith returns how long that thread of every node is busy with an operation.
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
	x, y := &g.nodes[a], &g.nodes[b]
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

// names groups nodes that can belong to one run, in the order of their first rows, and names the
// runs after the first row if there are several. Nodes that begin with the same row are
// distinguished by all their rows, so the order of the inputs does not matter.
func (g *overlaps) names() []string {
	slices.SortStableFunc(g.order, func(a, b int) int {
		x, y := &g.nodes[a], &g.nodes[b]
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
			names[node] = anonymousPrefix + g.nodes[group[0]].hash
		}
	}
	return names
}
