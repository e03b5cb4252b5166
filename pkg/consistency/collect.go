package consistency

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"warp/pkg/oplog"
)

// A Collector makes a [Log] of the records of an op log.
type Collector struct {
	operations []Operation
	clients    map[int]string // the names of clients by their numbers in tokens
	keys       map[string]string
}

// Add takes the next records.
func (c *Collector) Add(records []oplog.Record) {
	for i := range records {
		r := &records[i]
		if r.Check == nil {
			continue
		}
		if t, ok := ParseToken(r.Check.Sent); ok {
			if c.clients == nil {
				c.clients = map[int]string{}
			}
			c.clients[t.Client] = r.Client
		}
		key, known := c.keys[r.Key]
		if !known {
			if c.keys == nil {
				c.keys = map[string]string{}
			}
			key = strings.Clone(r.Key) // the key of a record is overwritten by the next one
			c.keys[key] = key
		}
		start, end := r.Span()
		c.operations = append(c.operations, Operation{
			Check: r.Check, Op: r.Op, Key: key, Run: r.Run, Client: r.Client, Thread: r.Thread, Endpoint: r.Endpoint,
			Err: r.Err, Status: r.Status, Start: start, End: end,
		})
	}
}

// Log returns what was recorded. The operations are as wide as the clocks of the clients demand.
func (c *Collector) Log(h oplog.Header, t oplog.Trailer, marks []oplog.Mark) *Log {
	log := &Log{Operations: c.operations, Marks: marks, ClockError: clockError(h, c.operations), Complete: c.complete(h, t), CutOff: c.cutOff(h, t)}
	if h.Checks != nil {
		log.Checks = *h.Checks
	}
	if w := t.Window; w != nil {
		log.Seconds = time.Duration(w.End - w.Start).Seconds()
	}
	if wide := int64(log.ClockError); wide > 0 {
		for i := range log.Operations {
			log.Operations[i].Start -= wide
			log.Operations[i].End += wide
		}
	}
	return log
}

// clockDrift is how much faster one clock may run than another, per ns: 100 ppm, twice what crystals of machines differ by.
const clockDrift = 100e-6

// clockError returns how far the time of a client may be wrong: as far as its measurement before the run was, and as far as
// the clocks may have drifted apart since. A log of one client has one clock.
func clockError(h oplog.Header, operations []Operation) (worst time.Duration) {
	if len(h.Merged) < 2 {
		return 0
	}
	for _, o := range h.Merged {
		worst = max(worst, time.Duration(o.Header.ClockError))
	}
	first, last := int64(math.MaxInt64), int64(0)
	for i := range operations {
		first, last = min(first, operations[i].Start), max(last, operations[i].End)
	}
	return worst + time.Duration(clockDrift*float64(max(0, last-first)))
}

// lanesGap is how much later the requests of a worker's lanes may be written to the log than its other requests.
const lanesGap = int64(time.Second)

// cutOff returns from when on the log of each client that has no end may lack requests: since the last request of any of
// its threads, which may have sent another one that is not recorded.
func (c *Collector) cutOff(h oplog.Header, t oplog.Trailer) map[string]int64 {
	whole := wholeLogs(h, t)
	ends := map[string]map[uint32]int64{}
	for i := range c.operations {
		o := &c.operations[i]
		if whole[o.Client] {
			continue
		}
		if ends[o.Client] == nil {
			ends[o.Client] = map[uint32]int64{}
		}
		ends[o.Client][o.Thread] = max(ends[o.Client][o.Thread], o.End)
	}
	cut := make(map[string]int64)
	for client, threads := range ends {
		cut[client] = slices.Min(slices.Collect(maps.Values(threads))) - lanesGap
	}
	return cut
}

// complete returns the numbers of the clients whose logs have an end.
func (c *Collector) complete(h oplog.Header, t oplog.Trailer) map[int]bool {
	whole := wholeLogs(h, t)
	all := make(map[int]bool)
	for number, client := range c.clients {
		all[number] = whole[client]
	}
	return all
}

// wholeLogs returns the names of the clients whose logs have an end.
func wholeLogs(h oplog.Header, t oplog.Trailer) map[string]bool {
	whole := map[string]bool{h.Client: t.End != ""}
	for i, o := range h.Merged {
		whole[o.Client] = i < len(t.Merged) && t.Merged[i] != nil
	}
	return whole
}
