package cli

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"warp/pkg/bench"
	"warp/pkg/sink"
)

// exportFlags say where the figures of a run go besides the log.
type exportFlags struct {
	influx, statsd, metrics, gateway string
	influxEvery, statsdProbe         bool
	influxInterval                   time.Duration
}

func (f *exportFlags) flags(env environment) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "influxdb", Destination: &f.influx, Sources: env.vars("WARP_INFLUXDB_CONNECT"),
			Usage: "send totals to InfluxDB 2 at `URL`: http://TOKEN@HOST:8086/BUCKET/ORG?TAG=VALUE"},
		&durationFlag{Name: "influxdb-interval", Hidden: true, Value: time.Second, Destination: &f.influxInterval, Validator: exportInterval,
			Usage: "with --influxdb: `TIME` between two points of the same series"},
		&cli.BoolFlag{Name: "influxdb-every-request", Hidden: true, Destination: &f.influxEvery, Usage: "with --influxdb: send a point for each request"},
		&cli.StringFlag{Name: "statsd", Hidden: true, Destination: &f.statsd, Usage: "send metrics to StatsD at `HOST:PORT`"},
		&cli.BoolFlag{Name: "statsd-probe", Hidden: true, Value: true, Destination: &f.statsdProbe,
			Usage: "with --statsd: do not start where nobody listens, as far as that can be told"},
		&cli.StringFlag{Name: "metrics", Destination: &f.metrics, Usage: "serve metrics to Prometheus at `ADDRESS`, under /metrics"},
		&cli.StringFlag{Name: "pushgateway", Hidden: true, Destination: &f.gateway, Usage: "push metrics to the Pushgateway of Prometheus at `URL`"},
	}
}

func exportInterval(d time.Duration) error {
	if d < time.Second {
		return wrong("%s is too short; the least is 1s", shortDuration(d))
	}
	return nil
}

func (f *exportFlags) wanted() bool { return f.influx+f.statsd+f.metrics+f.gateway != "" }

// check refuses what cannot work before anything is asked of anybody.
func (f *exportFlags) check() error {
	switch {
	case f.influx == "" && (f.influxEvery || f.influxInterval != time.Second):
		return usageError("--influxdb-every-request and --influxdb-interval are of use with --influxdb only")
	case f.statsd == "" && !f.statsdProbe:
		return usageError("--statsd-probe is of use with --statsd only")
	}
	if f.influx != "" {
		if _, err := sink.ParseInflux(f.influx); err != nil {
			return usageError("--influxdb %w", err)
		}
	}
	if f.gateway != "" {
		if u, err := url.Parse(f.gateway); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" {
			return usageError("--pushgateway: %q is not a URL such as http://HOST:9091", f.gateway)
		}
	}
	for _, a := range []struct{ name, value string }{{"statsd", f.statsd}, {"metrics", f.metrics}} {
		if a.value == "" {
			continue
		}
		if _, _, err := net.SplitHostPort(a.value); err != nil {
			return usageError("--%s: %q is not a HOST:PORT", a.name, a.value)
		}
	}
	return nil
}

// An export is a sink that has something to say in the end: what was lost.
type export interface {
	bench.Sink
	Close() (lost string)
}

// exports are those of one run.
type exports []export

// open makes the exports that the flags ask for. What would fail at once is an
// error before the load; what fails later never touches it.
func (f *exportFlags) open(ctx context.Context, s *session) (all exports, err error) {
	defer func() {
		if err != nil {
			all.close()
			all.end(ctx, s)
			all = nil
		}
	}()
	if f.influx != "" {
		e, err := f.openInflux(ctx, s)
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
	if f.statsd != "" {
		e, err := f.openStatsD(s.opts.ClientID)
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
	if f.metrics != "" || f.gateway != "" {
		e, err := f.openPrometheus(s)
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
	return all, nil
}

func (f *exportFlags) openInflux(ctx context.Context, s *session) (export, error) {
	o, _ := sink.ParseInflux(f.influx) // check has done so
	o.ID, o.Every, o.Interval = s.opts.ClientID, f.influxEvery, f.influxInterval
	i := sink.NewInflux(o)
	if err := i.Check(ctx); errors.Is(err, sink.ErrRefused) {
		i.Close()
		return nil, runError("--influxdb: %s: %w", o.Server, err).tell("check the token, the bucket and the organisation in the URL")
	} else if err != nil {
		s.warnf("InfluxDB at %s: %v; the run goes on, and counts what does not arrive", o.Server, err)
	}
	return i, nil
}

func (f *exportFlags) openStatsD(client string) (export, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	e, err := sink.NewStatsD(f.statsd, host, client)
	if err != nil {
		return nil, runError("--statsd: %w", err)
	}
	if !f.statsdProbe {
		return e, nil
	}
	if err := e.Probe(); err != nil {
		e.Close()
		return nil, runError("--statsd: nobody listens at %s (%w)", f.statsd, err).
			tell("start the receiver, or leave out this check with --statsd-probe=false")
	}
	return e, nil
}

func (f *exportFlags) openPrometheus(s *session) (export, error) {
	p := sink.NewPrometheus(map[string]string{"benchmark": s.opts.Benchmark, "client": s.opts.ClientID})
	if f.metrics != "" {
		addr, err := p.Serve(f.metrics)
		if err != nil {
			return nil, runError("--metrics: %w", err)
		}
		s.notef("metrics at http://%s/metrics", addr)
	}
	if f.gateway != "" {
		p.Push(strings.TrimSuffix(f.gateway, "/"), s.opts.ClientID)
	}
	return p, nil
}

func (all exports) sinks() (sinks []bench.Sink) {
	for _, e := range all {
		sinks = append(sinks, e)
	}
	return sinks
}

// close ends all exports and collects what they have lost.
func (all exports) close() (lost []string) {
	for _, e := range all {
		if text := e.Close(); text != "" {
			lost = append(lost, text)
		}
	}
	return lost
}

// end ends what outlives the run: metrics that Prometheus still has to fetch.
func (all exports) end(ctx context.Context, s *session) {
	for _, e := range all {
		p, ok := e.(*sink.Prometheus)
		if !ok {
			continue
		}
		if d := p.Lingers(); d > 0 && ctx.Err() == nil {
			s.notef("serving the last metrics until they are fetched, for %s at most (Ctrl-C ends that)", shortDuration(d.Round(time.Second)))
		}
		p.End(ctx)
	}
}
