package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"warp/internal/human"
	"warp/pkg/hostload"
)

// Stamped reports whether the time on the wire is known for so many of all requests that a figure can be about it.
func Stamped(known, all uint64) bool { return known > 0 && float64(known) >= .99*float64(all) }

// A figure is the store's if the client's part of it is at most a tenth, or 50 µs.
const (
	clientPart = .10
	clientMS   = .05
)

// A WireFigure is a time with the same figure on the wire. Both are in ms.
type WireFigure struct {
	Name     string
	MS, Wire float64
}

// shownPart is the client's part of a time that is worth showing.
const shownPart = .05

// WireFigures returns the service times of an operation that differ from those on the wire by more than 5 %.
func (o *Operation) WireFigures() []WireFigure { return o.wireFigures(o.Duration) }

// FirstByteBounds returns the times to first byte that were shorter on the wire by more than 5 %, with upper bounds. The first
// byte arrives before the last one, whose arrival is known.
func (o *Operation) FirstByteBounds() []WireFigure { return o.wireFigures(o.TTFB) }

func (o *Operation) wireFigures(times *Stats) (all []WireFigure) {
	if o.Wire == nil || times == nil {
		return nil
	}
	for _, f := range judgedFigures() {
		if time, wire := f.of(times), f.of(o.Wire); times.Count >= f.min && time-wire > shownPart*time {
			all = append(all, WireFigure{f.name, time, wire})
		}
	}
	return all
}

// ClientsTime reports whether the client's part of a time is too large for it to describe the store. Both are in ms.
func ClientsTime(time, wire float64) bool { return time-wire > max(clientPart*time, clientMS) }

// Gain returns by how much more throughput an infinitely fast client could have got, as a share, if its share of the
// workers' time was as given; at most.
func Gain(clientShare float64) float64 {
	if clientShare >= 1 {
		return math.Inf(1)
	}
	return clientShare / (1 - clientShare)
}

// maxGain keeps the gain a number that JSON can carry.
const maxGain = 1e4

// ClientsThroughput reports whether the client's share of the workers' time is too large for the throughput to describe the
// store.
func ClientsThroughput(clientShare float64) bool { return Gain(clientShare) > clientPart }

// The verdicts on whose the figures are.
const (
	StoresFigures = "store"   // all figures are the store's
	SomeFigures   = "partly"  // some are, others are this machine's
	ClientLimited = "client"  // this machine limited the throughput
	UnknownOwner  = "unknown" // the kernel's time stamps are missing, or came while the store may have waited for warp
)

// A ClientVerdict says which figures describe the store, and which ones this machine.
type ClientVerdict struct {
	Verdict  string         `json:"verdict"`           // "store", "partly", "client" or "unknown"
	Sentence string         `json:"sentence"`          // the same for people
	Figures  []ClientFigure `json:"figures,omitempty"` // times that are this machine's
	// GainPercent is by how much more throughput an infinitely fast client could have got, at most. Missing if unknown, and in
	// an open loop.
	GainPercent *float64 `json:"gain_percent,omitempty"`
	Clients     []string `json:"clients,omitempty"` // of a fleet: the clients whose own p99 is not the store's, the busiest first
	Reasons     []string `json:"reasons,omitempty"` // what kept this machine busy
}

// Text returns the sentence, and what kept this machine busy if that did any harm.
func (v *ClientVerdict) Text() string {
	if len(v.Reasons) == 0 || v.Verdict == StoresFigures {
		return v.Sentence
	}
	text := v.Sentence
	for _, r := range v.Reasons {
		text += " " + human.UpperFirst(r) + "."
	}
	return text
}

// A ClientFigure is a time that is this machine's.
type ClientFigure struct {
	Op          string  `json:"op"`
	Figure      string  `json:"figure"` // p50, p90, p99 or p99.9
	MS          float64 `json:"ms"`
	WireMS      float64 `json:"wire_ms"`
	ClientShare float64 `json:"client_share"` // of the figure, 0 to 1
}

// A judgedFigure is a time that the verdict names.
type judgedFigure struct {
	name string
	min  uint64 // requests that the figure needs to mean anything
	of   func(*Stats) float64
}

func judgedFigures() []judgedFigure {
	return []judgedFigure{
		{"p50", 1, func(s *Stats) float64 { return s.P50 }},
		{"p90", 10, func(s *Stats) float64 { return s.P90 }},
		{"p99", 100, func(s *Stats) float64 { return s.P99 }},
		{"p99.9", 1000, func(s *Stats) float64 { return s.P999 }},
	}
}

