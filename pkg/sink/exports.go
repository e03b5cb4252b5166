// Package sink sends a run's records to other programs while it runs: to InfluxDB, StatsD and
// Prometheus, and as text to standard output. A sink never makes the load wait: what its receiver
// does not accept in time is dropped and counted.
package sink

import (
	"context"
	"time"

	"warp/pkg/oplog"
)

// Destinations lists where a process sends its metrics. The op log is not one of them. It contains only values, so
// that a coordinator can pass it to its clients.
type Destinations struct {
	Influx      *InfluxOptions `json:"influx,omitempty"` // nil = nowhere
	StatsD      string         `json:"statsd,omitempty"` // host:port
	StatsDProbe bool           `json:"statsd_probe,omitempty"`
	// StatsDLoader is the id of a loader, whose metrics then have the names of NVIDIA's aisloader;
	// "" = warp's own names.
	StatsDLoader string `json:"statsd_loader,omitempty"`
	Metrics      bool   `json:"metrics,omitempty"` // keep them for Prometheus
}

// An Export is a recording.Sink whose Close returns what was lost; "" = nothing.
type Export interface {
	Write([]oplog.Record) error
	Flush() error
	Close() (lost string)
}

// MinInterval is the min interval of totals for InfluxDB.
const MinInterval = time.Second

// A receiver is a kind of destination.
type receiver struct {
	check func(*Destinations) error // nil = nothing to check
	// open starts sending, for the client with that id. It returns nil if the destination is not
	// set.
	open func(d *Destinations, ctx context.Context, client string, warn func(text string)) (Export, error)
}

// receivers lists all kinds. A new one is a row here, a field of Destinations, and a file.
func receivers() []receiver {
	return []receiver{
		{(*Destinations).checkInflux, (*Destinations).openInflux},
		{(*Destinations).checkStatsD, (*Destinations).openStatsD},
		{nil, (*Destinations).openMetrics},
	}
}

// Check rejects what the flags of a coordinator would have rejected.
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
	Metrics *Metrics // one of All; nil if it is not wanted
}

// Open starts sending, for the client with that id. It returns an error for what would fail at
// once, and a warning for what may still work. Later failures never affect the load.
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

// Close ends all exports and returns a text about each that lost records. A second call does nothing. The metrics
// stay.
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
