package merge

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"warp/pkg/oplog"
)

// A sourceLog is the metadata of a log that one client wrote, before any merge. Merged logs contain
// the headers of all their inputs, so that merging in steps gives the same result as merging at
// once.
type sourceLog struct {
	headers  []oplog.Header
	trailers []oplog.Trailer
	clients  []string       // the clients of the rows, in merged logs
	origins  []oplog.Origin // in merged logs
}

// log returns the source log with the run and client of a header.
func (m *merger) log(run, client string) *sourceLog {
	k := clientID{run, client}
	if m.logs[k] == nil {
		m.logs[k] = &sourceLog{}
	}
	return m.logs[k]
}

// addHeader and addTrailer keep the metadata in one piece of the log; pieces may lack either.
func (l *sourceLog) addHeader(h oplog.Header) {
	if !isZero(h) {
		l.headers = append(l.headers, h)
	}
}

func (l *sourceLog) addTrailer(t oplog.Trailer) {
	t.Merged = nil // without its header, a piece of a merged log does not say whose rows it has
	if !t.IsZero() {
		l.trailers = append(l.trailers, t)
	}
}

func isZero(h oplog.Header) bool { return asJSON(h) == asJSON(oplog.Header{}) }

// header returns the log's header. If pieces disagree it returns the first in the
// order of their text, so that the order of the inputs does not matter.
func (l *sourceLog) header() oplog.Header { return first(l.headers) }

func (l *sourceLog) trailer() *oplog.Trailer {
	if len(l.trailers) == 0 {
		return nil
	}
	t := first(l.trailers)
	return &t
}

// window returns nil if the window is not completely known.
func (l *sourceLog) window() *oplog.Window {
	if t := l.trailer(); t != nil {
		return t.Window
	}
	return nil
}

func first[T any](list []T) T {
	var smallest T
	text := ""
	for _, v := range list {
		if s := asJSON(v); text == "" || s < text {
			smallest, text = v, s
		}
	}
	return smallest
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// logOf returns the log that contained a client's rows: its own, or one that all clients of the run
// wrote together.
func (m *merger) logOf(c *client) *sourceLog {
	for _, name := range []string{c.name, ""} {
		if l := m.logs[clientID{c.run, name}]; l != nil {
			return l
		}
	}
	return &sourceLog{}
}

// makeHeader makes the header and the trailer of the result. If all rows are from one log, these
// are that log's, and threads keep their numbers.
func (m *merger) makeHeader() error {
	logs := m.usedLogs()
	if len(logs) <= 1 && (len(m.clients) <= 1 || m.stats.Runs == 1) {
		if len(logs) == 1 {
			m.header = logs[0].header()
			if t := logs[0].trailer(); t != nil {
				m.trailer = *t
			}
		}
		if len(m.clients) == 1 && isZero(m.header) {
			m.header.Run = m.clients[0].run
		}
		return nil
	}
	if err := m.numberThreads(); err != nil {
		return err
	}
	m.header = combineHeaders(logs)
	m.header.Run = m.combinedRun()
	if m.stats.Runs > 1 && m.header.Parameters["client-count"] != strconv.Itoa(m.stats.Runs) {
		m.header.Workload = nil // they need not have been at the same time
	}
	for _, c := range m.clients {
		m.header.Merged = append(m.header.Merged, oplog.Origin{Run: c.run, Client: c.name, Offset: c.offset,
			Threads: c.threads, Header: c.log.header(), Window: c.log.window()})
	}
	m.trailer = m.combineTrailers(logs)
	for _, c := range m.clients {
		m.trailer.Merged = append(m.trailer.Merged, c.log.trailer())
	}
	return nil
}

// usedLogs returns the logs with a header or a trailer, each once, in the order of the clients.
func (m *merger) usedLogs() []*sourceLog {
	var used []*sourceLog
	for _, c := range m.clients {
		if (len(c.log.headers) > 0 || len(c.log.trailers) > 0) && !slices.Contains(used, c.log) {
			used = append(used, c.log)
		}
	}
	return used
}

// combinedRun returns the id of the run, or an id combined from all ids if there are several.
func (m *merger) combinedRun() string {
	var ids []string
	for _, c := range m.clients {
		ids = append(ids, c.run)
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(ids) == 1 {
		return ids[0]
	}
	return "merge-" + hashText(ids...)
}

// combineHeaders keeps the values that all logs agree on, and lists the alternatives otherwise.
func combineHeaders(logs []*sourceLog) oplog.Header {
	var h oplog.Header
	var warp, benchmark, command, engine []string
	parameters := map[string][]string{}
	var workloads []*oplog.Workload
	for i, l := range logs {
		x := l.header()
		warp = append(warp, x.Warp)
		benchmark = append(benchmark, x.Benchmark)
		command = append(command, x.Command)
		engine = append(engine, x.Engine)
		h.Start = earlier(h.Start, x.Start)
		if i == 0 {
			h.Seed, h.Statements, h.Staged = x.Seed, x.Statements, x.Staged
		}
		if h.Seed != x.Seed {
			h.Seed = 0
		}
		if !slices.Equal(h.Statements, x.Statements) || h.Staged != x.Staged {
			h.Statements, h.Staged = nil, false
		}
		workloads = append(workloads, x.Workload)
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
	h.Workload = commonWorkload(workloads)
	return h
}

// commonWorkload returns the workload that all clients name as theirs together; nil if they do not agree.
func commonWorkload(all []*oplog.Workload) *oplog.Workload {
	if len(all) == 0 {
		return nil
	}
	for _, w := range all {
		if w == nil || w.ID == "" || w.ID != all[0].ID {
			return nil
		}
	}
	return all[0]
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

// combineChecks returns what two logs of warp consistency checked together; nil = they are of other commands.
func combineChecks(a, b *oplog.Checks) *oplog.Checks {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	all := &oplog.Checks{Properties: slices.Clone(a.Properties), NotPromised: maps.Clone(a.NotPromised), Unordered: a.Unordered || b.Unordered}
	for _, p := range b.Properties {
		if !slices.Contains(all.Properties, p) {
			all.Properties = append(all.Properties, p)
		}
	}
	for p, why := range b.NotPromised {
		if all.NotPromised == nil {
			all.NotPromised = map[string]string{}
		}
		all.NotPromised[p] = min(cmp.Or(all.NotPromised[p], why), why) // whatever the order of the logs
	}
	return all
}