// judgeClient sets the verdict on whose the figures are, and moves the notes about this machine from the warnings to it.
func (r *Report) judgeClient() {
	ops := r.judgedOperations()
	if len(ops) == 0 {
		return
	}
	if names := withoutStamps(ops); len(names) > 0 {
		if r.ClientLoad != nil { // other tools' logs say nothing about their clients
			r.Client = r.unknownClient(ops, names)
		}
		return // suspicions stay warnings
	}
	v := &ClientVerdict{}
	for _, w := range r.ClientLimits() {
		v.Reasons = append(v.Reasons, hostload.Reason(w))
	}
	r.Client = v
	r.Warnings = slices.DeleteFunc(r.Warnings, hostload.IsLimit)
	for _, o := range ops {
		v.addFigures(o)
		if s := o.ClientShare; s != nil {
			gain := 100 * min(Gain(*s), maxGain)
			if v.GainPercent == nil || gain > *v.GainPercent {
				v.GainPercent = &gain
			}
		}
	}
	v.conclude(ops, r.SentLate())
}

// withoutStamps names the operations whose time on the wire is unknown.
func withoutStamps(ops []*Operation) (names []string) {
	for _, o := range ops {
		if o.Wire == nil && !slices.Contains(names, o.Op) {
			names = append(names, o.Op)
		}
	}
	return names
}

// unknownClient returns the verdict of a run in which the client's share of the named operations is unknown. Its share of the
// throughput, which depends on all operations, is unknown as well. The times of the other operations are judged.
func (r *Report) unknownClient(ops []*Operation, names []string) *ClientVerdict {
	v := &ClientVerdict{Verdict: UnknownOwner}
	known := slices.DeleteFunc(slices.Clone(ops), func(o *Operation) bool { return slices.Contains(names, o.Op) })
	switch {
	case r.Engine == "minio":
		v.Sentence = "The client's share of the figures is unknown: requests of the engine minio have no time stamps of the kernel."
	case len(known) == 0:
		v.Sentence = "The client's share of the figures is unknown: more than 1 % of the requests have no usable time stamps of the kernel."
	default:
		for _, o := range known {
			v.addFigures(o)
		}
		v.Sentence = v.times(known) + v.busy() +
			fmt.Sprintf(" The client's share of %s and of the throughput is unknown: more than 1 %% of these requests have no usable time stamps of the kernel.", human.And(names))
	}
	return v
}

// times says whose the times of operations are.
func (v *ClientVerdict) times(ops []*Operation) string {
	var names []string
	for _, o := range largestOfEach(ops) {
		names = append(names, o.Op)
	}
	machine := v.limits(ops)
	if len(machine) == 0 {
		return fmt.Sprintf("The times of %s are the store's.", human.And(names))
	}
	return fmt.Sprintf("Of %s, %s", human.And(names), whose(v.storesTimes(ops), machine))
}

// SentLate reports whether the client sent requests of an open loop late.
func (r *Report) SentLate() bool { return hostload.SentLate(r.ClientLoad) }

// judgedOperations returns the measured operations that have service times.
func (r *Report) judgedOperations() (ops []*Operation) {
	for i := range r.Operations {
		o := &r.Operations[i]
		if kind := r.Groups[o.Group].Kind; kind != KindPreparation && !o.Warmup && o.Duration != nil {
			ops = append(ops, o)
		}
	}
	return ops
}

// addFigures adds the times of an operation, and the names of clients, that are this machine's.
func (v *ClientVerdict) addFigures(o *Operation) {
	for _, f := range judgedFigures() {
		time, wire := f.of(o.Duration), f.of(o.Wire)
		if o.Duration.Count >= f.min && ClientsTime(time, wire) {
			v.Figures = append(v.Figures, ClientFigure{Op: o.Op, Figure: f.name, MS: time, WireMS: wire, ClientShare: (time - wire) / time})
		}
	}
	v.addClients(o)
}

// addClients adds the clients whose own p99 is not the store's, the busiest first.
func (v *ClientVerdict) addClients(o *Operation) {
	if len(o.ByClient) < 2 {
		return
	}
	var busy []*Part
	part := func(c *Part) float64 { return c.Duration.P99 - c.Wire.P99 }
	for i := range o.ByClient {
		c := &o.ByClient[i]
		if c.Duration != nil && c.Wire != nil && ClientsTime(c.Duration.P99, c.Wire.P99) && !slices.Contains(v.Clients, c.Name) {
			busy = append(busy, c)
		}
	}
	slices.SortStableFunc(busy, func(a, b *Part) int { return cmp.Compare(part(b), part(a)) })
	for _, c := range busy {
		v.Clients = append(v.Clients, c.Name)
	}
}

// conclude sets the verdict and its sentence. late says that the requests of an open loop were sent late.
func (v *ClientVerdict) conclude(ops []*Operation, late bool) {
	limited := v.GainPercent != nil && *v.GainPercent > 100*clientPart
	of := v.limits(ops)
	switch {
	case limited && len(v.Figures) > 0 && v.Figures[0].Figure == "p50":
		v.Verdict = ClientLimited
		v.Sentence = fmt.Sprintf("This machine was the limit, %s", v.gain())
		if own := v.storesTimes(ops); len(own) > 0 { // a store with slow requests is not excused
			v.Sentence += "; " + stores(own)
		}
		v.Sentence += "."
	case len(of) == 0 && !limited && !late:
		v.Verdict, v.Sentence = StoresFigures, "The figures are the store's."
	default:
		v.Verdict, v.Sentence = SomeFigures, v.split(ops, of, limited, late)
	}
	v.Sentence += v.busy()
}

