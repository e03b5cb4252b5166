package plan

import (
	"testing"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/internal/check"
	"warp/pkg/bench"
	"warp/pkg/oplog"
)

// The line that begins a run says what ends it.
func TestEnd(t *testing.T) {
	t.Parallel()
	passes := &cli.IntFlag{Name: "epochs", Value: 2}
	check.OK(t, passes.PreParse())
	inv := &command.Invocation{Command: &command.Command{}}
	withPasses := &command.Invocation{Command: &command.Command{Groups: []command.Group{{Flags: []cli.Flag{passes}}}}}
	for want, c := range map[string]struct {
		inv *command.Invocation
		o   bench.Options
	}{
		"until Ctrl-C":             {inv, bench.Options{}},
		"1m":                       {withPasses, bench.Options{Duration: time.Minute, MaxObjects: 5}},
		"until 5 objects":          {inv, bench.Options{MaxObjects: 5}},
		"until 2MiB":               {inv, bench.Options{TotalSize: 2 << 20}},
		"2 passes":                 {withPasses, bench.Options{}},
		"until the end of the log": {inv, bench.Options{Replay: &oplog.Replay{}}},
	} {
		if got := end(c.inv, &c.o); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
