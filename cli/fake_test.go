package cli

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/benchmarks"
	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/cli/session"
	"warp/cli/terminal/live"
	"warp/pkg/bench"
	"warp/pkg/counter"
	"warp/pkg/monitor"
)

// fakeCommands are shaped like a benchmark: flags of every type in a struct,
// preparation with a bar, a run with a live view.
func fakeCommands(env command.Environment) []*command.Command {
	var o struct {
		host, accessKey, secretKey, token, sel string
		size                                   int64
		duration                               time.Duration
		concurrent                             int
		maxErrors                              bench.ErrorLimit
		tls, stress                            bool
		add                                    []string
		progress                               session.ProgressFlags
	}
	return []*command.Command{{
		Name: "fake", Section: command.SectionBenchmark, Summary: "benchmark nothing",
		Examples: []string{"warp fake --duration=1s"},
		Groups: []command.Group{
			{Title: "Target", Flags: []cli.Flag{
				&cli.StringFlag{Name: "host", Value: "127.0.0.1:9000", Destination: &o.host, Sources: env.Vars("WARP_HOST"), Usage: "`HOST` to measure"},
				&cli.StringFlag{Name: "access-key", Destination: &o.accessKey, Sources: env.Vars("WARP_ACCESS_KEY"), Usage: "access `KEY`"},
				&cli.StringFlag{Name: "secret-key", Destination: &o.secretKey, Sources: env.Vars("WARP_SECRET_KEY"), Usage: "secret `KEY`"},
				&cli.BoolFlag{Name: "tls", Destination: &o.tls, Sources: env.Vars("WARP_TLS"), Usage: "use TLS"},
				&flagtype.Choice{Name: "host-select", Value: "weighed", Config: flagtype.Choices{"weighed", "roundrobin"}, Destination: &o.sel, Usage: "how `HOW`"},
			}, Also: []cli.Flag{
				&cli.StringFlag{Name: "session-token", Destination: &o.token, Sources: env.Vars("WARP_SESSION_TOKEN"), Usage: "session `TOKEN`"},
			}},
			{Title: command.WorkloadTitle, Flags: []cli.Flag{
				&flagtype.Size{Name: "obj.size", Value: 10 << 20, Destination: &o.size, Usage: "`SIZE` of objects"},
				&flagtype.Duration{Name: "duration", Value: 5 * time.Minute, Destination: &o.duration, Sources: env.Vars("WARP_DURATION"), Usage: "how long"},
				&cli.IntFlag{Name: "concurrent", Value: 20, Destination: &o.concurrent, Sources: env.Vars("WARP_CONCURRENT"), Usage: "workers"},
				&flagtype.Limit{Name: "max-errors", Destination: &o.maxErrors, Usage: "end when more fail"},
				&flagtype.List{Name: "add", Destination: &o.add, Usage: "`K=V`, repeatable"},
				&cli.BoolFlag{Name: "stress", Destination: &o.stress, Hidden: true, Usage: "no log"},
				o.progress.Flag(),
			}},
		},
		Absent: benchmarks.Absent(),
		Run: func(ctx context.Context, inv *command.Invocation) error {
			switch o.host {
			case "params":
				return json.NewEncoder(inv.Out).Encode(struct {
					Line   string
					Params map[string]string
				}{inv.Line, session.Parameters(inv)})
			case "fails":
				return exit.Errorf("cannot reach http://%s:%s@store: %s\n%s", o.accessKey, o.secretKey, o.secretKey, "second line").WithHint("start it")
			case "some-fail":
				return exit.Requestsf("3 of 100 requests failed")
			}
			return fakeRun(ctx, inv, o.duration, o.progress.Interval, o.host)
		},
	}}
}

// fakeRun goes through the phases of a run.
func fakeRun(ctx context.Context, inv *command.Invocation, length, interval time.Duration, host string) error {
	step := min(length/40, 100*time.Millisecond)
	if host == "slow" {
		step = length / 40
	}
	prepare := inv.View(interval).Bar(live.Task{Title: "Preparing", Unit: "objects", Total: 20})
	for range 20 {
		select {
		case <-time.After(step):
		case <-ctx.Done():
		}
		prepare.Add(1)
		prepare.Moved(1 << 20)
	}
	prepare.Finish()
	stopped := make(chan struct{})
	stopNow := sync.OnceFunc(func() { close(stopped) })
	run := inv.View(interval).Run(fakeSnapshot, length, live.Actions{Stop: stopNow, Mark: func(text string) error {
		inv.Notef("marked: %s", text)
		return nil
	}})
	select {
	case <-time.After(length):
	case <-stopped:
	case <-ctx.Done():
	}
	if host == "panics" {
		panic("on purpose")
	}
	run.Finish()
	if err := inv.Result(func(w io.Writer) error {
		_, err := io.WriteString(w, "the report\n")
		return err
	}); err != nil {
		return err
	}
	if ctx.Err() != nil {
		time.Sleep(length / 10) // cleaning up
		return context.Cause(ctx)
	}
	return nil
}

func fakeSnapshot() monitor.Snapshot {
	return monitor.Snapshot{Ops: []monitor.Op{
		{Op: "GET", Counter: counter.Counter{Requests: 12345, Bytes: 1 << 40}, P50: 1234 * time.Microsecond, P99: 25 * time.Millisecond,
			Current: monitor.Rate{Requests: 123.45, Bytes: 1234.5 * (1 << 20), Objects: 123.45},
			Average: monitor.Rate{Requests: 120, Bytes: 1200 * (1 << 20), Objects: 120}},
		{Op: "STAT", Counter: counter.Counter{Requests: 99, Errors: 7}, P50: 812 * time.Microsecond, P99: 2 * time.Second,
			Current: monitor.Rate{Requests: 9.9, Objects: 9.9},
			Average: monitor.Rate{Requests: 9, Objects: 9}},
	}}
}
