// Package sink sends a run's records elsewhere while it runs: to InfluxDB,
// StatsD, Prometheus, and as text to standard output. A sink never makes the
// load wait: what its receiver does not take in time is dropped and counted.
package sink

import (
	"context"
	"time"

	"warp/pkg/oplog"
)

// Destinations say where the figures of a process go besides the log. They are
// values only, so that a coordinator can hand them to its clients.
type Destinations struct {
	Influx      *InfluxOptions `json:"influx,omitempty"` // nil = nowhere
	StatsD      string         `json:"statsd,omitempty"` // host:port
	StatsDProbe bool           `json:"statsd_probe,omitempty"`
	// StatsDLoader is the id of a loader whose metrics have the names that NVIDIA's aisloader gives them; "" = they have
	// warp's own.
	StatsDLoader string `json:"statsd_loader,omitempty"`
	Metrics      bool   `json:"metrics,omitempty"` // keep them for whoever fetches them
}

// An Export is a recording.Sink that says at the end what was lost; "" = nothing.
type Export interface {
	Write([]oplog.Record) error
	Flush() error
	Close() (lost string)
}

// MinInterval is how often totals go to InfluxDB at most.
const MinInterval = time.Second

// A receiver is a kind of place that figures go to.
type receiver struct {
	check func(*Destinations) error // nil = there is nothing to check
	// open begins to send, for the client of that id; nil where nobody asked for it.
	open func(d *Destinations, ctx context.Context, client string, warn func(text string)) (Export, error)
}

// receivers are all kinds. A new one is a row here, a field of Destinations, and
// a file.
func receivers() []receiver {
	return []receiver{
		{(*Destinations).checkInflux, (*Destinations).openInflux},
		{(*Destinations).checkStatsD, (*Destinations).openStatsD},
		{nil, (*Destinations).openMetrics},
	}
}

// Check refuses what the flags of a coordinator would have refused.
func (d *Destinations) Check() error {
	for _, r := range receivers() {
		if r.check == nil {
			continue
		}
		if err := r.check(d); err != nil {
			return err
		}
	}
	return nil
}

// Exports are all exports of one run.
type Exports struct {
	All     []Export
	Metrics *Metrics // one of All; nil where nobody wants them
}

// Open begins to send, for the client of that id. What would fail at once is an
// error; what may yet come right is a warning, and what fails later never
// touches the load.
func (d *Destinations) Open(ctx context.Context, client string, warn func(text string)) (*Exports, error) {
	e := &Exports{}
	for _, r := range receivers() {
		x, err := r.open(d, ctx, client, warn)
		if err != nil {
			e.Close()
			return nil, err
		}
		if x == nil {
			continue
		}
		e.All = append(e.All, x)
		if m, ok := x.(*Metrics); ok {
			e.Metrics = m
		}
	}
	return e, nil
}

// Close ends all exports and collects what they have lost. A second time it does
// nothing; the metrics stay.
func (e *Exports) Close() (lost []string) {
	if e == nil {
		return nil
	}
	for _, x := range e.All {
		if text := x.Close(); text != "" {
			lost = append(lost, text)
		}
	}
	e.All = nil
	return lost
}
