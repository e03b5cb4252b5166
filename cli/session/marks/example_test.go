package marks_test

import (
	"fmt"
	"os"
	"time"

	"warp/cli/session/marks"
	"warp/cli/terminal/console"
	"warp/cli/terminal/redact"
	"warp/pkg/oplog"
)

func ExampleMarker() {
	noVariables := func(string) (string, bool) { return "", false }
	out := console.New(console.Streams{Out: os.Stdout, Err: os.Stderr}, noVariables, console.Options{Quiet: true}, redact.New(nil, noVariables))
	m := marks.New(out, func(text string) (oplog.Mark, error) { return oplog.Mark{At: time.Now().UnixNano(), Text: text}, nil })
	_, _ = m.Mark("node 3 stopped")
	_, _ = m.Mark("node 3 is back")
	for _, mark := range m.All() {
		fmt.Println(mark.Text)
	}
	// Output:
	// node 3 stopped
	// node 3 is back
}
