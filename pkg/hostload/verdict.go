package hostload

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Beyond one of these limits, a run measures the client and not the store.
const (
	cpuLimit        = 0.85  // share of the cores that warp may use
	demandLimit     = 0.85  // share of them, used and waited for together
	minUsed         = 0.30  // min share of them used for the demand to matter
	waitLimit       = 2.0   // ratio of the time that threads wait for a core to the time they run; warp alone on its cores has 0.2 to 0.8
	idleLimit       = 0.25  // share of the time: if the cores are idle for longer, threads wait for them to wake up, or for each other
	linkLimit       = 0.90  // share of the speed of a network interface
	pauseLimit      = 0.05  // share of the time in the garbage collector's pauses
	schedLimit      = 0.01  // s that 1 % of the runnable goroutines waited
	pacingLimit     = 0.002 // s of delay of 1 % of the requests of an open loop; a busy neighbour's time slice on a core is longer
	lagLimit        = 1.0   // s of delay of the recorder
	connectionLimit = 0.10  // connections per request
	// A shorter run says nothing about its limits.
	shortestJudged = 0.5 // s
	fewConnections = 200 // never too many
)

// The beginnings of a note that the client may have been the limit, now and in earlier logs.
const (
	suspicion        = "this machine may have been the limit: "
	earlierSuspicion = "these numbers are the client's, not the store's: "
)

// IsLimit reports whether a note says that the client may have been the limit.
func IsLimit(note string) bool {
	return strings.Contains(note, suspicion) || strings.Contains(note, earlierSuspicion)
}

// Reason returns the part of such a note that gives the reason.
func Reason(note string) string {
	for _, begin := range []string{suspicion, earlierSuspicion} {
		if _, reason, ok := strings.Cut(note, begin); ok {
			return reason
		}
	}
	return note
}

// SentLate reports whether the client sent requests of an open loop late.
func SentLate(l *Load) bool { return l != nil && l.PacingLagS >= pacingLimit }

// Limits returns one line for each way in which the client was the limit of the run. If the number
// of concurrent requests is unlimited, warp opens a connection for each, which is not the store's
// fault.
func Limits(l *Load, requests int64, unbounded bool) (notes []string) {
	if l.WallSeconds < shortestJudged {
		return nil
	}
	note := func(format string, args ...any) {
		notes = append(notes, suspicion+fmt.Sprintf(format, args...))
	}
	if text := cpuVerdict(l); text != "" {
		note("warp %s", text)
	}
	if l.LinkShare >= linkLimit {
		note("the network interface %s ran at %.0f %% of its speed; use a faster one, or more machines", l.Link, 100*l.LinkShare)
	}
	if share := l.GCPauseS / l.WallSeconds; share >= pauseLimit {
		note("%.0f %% of the time went into pauses of warp's memory management; use more machines", 100*share)
	}
	if l.GoSchedS >= schedLimit && cpuVerdict(l) == "" { // which has the same cause
		note("in 1 %% of cases, warp's own work waited %.0f ms or more for a core; the machine is busy with something else, or has too few cores", 1000*l.GoSchedS)
	}
	if l.PacingLagS >= pacingLimit {
		cause := ""
		if cpuVerdict(l) == "" {
			cause = "; the machine is busy with something else, or has too few cores"
		}
		note("1 %% of the requests were sent %.1f ms late or more, and not because of the store%s", 1000*l.PacingLagS, cause)
	}
	if l.LagMaxS >= lagLimit {
		note("recording fell %.1f s behind%s", l.LagMaxS, lagCause(l))
	}
	if !unbounded && l.Connections > fewConnections && float64(l.Connections) >= connectionLimit*float64(requests) {
		notes = append(notes, fmt.Sprintf("%d connections were opened for %d requests, so connecting is a part of what was measured: the store closes them, or --disable-http-keepalive is given", l.Connections, requests))
	}
	return notes
}

// cpuVerdict returns the way in which there were too few cores, or "". It continues a sentence
// about who used them.
func cpuVerdict(l *Load) string {
	if l.WallSeconds < shortestJudged {
		return ""
	}
	used, waited := l.CPUSeconds/(l.WallSeconds*l.Cores), l.CPUWaitS/(l.WallSeconds*l.Cores)
	busy := l.IdleShare < idleLimit
	switch {
	case used >= cpuLimit:
		return fmt.Sprintf("used %.0f %% of the available CPU time; spread the load over more machines, or give warp more cores", 100*used)
	case busy && used >= minUsed && used+waited >= demandLimit:
		return fmt.Sprintf("used %.0f %% of the available CPU time while threads waited for more; stop other programs on the machine, or use more machines", 100*used)
	case busy && used > 0 && waited >= waitLimit*used:
		return fmt.Sprintf("waited for a core in %.0f %% of the time in which it had work to do; stop other programs on the machine, do not lower the priority of warp, or use another machine", 100*waited/(used+waited))
	}
	return ""
}

// lagCause says why recording fell behind. Compressing and writing a log take CPU time, too, so a slow disk is the suspect
// only if there was enough of it.
func lagCause(l *Load) string {
	if cpuVerdict(l) != "" || l.GoSchedS >= schedLimit {
		return ", probably for lack of CPU time"
	}
	return "; write the op log to a faster disk, or use --stress"
}

var figure = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// JoinNotes merges notes of several clients that differ only in their figures, and keeps the worst,
// by the last figure. Other notes stay.
func JoinNotes(notes []string) (joined []string) {
	type group struct {
		at, clients int
		worst       float64
	}
	groups := map[string]*group{}
	for _, note := range notes {
		if !strings.HasPrefix(note, suspicion) && !strings.HasPrefix(note, earlierSuspicion) {
			joined = append(joined, note)
			continue
		}
		figures, kind := figure.FindAllString(note, -1), figure.ReplaceAllString(note, "0")
		g := groups[kind]
		if g == nil {
			g = &group{at: len(joined), worst: -1}
			groups[kind], joined = g, append(joined, "")
		}
		g.clients++
		bad := 0.0
		if len(figures) > 0 {
			bad, _ = strconv.ParseFloat(figures[len(figures)-1], 64)
		}
		if bad > g.worst {
			g.worst, joined[g.at] = bad, note
		}
	}
	for _, g := range groups {
		if g.clients > 1 {
			joined[g.at] += fmt.Sprintf(" (the worst of %d clients that say so)", g.clients)
		}
	}
	return joined
}
