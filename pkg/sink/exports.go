package sink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"time"

	"warp/pkg/oplog"
)

// Destinations say where the figures of a process go besides the log. They are
// values only, so that a coordinator can hand them to its clients.
type Destinations struct {
	Influx      *InfluxOptions `json:"influx,omitempty"` // nil = nowhere
	StatsD      string         `json:"statsd,omitempty"` // host:port
	StatsDProbe bool           `json:"statsd_probe,omitempty"`
	Metrics     bool           `json:"metrics,omitempty"` // keep them for whoever fetches them
}

// An Export is a sink that tells in the end what was lost; "" = nothing.
type Export interface {
	Write([]oplog.Record) error
	Flush() error
	Close() (lost string)
}

// LeastInterval is how often totals go to InfluxDB at most.
const LeastInterval = time.Second

// Check refuses what the flags of a coordinator would have refused.
func (d *Destinations) Check() error {
	if d.StatsD != "" {
		if _, _, err := net.SplitHostPort(d.StatsD); err != nil {
			return fmt.Errorf("the address of StatsD: %w", err)
		}
	}
	if d.Influx == nil {
		return nil
	}
	u, err := url.Parse(d.Influx.Server)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Scheme+"://"+u.Host != d.Influx.Server:
		return errors.New("the address of InfluxDB is not http://HOST:PORT or https://HOST:PORT")
	case d.Influx.Interval != 0 && d.Influx.Interval < LeastInterval:
		return fmt.Errorf("points for InfluxDB every %v are too many", d.Influx.Interval)
	}
	return nil
}

// Exports are those of one run.
type Exports struct {
	All     []Export
	Metrics *Metrics // one of All; nil where nobody wants them
}

// Open begins to send, for the client of that id. What would fail at once is an
// error; what may yet come right is a warning, and what fails later never
// touches the load.
func (d *Destinations) Open(ctx context.Context, client string, warn func(text string)) (*Exports, error) {
	e := &Exports{}
	if d.Influx != nil {
		i, err := d.openInflux(ctx, client, warn)
		if err != nil {
			return nil, err
		}
		e.All = append(e.All, i)
	}
	if d.StatsD != "" {
		s, err := d.openStatsD(client)
		if err != nil {
			e.Close()
			return nil, err
		}
		e.All = append(e.All, s)
	}
	if d.Metrics {
		e.Metrics = NewMetrics(client)
		e.All = append(e.All, e.Metrics)
	}
	return e, nil
}

func (d *Destinations) openInflux(ctx context.Context, client string, warn func(text string)) (*Influx, error) {
	o := *d.Influx
	o.ID = client
	i := NewInflux(o)
	switch err := i.Check(ctx); {
	case errors.Is(err, ErrRefused):
		i.Close()
		return nil, fmt.Errorf("--influxdb: %s: %w; check the token, the bucket and the organisation in the URL", o.Server, err)
	case err != nil:
		warn(fmt.Sprintf("InfluxDB at %s: %v; the run goes on, and counts what does not arrive", o.Server, err))
	}
	return i, nil
}

func (d *Destinations) openStatsD(client string) (*StatsD, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	s, err := NewStatsD(d.StatsD, host, client)
	if err != nil {
		return nil, fmt.Errorf("--statsd: %w", err)
	}
	if !d.StatsDProbe {
		return s, nil
	}
	if err := s.Probe(); err != nil {
		s.Close()
		return nil, fmt.Errorf("--statsd: nobody listens at %s (%w); start the receiver, or leave out this check with --statsd-probe=false", d.StatsD, err)
	}
	return s, nil
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