func (v *ClientVerdict) busy() string {
	if len(v.Clients) == 0 {
		return ""
	}
	return fmt.Sprintf(" Busy: %s.", human.And(v.Clients))
}

func (v *ClientVerdict) gain() string {
	if *v.GainPercent > 1000 {
		return "by far"
	}
	return fmt.Sprintf("by at most %.0f %%", *v.GainPercent)
}

// limits returns, for each operation with times of this machine's, which these are: "GET p99 and above". If they are the same
// for all operations, it returns them once without the operations' names.
func (v *ClientVerdict) limits(ops []*Operation) []string {
	var of, named []string
	ops = largestOfEach(ops)
	for _, o := range ops {
		if times := v.machinesTimes(o); times != "" {
			of, named = append(of, times), append(named, o.Op+" "+times)
		}
	}
	if same := slices.Compact(slices.Clone(of)); len(of) == len(ops) && len(same) == 1 {
		return same
	}
	return named
}

// largestOfEach returns one operation of each name, the one with the most requests: stages of a run and statements of a script
// have operations of the same names, whose times a sentence names once.
func largestOfEach(ops []*Operation) (largest []*Operation) {
	for _, o := range ops {
		i := slices.IndexFunc(largest, func(l *Operation) bool { return l.Op == o.Op })
		switch {
		case i < 0:
			largest = append(largest, o)
		case o.Duration.Count > largest[i].Duration.Count:
			largest[i] = o
		}
	}
	return largest
}

// machinesTimes says which times of an operation are this machine's: "p99 and above", or "p50 and p90" if the rest is the
// store's.
func (v *ClientVerdict) machinesTimes(o *Operation) string {
	var names []string
	rest := true // of the figures from the first of these on
	for _, f := range judgedFigures() {
		if v.has(o.Op, f.name) {
			names = append(names, f.name)
		} else if len(names) > 0 && o.Duration.Count >= f.min {
			rest = false
		}
	}
	if len(names) == 0 || !rest || names[0] == "p99.9" {
		return human.And(names)
	}
	return names[0] + " and above"
}

// has reports whether a time of an operation is this machine's.
func (v *ClientVerdict) has(op, figure string) bool {
	return slices.ContainsFunc(v.Figures, func(c ClientFigure) bool { return c.Op == op && c.Figure == figure })
}

// split says which figures are whose.
func (v *ClientVerdict) split(ops []*Operation, times []string, limited, late bool) string {
	store, machine := v.storesTimes(ops), times
	switch {
	case limited:
		machine = append([]string{"throughput (" + v.gain() + ")"}, times...)
	case late:
		machine = append([]string{"the delay behind the schedule"}, times...)
	default:
		store = append(store, "throughput")
	}
	text := whose(store, machine)
	if len(store) == 0 || strings.HasPrefix(text, "throughput") { // and no percentile
		return human.UpperFirst(text)
	}
	return text
}

// whose says which figures are the store's, and which ones this machine's.
func whose(store, machine []string) string {
	text := enumerate(machine)
	text += human.Choose(len(machine)+strings.Count(text, " and "), " is", " are") + " this machine's."
	if len(store) == 0 {
		return text
	}
	return stores(store) + "; " + text
}

// enumerate joins names of figures, some of which have an "and" of their own: "throughput and p90", "throughput, p99 and above",
// "GET p99 and above, and PUT p90".
func enumerate(names []string) string {
	and := func(name string) bool { return strings.Contains(name, " and ") }
	last := len(names) - 1
	switch {
	case last < 1 || !slices.ContainsFunc(names, and):
		return human.And(names)
	case !slices.ContainsFunc(names[:last], and):
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:last], ", ") + ", and " + names[last]
}

func stores(names []string) string {
	return human.And(names) + human.Choose(len(names), " is", " are") + " the store's"
}

// storesTimes returns the percentiles that are the store's in all operations. Those above one of this machine's need enough
// requests to mean anything.
func (v *ClientVerdict) storesTimes(ops []*Operation) (names []string) {
	if len(v.Figures) == 0 {
		return []string{"p50", "p90", "p99"}
	}
	lower := false
	for _, f := range judgedFigures() {
		if slices.ContainsFunc(v.Figures, func(c ClientFigure) bool { return c.Figure == f.name }) {
			lower = true
		} else if !lower || !slices.ContainsFunc(ops, func(o *Operation) bool { return o.Duration.Count < f.min }) {
			names = append(names, f.name)
		}
	}
	return names
}
