package merge

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"warp/pkg/oplog"
)

// anonymousPrefix begins the run ids that a merge creates for different runs that have neither a
// run nor a client id.
const anonymousPrefix = "anon-"

// anonymous reports whether only the times of the rows can identify their run.
func (id clientID) anonymous() bool {
	return id.name == "" && (id.run == "" || strings.HasPrefix(id.run, anonymousPrefix))
}

// identify finds the runs and clients of all sources, assigns thread numbers to every client, and
// makes the header and the trailer.
func (m *merger) identify() error {
	m.splitSources()
	names, err := m.nameAnonymous()
	if err != nil {
		return err
	}
	clients := m.joinRanges(names)
	m.addIdle(clients)
	m.clients = slices.SortedFunc(maps.Values(clients), func(a, b *client) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.name, b.name))
	})
	runs := map[string]bool{}
	for i, c := range m.clients {
		c.at = i
		c.log = m.logOf(c)
		runs[c.runName()] = true
	}
	m.stats.Runs, m.stats.Clients = len(runs), len(m.clients)
	return m.makeHeader()
}

// runName returns the run, or the client if the run has no id.
func (id clientID) runName() string {
	if id.run == "" {
		return "\x00" + id.name
	}
	return id.run
}

// splitSources divides every source into ranges. A source without a header may be a piece of a
// merged log whose header is in another input. It is if all its threads are among those that the
// header assigns to the client.
func (m *merger) splitSources() {
	origins := map[string][]oplog.Origin{}
	for _, l := range m.logs {
		for _, o := range l.origins {
			if !slices.ContainsFunc(origins[o.Client], func(p oplog.Origin) bool {
				return p.Run == o.Run && p.Offset == o.Offset && p.Threads == o.Threads
			}) {
				origins[o.Client] = append(origins[o.Client], o)
			}
		}
	}
	for _, s := range m.sources {
		if s.run != "" || s.merged || !s.split(origins[s.name]) {
			s.ranges = []threadRange{{from: 0, count: math.MaxUint32, id: s.clientID, node: -1}}
		}
	}
}

// split divides the source by origins and reports whether they cover it.
func (s *inputClient) split(origins []oplog.Origin) bool {
	x, err := oplog.NewOriginIndex(origins)
	if err != nil || x == nil {
		return false // there are none, or two merges number differently
	}
	used := map[uint32]threadRange{}
	if !s.threads.each(func(t uint32) bool {
		o := x.Find(s.name, t)
		if o != nil {
			used[o.Offset] = threadRange{from: o.Offset, count: o.Threads, id: clientID{o.Run, o.Client}, node: -1}
		}
		return o != nil
	}) {
		return false
	}
	for _, offset := range slices.Sorted(maps.Keys(used)) {
		s.ranges = append(s.ranges, used[offset])
	}
	return len(s.ranges) > 0
}

// joinRanges assigns ranges of the same client to that client. names are the run names of the
// anonymous ranges, by node.
func (m *merger) joinRanges(names []string) map[clientID]*client {
	clients := map[clientID]*client{}
	for _, s := range m.sources {
		for i := range s.ranges {
			r := &s.ranges[i]
			id := r.id
			switch {
			case r.node >= 0:
				id.run = names[r.node]
			case id.run == "":
				id.run = m.runOf(id.name)
			}
			c := clients[id]
			if c == nil {
				c = &client{clientID: id}
				clients[id] = c
			}
			r.client = c
			c.threads = max(c.threads, r.threads(s))
		}
	}
	return clients
}

// threads returns the highest thread number of the range, in its client's numbering, plus one.
func (r *threadRange) threads(s *inputClient) uint32 {
	if r.count == math.MaxUint32 { // the whole source
		return s.highest + 1
	}
	return r.count
}

// runOf returns the run of rows with only a client id, or "" if it is unknown.
func (m *merger) runOf(name string) string {
	run := ""
	for _, s := range m.sources {
		if s.run == "" || s.name != name {
			continue
		}
		if run != "" && run != s.run {
			return "" // two runs have it
		}
		run = s.run
	}
	for id, l := range m.logs {
		if id.run == "" || id.name != name && !slices.Contains(l.clients, name) {
			continue
		}
		if run != "" && run != id.run {
			return ""
		}
		run = id.run
	}
	return run
}

// addIdle adds clients that are known only from headers, to keep the metadata of their logs
// although they have no rows. It also adds threads without rows.
func (m *merger) addIdle(clients map[clientID]*client) {
	runs := map[string]bool{}
	for id := range clients {
		runs[id.run] = true
	}
	for id, l := range m.logs {
		for _, o := range l.origins {
			k := clientID{o.Run, o.Client}
			if c := clients[k]; c != nil {
				c.threads = max(c.threads, o.Threads)
			} else if !k.anonymous() {
				clients[k] = &client{clientID: k, threads: o.Threads}
			}
		}
		if id.run != "" && len(l.origins) == 0 && clients[id] == nil && (id.name != "" || !runs[id.run]) {
			clients[id] = &client{clientID: id}
		}
	}
	for id, l := range m.logs { // after all are known, so that their order does not matter
		if c := clients[id]; c != nil && id.name != "" {
			c.threads = max(c.threads, min(l.header().Threads, oplog.MaxThread+1))
		}
	}
}

// numberThreads assigns separate thread numbers to every client. Readers that know only the
// documented columns read 16 bits. If that is too few, only threads of the same client id get
// separate numbers, because the id distinguishes the others.
func (m *merger) numberThreads() error {
	var total uint64
	for _, c := range m.clients {
		c.offset = uint32(min(total, math.MaxUint32))
		total += uint64(c.threads)
	}
	if total <= oplog.MaxThread+1 {
		return nil
	}
	byName := map[string]uint64{}
	for _, c := range m.clients {
		c.offset = uint32(byName[c.name])
		byName[c.name] += uint64(c.threads)
		if byName[c.name] > oplog.MaxThread+1 {
			return fmt.Errorf("the runs of client %q have more than %d threads together, the maximum of one log: merge fewer logs", c.name, oplog.MaxThread+1)
		}
	}
	return nil
}

// hashText returns a short hash that is the same on all platforms.
func hashText(parts ...string) string {
	h := fnv.New64a()
	_, _ = io.WriteString(h, strings.Join(parts, "\x00")) // cannot fail
	return fmt.Sprintf("%016x", h.Sum64())
}
