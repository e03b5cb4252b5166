package sweeper

import (
	"testing"

	"warp/cli/terminal/redact"
	"warp/pkg/sweep"
)

// The command of a sweep makes the same runs again.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	plan := Plan{Repeats: 3, Axes: []sweep.Axis{
		{Flag: "concurrent", Values: []string{"1", "2"}},
		{Flag: "host", Values: []string{"a:1,b:1", "c:1"}},
	}}
	got := redact.Quote(commandLine(plan, []string{"get", "--duration=1s"}))
	if want := "warp sweep --vary concurrent=1,2 --vary host=a:1,b:1 --vary host=c:1 --repeat=3 get --duration=1s"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
