package oplog

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"warp/pkg/hostload"
)

// A leafKey names the log of one client, before any merge.
type leafKey struct{ run, client string }

// A leaf is what the log of one client said about its run. Merged logs carry
// the leaves of all their inputs, so that merging in steps and merging at once
// is the same.
type leaf struct {
	headers  []Header
	trailers []Trailer
	clients  []string // of the rows, where a merged log told
	origins  []Origin // of merged logs that it was in
}

func (m *merger) leaf(run, client string) *leaf {
	k := leafKey{run, client}
	if m.leaves[k] == nil {
		m.leaves[k] = &leaf{}
	}
	return m.leaves[k]
}

// addHeader and addTrailer note what one piece of the log said; pieces may lack either.
func (l *leaf) addHeader(h Header) {
	if !h.isZero() {
		l.headers = append(l.headers, h)
	}
}

func (l *leaf) addTrailer(t Trailer) {
	t.Merged = nil // a piece of a merged log without its header does not tell whose they are
	if !t.isZero() {
		l.trailers = append(l.trailers, t)
	}
}

func (h *Header) isZero() bool { return asJSON(h) == asJSON(&Header{}) }

// header returns the log's header. Where pieces disagree it takes the first in
// the order of their text, so that the order of the inputs does not matter.
func (l *leaf) header() Header { return first(l.headers) }

func (l *leaf) trailer() *Trailer {
	if len(l.trailers) == 0 {
		return nil
	}
	t := first(l.trailers)
	return &t
}

