package cli

import (
	"context"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/internal/human"
	"warp/pkg/bench/recording"
	"warp/pkg/sink"
)

// exportFlags say where the figures of a run go besides the log.
type exportFlags struct {
	influx, statsd, metrics, gateway string
	statsdLoader                     string // see [sink.Destinations]
	influxEvery, statsdProbe         bool
	influxInterval                   time.Duration
	influxIntervalGiven              func() bool
}

func (f *exportFlags) flags(env command.Environment) []cli.Flag {
	interval := &flagtype.Duration{Name: "influxdb-interval", Hidden: true, Value: time.Second, Destination: &f.influxInterval, Validator: exportInterval,
		Usage: "with --influxdb: send a point per series every `TIME`"}
	f.influxIntervalGiven = interval.IsSet
	return []cli.Flag{
		&cli.StringFlag{Name: "influxdb", Destination: &f.influx, Sources: env.Vars("WARP_INFLUXDB_CONNECT"),
			Usage: "send totals to InfluxDB 2 at `URL`: http://TOKEN@HOST:8086/BUCKET/ORG?TAG=VALUE"},
		interval,
		&cli.BoolFlag{Name: "influxdb-every-request", Hidden: true, Destination: &f.influxEvery, Usage: "with --influxdb: also send a point per request"},
		&cli.StringFlag{Name: "statsd", Hidden: true, Destination: &f.statsd, Usage: "send metrics to StatsD at `HOST:PORT`"},
		&cli.BoolFlag{Name: "statsd-probe", Hidden: true, Value: true, Destination: &f.statsdProbe,
			Usage: "with --statsd: fail at the start if nothing seems to listen there"},
		&cli.StringFlag{Name: "metrics", Destination: &f.metrics, Usage: "serve metrics to Prometheus at `ADDRESS`, under /metrics"},
		&cli.StringFlag{Name: "pushgateway", Hidden: true, Destination: &f.gateway, Usage: "push metrics to the Pushgateway of Prometheus at `URL`"},
	}
}

func exportInterval(d time.Duration) error {
	if d < sink.MinInterval {
		return flagtype.Wrong("%s is too short; the minimum is %s", human.Duration(d), human.Duration(sink.MinInterval))
	}
	return nil
}

// check refuses what cannot work before anything is asked of anybody.
func (f *exportFlags) check() error {
	switch {
	case f.influx == "" && (f.influxEvery || f.influxIntervalGiven()):
		return exit.Usagef("--influxdb-every-request and --influxdb-interval need --influxdb")
	case f.statsd == "" && !f.statsdProbe:
		return exit.Usagef("--statsd-probe needs --statsd")
	}
	if f.influx != "" {
		if _, err := sink.ParseInflux(f.influx); err != nil {
			return exit.Usagef("--influxdb %w", err)
		}
	}
	if f.gateway != "" {
		if u, err := url.Parse(f.gateway); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" {
			return exit.Usagef("--pushgateway: %q is not a URL such as http://HOST:9091", f.gateway)
		}
	}
	for _, a := range []struct{ name, value string }{{"statsd", f.statsd}, {"metrics", f.metrics}} {
		if a.value == "" {
			continue
		}
		_, port, err := net.SplitHostPort(a.value)
		if err != nil {
			return exit.Usagef("--%s: %q is not a HOST:PORT", a.name, a.value)
		}
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return exit.Usagef("--%s: the port of %q is not a number up to 65535", a.name, a.value)
		}
	}
	return nil
}

// exports are where the figures of one run go.
type exports struct {
	*sink.Exports                  // nil at a coordinator, whose clients have them
	prometheus    *sink.Prometheus // nil without --metrics and --pushgateway
}

// destinations are for whoever makes the load. The flags were checked before.
func (f *exportFlags) destinations() sink.Destinations {
	d := sink.Destinations{StatsD: f.statsd, StatsDProbe: f.statsdProbe, StatsDLoader: f.statsdLoader, Metrics: f.showsMetrics()}
	if f.influx != "" {
		o, _ := sink.ParseInflux(f.influx)
		o.Every, o.Interval = f.influxEvery, f.influxInterval
		d.Influx = &o
	}
	return d
}

// open makes the exports that the flags ask for, but for those that clients have. What would fail at once is an
// error before the load; what fails later never touches it.
func (f *exportFlags) open(ctx context.Context, s *session) (all exports, err error) {
	d, metrics, instance := f.destinations(), s.load.metrics(), s.opts.RunID
	if metrics == nil {
		if all.Exports, err = d.Open(ctx, s.opts.ClientID, func(text string) { s.Warnf("%s", text) }); err != nil {
			return all, exit.Errorf("%w", err)
		}
		metrics, instance = all.Metrics.Clients, s.opts.ClientID
	}
	if d.Metrics {
		if all.prometheus, err = f.openPrometheus(s, instance, metrics); err != nil {
			all.close()
		}
	}
	return all, err
}

func (f *exportFlags) showsMetrics() bool { return f.metrics != "" || f.gateway != "" }

// openPrometheus shows what clients returns; instance tells runs apart at the Pushgateway.
func (f *exportFlags) openPrometheus(s *session, instance string, clients func() []sink.ClientCounts) (*sink.Prometheus, error) {
	p := sink.NewPrometheus(s.opts.Benchmark, clients)
	if f.metrics != "" {
		addr, err := p.Serve(f.metrics)
		if err != nil {
			return nil, exit.Errorf("--metrics: %w", err)
		}
		s.Notef("metrics at http://%s/metrics", addr)
	}
	if f.gateway != "" {
		p.Push(strings.TrimSuffix(f.gateway, "/"), instance)
	}
	return p, nil
}

func (all *exports) sinks() (sinks []recording.Sink) {
	if all.Exports == nil {
		return nil
	}
	for _, e := range all.All {
		sinks = append(sinks, e)
	}
	return sinks
}

// close ends all exports and collects what they have lost.
func (all *exports) close() (lost []string) {
	lost = all.Exports.Close()
	if all.prometheus != nil {
		if text := all.prometheus.Close(); text != "" {
			lost = append(lost, text)
		}
	}
	return lost
}

// end ends what is left where the run has failed, and what outlives a run: metrics that Prometheus still has to fetch.
func (all *exports) end(ctx context.Context, s *session) {
	all.close()
	p := all.prometheus
	if p == nil {
		return
	}
	if d := p.Lingers(); d > 0 && ctx.Err() == nil {
		s.Notef("serving the last metrics until they are fetched, for %s at most (Ctrl-C ends that)", human.Duration(d.Round(time.Second)))
	}
	p.End(ctx)
}
