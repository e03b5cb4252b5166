package live

import (
	"cmp"
	"slices"
	"time"

	"warp/pkg/monitor"
)

// A history has the figures that need several snapshots: rates per second of the
// last minute, and the recent work of hosts.
type history struct {
	samples []sample // the oldest first
	ended   uint64   // requests that had ended when that number last changed
	changed int64    // when it did
}

// A sample is the totals of a snapshot.
type sample struct {
	at             int64
	bytes, objects map[string]uint64 // by operation
	hosts, clients []monitor.Part
}

const (
	sampleEvery = int64(time.Second) - int64(refresh)/2
	minute      = 60
	// lately is the number of seconds for which a silent host counts as active.
	lately = 5
)

// add adds a snapshot. It keeps one per second.
func (h *history) add(s *monitor.Snapshot) {
	if len(s.Ops) == 0 { // nothing has come of the clients of a fleet, not even a time
		return
	}
	ended := uint64(0)
	for i := range s.Ops {
		ended += s.Ops[i].Requests
	}
	if ended != h.ended || h.changed == 0 {
		h.ended, h.changed = ended, s.At
	}
	if n := len(h.samples); n > 0 && s.At-h.samples[n-1].at < sampleEvery {
		return
	}
	new := sample{at: s.At, bytes: map[string]uint64{}, objects: map[string]uint64{}, hosts: s.Hosts, clients: s.Clients}
	for i := range s.Ops {
		new.bytes[s.Ops[i].Op], new.objects[s.Ops[i].Op] = s.Ops[i].Bytes, s.Ops[i].Objects
	}
	h.samples = append(h.samples, new)
	if len(h.samples) > minute+1 {
		h.samples = slices.Delete(h.samples, 0, 1)
	}
	if n := len(h.samples); n > lately+1 { // not needed any more
		h.samples[n-lately-2].hosts, h.samples[n-lately-2].clients = nil, nil
	}
}

// silence returns for how long no request has ended.
func (h *history) silence(now int64) time.Duration { return time.Duration(now - h.changed) }

// rates returns the rates of an operation in each second of the last minute, in
// bytes, or in objects if it moves no payload.
func (h *history) rates(op *monitor.Op) (all []float64) {
	for i := 1; i < len(h.samples); i++ {
		old, new := &h.samples[i-1], &h.samples[i]
		seconds := float64(new.at-old.at) / 1e9
		n := growth(new.objects[op.Op], old.objects[op.Op])
		if op.Bytes > 0 {
			n = growth(new.bytes[op.Op], old.bytes[op.Op])
		}
		for range min(minute, max(1, int(seconds+.5))) { // more than one where warp itself was stopped
			all = append(all, n/seconds)
		}
	}
	return all[max(0, len(all)-minute):]
}

// growth returns by how much a total has grown. A total shrinks if a client is lost,
// whose share no longer counts.
func growth(now, before uint64) float64 { return float64(now - min(now, before)) }

// A recent has the figures of a host or a client in the last seconds.
type recent struct {
	*monitor.Part                // since the start
	bytes, objects float64       // per second
	mean           time.Duration // of the successful requests that ended; 0 where none did
}

// slowest lists the parts with what they did lately, the slowest first. One
// from which nothing came is slower than all others.
func (h *history) slowest(now int64, parts []monitor.Part, of func(*sample) []monitor.Part) []recent {
	var before map[string]*monitor.Part
	from := now
	for i := max(0, len(h.samples)-lately-1); i < len(h.samples) && before == nil; i++ {
		if old := of(&h.samples[i]); len(old) > 0 && h.samples[i].at < now {
			from, before = h.samples[i].at, make(map[string]*monitor.Part, len(old))
			for k := range old {
				before[old[k].Name] = &old[k]
			}
		}
	}
	seconds := float64(now-from) / 1e9
	all := make([]recent, len(parts))
	for i := range parts {
		all[i].Part = &parts[i]
		old := before[parts[i].Name]
		if old == nil {
			old = &monitor.Part{}
		}
		if seconds > 0 {
			all[i].bytes, all[i].objects = growth(parts[i].Bytes, old.Bytes)/seconds, growth(parts[i].Objects, old.Objects)/seconds
		}
		if n := growth(parts[i].Requests-parts[i].Errors, old.Requests-old.Errors); n > 0 {
			all[i].mean = max(0, time.Duration(float64(parts[i].Time.Sum-old.Time.Sum)/n))
		}
	}
	slices.SortStableFunc(all, func(a, b recent) int {
		if (a.mean == 0) != (b.mean == 0) {
			return cmp.Compare(a.mean, b.mean)
		}
		return cmp.Compare(b.mean, a.mean)
	})
	return all
}

func hostsOf(s *sample) []monitor.Part   { return s.hosts }
func clientsOf(s *sample) []monitor.Part { return s.clients }
