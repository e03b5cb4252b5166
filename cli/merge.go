package cli

import (
	"context"
	"encoding/json"
	"io"

	"github.com/urfave/cli/v3"
)

// mergeCommand makes one op log of many.
func mergeCommand() *command {
	var benchdata string
	return &command{
		name: "merge", args: "FILE FILE [FILE…]", section: sectionAnalysis,
		summary: "merge the op logs of several clients into one",
		about: []string{
			"The merged log is analysed as if its requests had been made by one client. Between different runs",
			"only the time counts in which they overlap.",
		},
		examples: []string{"warp merge client1.csv.zst client2.csv.zst --benchdata=both"},
		groups: []flagGroup{{title: groupFiles, flags: []cli.Flag{
			&cli.StringFlag{Name: "benchdata", Destination: &benchdata, TakesFile: true,
				DefaultText: "warp-merge-…", Usage: "write the merged log to `NAME`.csv.zst"},
		}}},
		minArgs: 2, maxArgs: -1, needs: "two op logs or more",
		run: func(ctx context.Context, inv *invocation) error {
			return mergeLogs(ctx, inv, benchdata)
		},
	}
}

// mergeResult is what merge says with --json.
type mergeResult struct {
	Version int    `json:"version"`
	Command string `json:"command"`
	File    string `json:"file"`
	Rows    int64  `json:"rows"`
}

func (r mergeResult) write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
