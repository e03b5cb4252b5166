package merge

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"warp/internal/human"
	"warp/pkg/hostload"
	"warp/pkg/oplog"
)

// combineTrailers combines the trailers of logs, and adds what is known about those without one.
func (m *merger) combineTrailers(logs []*sourceLog) oplog.Trailer {
	var all []oplog.Trailer
	for _, l := range logs {
		if t := l.trailer(); t != nil {
			t.Notes = m.stillMissing(l, t.Notes)
			all = append(all, *t)
		} else if h := l.header(); h.Warp != "" {
			all = append(all, oplog.Trailer{End: "interrupted", Reason: "the log of a client was cut off"})
		}
	}
	return CombineTrailers(all)
}

// lossNotes returns notes about missing and extra rows in the result, compared with the numbers in
// the trailers. Rows that one piece of a log lacks may be in another.
func (m *merger) lossNotes() (notes []string) {
	rows := map[*sourceLog]int64{}
	for _, c := range m.clients {
		rows[c.log] += c.rows
	}
	var missing, repeated int64
	for l, n := range rows {
		if t := l.trailer(); t != nil && t.Rows > 0 && n > 0 { // otherwise the rows belong to another client
			missing += max(t.Rows-n, 0)
			repeated += max(n-t.Rows, 0)
		}
	}
	if missing > 0 {
		notes = append(notes, human.Plural(missing, "request")+" missing: merged logs lack a part of their rows")
	}
	if repeated > 0 {
		notes = append(notes, human.Plural(repeated, "request")+" counted twice: merged logs have a part of their rows twice")
	}
	return notes
}

// LostShare is the end of every note about a client that the coordinator has lost, whose log is
// therefore missing.
func LostShare(client string, left, all int) string {
	return fmt.Sprintf("the share of %s is missing, these are the figures of %d of %d clients", client, left, all)
}

var lostShare = regexp.MustCompile(`the share of (\S*) is missing, these are the figures of ([0-9]+) of ([0-9]+) clients$`)

// IsLostShare reports whether a note ends with a [LostShare].
func IsLostShare(note string) bool { return lostShare.MatchString(note) }

// stillMissing removes the notes about lost clients whose logs are merged after all, and corrects
// the number of clients in the others.
func (m *merger) stillMissing(l *sourceLog, notes []string) (missing []string) {
	here := map[string]bool{}
	at := slices.IndexFunc(m.clients, func(c *client) bool { return c.log == l })
	for _, c := range m.clients {
		if c.run == m.clients[at].run {
			here[c.name] = true
		}
	}
	for _, note := range notes {
		if part := lostShare.FindStringSubmatch(note); part != nil {
			if here[part[1]] {
				continue
			}
			left, _ := strconv.Atoi(part[2]) // an invalid number counts as 0
			all, _ := strconv.Atoi(part[3])
			if len(here) > left {
				note = strings.TrimSuffix(note, part[0]) + LostShare(part[1], min(len(here), all), all)
			}
		}
		missing = append(missing, note)
	}
	return missing
}

// CombineTrailers combines the trailers of a run's parts. The run ended as its worst part did.
func CombineTrailers(all []oplog.Trailer) oplog.Trailer {
	var t oplog.Trailer
	worst := 0
	reasons := make([][]string, 4)
	var loads []*hostload.Load
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
		loads = append(loads, x.Load)
		t.CutOff = t.CutOff.Add(x.CutOff)
		t.Picks = t.Picks.Add(x.Picks)
		t.Pauses = append(t.Pauses, x.Pauses...)
	}
	slices.SortFunc(t.Pauses, func(a, b oplog.Pause) int { return a.At.Compare(b.At) })
	// A normal end does not explain another run's early one. A reason of a better end becomes a
	// note.
	t.End, t.Reason = ends[worst], alternatives(reasons[worst])
	if interrupted := 2; worst > interrupted {
		t.Notes = append(t.Notes, reasons[interrupted]...)
	}
	load, together := hostload.Merge(loads)
	t.Load, t.Notes = load, joinNotes(append(hostload.JoinNotes(t.Notes), together...))
	return t
}

// countedNote matches notes about a count, in which only the noun depends on the number. A number
// that is a part of another one, as in "9 of 20 points", cannot be added up separately.
var countedNote = regexp.MustCompile(`^([0-9]+) (request|object|datagram)s?( .+)$`)

// joinNotes keeps equal notes once and adds up counts, because two clients that say "1 request had
// no answer" mean different requests.
func joinNotes(notes []string) []string {
	type counted struct{ noun, rest string }
	sums := map[counted]int64{}
	var all []string
	for _, note := range notes {
		m := countedNote.FindStringSubmatch(note)
		if m == nil {
			all = append(all, note)
			continue
		}
		n, err := strconv.ParseInt(m[1], 10, 64)
		what := counted{m[2], m[3]}
		if err != nil || n > math.MaxInt64-sums[what] { // not a count
			all = append(all, note)
			continue
		}
		sums[what] += n
	}
	for what, n := range sums {
		all = append(all, human.Plural(n, what.noun)+what.rest)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