func first[T any](list []T) T {
	var least T
	text := ""
	for _, v := range list {
		if s := asJSON(v); text == "" || s < text {
			least, text = v, s
		}
	}
	return least
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// leafOf finds the log that a client's rows were in: its own, or one that all
// clients of the run wrote together.
func (m *merger) leafOf(p *person) *leaf {
	for _, client := range []string{p.client, ""} {
		if l := m.leaves[leafKey{p.run, client}]; l != nil {
			return l
		}
	}
	return &leaf{}
}

// makeHeader makes the header and the trailer of the result. Where all rows
// are from one log, these are its own, and threads keep their numbers.
func (m *merger) makeHeader() error {
	leaves := m.usedLeaves()
	if len(leaves) <= 1 && (len(m.people) <= 1 || m.stats.Runs == 1) {
		if len(leaves) == 1 {
			m.header = leaves[0].header()
			if t := leaves[0].trailer(); t != nil {
				m.trailer = *t
			}
		}
		if len(m.people) == 1 && m.header.isZero() {
			m.header.Run = m.people[0].run
		}
		return nil
	}
	if err := m.number(); err != nil {
		return err
	}
	m.header = combineHeaders(leaves)
	m.header.Run = m.combinedRun()
	for _, p := range m.people {
		m.header.Merged = append(m.header.Merged, Origin{Run: p.run, Client: p.client, Offset: p.offset,
			Threads: p.threads, Header: p.leaf.header()})
	}
	m.trailer = m.combineTrailers(leaves)
	for _, p := range m.people {
		m.trailer.Merged = append(m.trailer.Merged, p.leaf.trailer())
	}
	return nil
}

// usedLeaves are the logs that said something, each once, in the order of people.
func (m *merger) usedLeaves() []*leaf {
	var used []*leaf
	for _, p := range m.people {
		if (len(p.leaf.headers) > 0 || len(p.leaf.trailers) > 0) && !slices.Contains(used, p.leaf) {
			used = append(used, p.leaf)
		}
	}
	return used
}

// combinedRun is the run's id if there is one run, or made of all ids.
func (m *merger) combinedRun() string {
	var ids []string
	for _, p := range m.people {
		ids = append(ids, p.run)
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(ids) == 1 {
		return ids[0]
	}
	return "merge-" + hashText(ids...)
}

// combineHeaders keeps what all logs agree on and lists what they do not.
func combineHeaders(leaves []*leaf) Header {
	var h Header
	var warp, benchmark, command, engine []string
	parameters := map[string][]string{}
	for i, l := range leaves {
		x := l.header()
		warp = append(warp, x.Warp)
		benchmark = append(benchmark, x.Benchmark)
		command = append(command, x.Command)
		engine = append(engine, x.Engine)
		h.Start = earlier(h.Start, x.Start)
		if i == 0 {
			h.Seed, h.Statements = x.Seed, x.Statements
		}
		if h.Seed != x.Seed {
			h.Seed = 0
		}
		if !slices.Equal(h.Statements, x.Statements) {
			h.Statements = nil
		}
		for k, v := range x.Parameters {
			parameters[k] = append(parameters[k], v)
		}
	}
	h.Warp, h.Benchmark, h.Command, h.Engine = alternatives(warp), alternatives(benchmark), alternatives(command), alternatives(engine)
	for _, k := range slices.Sorted(maps.Keys(parameters)) {
		if h.Parameters == nil {
			h.Parameters = map[string]string{}
		}
		h.Parameters[k] = alternatives(parameters[k])
	}
	return h
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// maxAlternatives keeps the header of a merge of very many logs readable.
const maxAlternatives = 8

// alternatives joins the different values, sorted.
func alternatives(values []string) string {
	values = slices.Compact(slices.Sorted(slices.Values(values)))
	values = slices.DeleteFunc(values, func(s string) bool { return s == "" })
	if len(values) > maxAlternatives {
		values = append(values[:maxAlternatives], "…")
	}
	return strings.Join(values, " | ")
}

// combineTrailers says how the runs ended whose logs these are.
func (m *merger) combineTrailers(leaves []*leaf) Trailer {
	var all []Trailer
	for _, l := range leaves {
		if t := l.trailer(); t != nil {
			t.Notes = m.stillMissing(l, t.Notes)
			all = append(all, *t)
		} else if h := l.header(); h.Warp != "" {
			all = append(all, Trailer{End: "interrupted", Reason: "the log of a client was cut off"})
		}
	}
	return CombineTrailers(all)
}

// LostShare is how every note ends about a client that the coordinator has
// lost, whose log it therefore did not have.
func LostShare(client string, left, all int) string {
	return fmt.Sprintf("the share of %s is missing, these are the figures of %d of %d clients", client, left, all)
}

var lostShare = regexp.MustCompile(`the share of (\S*) is missing, these are the figures of ([0-9]+) of ([0-9]+) clients$`)

// IsLostShare says whether a note is one of those.
func IsLostShare(note string) bool { return lostShare.MatchString(note) }

// stillMissing leaves out what the log says of lost clients whose logs are
// merged after all, and has the others say how many clients there are now.
func (m *merger) stillMissing(l *leaf, notes []string) (missing []string) {
	here := map[string]bool{}
	at := slices.IndexFunc(m.people, func(p *person) bool { return p.leaf == l })
	for _, p := range m.people {
		if p.run == m.people[at].run {
			here[p.client] = true
		}
	}
	for _, note := range notes {
		if part := lostShare.FindStringSubmatch(note); part != nil {
			if here[part[1]] {
				continue
			}
			left, _ := strconv.Atoi(part[2]) // nonsense is less than there are
			all, _ := strconv.Atoi(part[3])
			if len(here) > left {
				note = strings.TrimSuffix(note, part[0]) + LostShare(part[1], min(len(here), all), all)
			}
		}
		missing = append(missing, note)
	}
	return missing
}

// CombineTrailers says how the parts of a run ended: as badly as the worst of
// them.
func CombineTrailers(all []Trailer) Trailer {
	var t Trailer
	worst := 0
	reasons := make([][]string, 4)
	ends := []string{"", "completed", "interrupted", "aborted"}
	for _, x := range all {
		at := slices.Index(ends, x.End)
		if at < 0 {
			at = 2
		}
		worst = max(worst, at)
		if x.Reason != "" {
			reasons[at] = append(reasons[at], x.Reason)
		}
		t.Notes = append(t.Notes, x.Notes...)
		t.Offered += x.Offered
		t.Unsent += x.Unsent
		t.Load = hostload.Add(t.Load, x.Load)
	}
	// A normal end is no reason for another run's early one. One that is not the worst is worth a note.
	t.End, t.Reason = ends[worst], alternatives(reasons[worst])
	if interrupted := 2; worst > interrupted {
		t.Notes = append(t.Notes, reasons[interrupted]...)
	}
	t.Notes = joinNotes(t.Notes)
	return t
}

// countedNote is a note about so many of something. A number that is a part of
// another one, as in "9 of 20 points", cannot be added up by itself.
var countedNote = regexp.MustCompile(`^([0-9]+) ((?:requests|objects|datagrams) .+)$`)

// joinNotes says once what several clients say. What they have counted is added
// up: two that say "1 request had no answer" do not mean the same one.
func joinNotes(notes []string) []string {
	sums := map[string]int64{}
	var all []string
	for _, note := range notes {
		m := countedNote.FindStringSubmatch(note)
		if m == nil {
			all = append(all, note)
			continue
		}
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil || n > math.MaxInt64-sums[m[2]] { // no count of anything
			all = append(all, note)
			continue
		}
		sums[m[2]] += n
	}
	for what, n := range sums {
		all = append(all, fmt.Sprintf("%d %s", n, what))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
