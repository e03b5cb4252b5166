package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"warp/internal/human"
	"warp/pkg/oplog"
	"warp/pkg/oplog/merge"
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

// mergeLogs merges and says where the result is.
func mergeLogs(ctx context.Context, inv *invocation, benchdata string) error {
	path := logPath(benchdata, "merge", randomID())
	if err := checkLog(path); err != nil {
		return err
	}
	if err := tryFolder("--benchdata", path); err != nil {
		return err
	}
	stats, err := mergeTo(ctx, path, inv.args)
	if err != nil {
		return err
	}
	for _, w := range stats.Warnings {
		inv.warnf("%s", w)
	}
	return inv.showMerged("merge", stats)
}

// mergeTo makes one log at path of those that are named.
func mergeTo(ctx context.Context, path string, logs []string) (merge.Stats, error) {
	return merge.Logs(ctx, path, logs, merge.Options{
		Open: func(name string) (*oplog.Reader, error) {
			file, _, err := openFile(name)
			if err != nil {
				return nil, err
			}
			file.Close()
			return oplog.Open(name)
		},
	})
}

// showMerged says what the merged log has and where it is.
func (inv *invocation) showMerged(command string, s merge.Stats) error {
	switch {
	case inv.json:
		return inv.result(func(w io.Writer) error {
			return writeJSON(w, mergeResult{1, command, s.Path, s.Rows, s.Repeated, s.Runs, s.Clients, append([]string{}, s.Warnings...)})
		})
	case inv.quiet:
		return nil
	}
	return inv.result(func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "warp: %s of %s and %s merged into %q\n",
			human.Plural(s.Rows, "request"), human.Plural(s.Runs, "run"), human.Plural(s.Clients, "client"), s.Path)
		return err
	})
}

// mergeResult is what merge says with --json.
type mergeResult struct {
	Version  int    `json:"version"`
	Command  string `json:"command"`
	File     string `json:"file"`
	Rows     int64  `json:"rows"`
	Repeated int64  `json:"repeated"` // rows that several inputs had, written once
	Runs     int    `json:"runs"`
	Clients  int    `json:"clients"`

	Warnings []string `json:"warnings"`
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
