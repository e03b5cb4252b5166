package merge

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"warp/pkg/hostload"
	"warp/pkg/oplog"
)

// combineTrailers says how the runs ended whose logs these are.
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

// LostShare is how every note ends about a client that the coordinator has
// lost, whose log it therefore did not have.
func LostShare(client string, left, all int) string {
	return fmt.Sprintf("the share of %s is missing, these are the figures of %d of %d clients", client, left, all)
}

var lostShare = regexp.MustCompile(`the share of (\S*) is missing, these are the figures of ([0-9]+) of ([0-9]+) clients$`)

// IsLostShare says whether a note is one of those.
func IsLostShare(note string) bool { return lostShare.MatchString(note) }

// stillMissing logs out what the log says of lost clients whose logs are
// merged after all, and has the others say how many clients there are now.
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
		t.Pauses = append(t.Pauses, x.Pauses...)
	}
	slices.SortFunc(t.Pauses, func(a, b oplog.Pause) int { return a.At.Compare(b.At) })
	// A normal end is no reason for another run's early one. One that is not the worst is worth a note.
	t.End, t.Reason = ends[worst], alternatives(reasons[worst])
	if interrupted := 2; worst > interrupted {
		t.Notes = append(t.Notes, reasons[interrupted]...)
	}
	load, together := hostload.Merge(loads)
	t.Load, t.Notes = load, joinNotes(append(hostload.JoinNotes(t.Notes), together...))
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
