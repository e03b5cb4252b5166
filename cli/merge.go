package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"warp/pkg/oplog"
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
	stats, err := oplog.Merge(ctx, logPath(benchdata, "merge", randomID()), inv.args, oplog.MergeOptions{
		Open: func(name string) (*oplog.Reader, error) {
			file, _, err := openFile(name)
			if err != nil {
				return nil, err
			}
			file.Close()
			return oplog.Open(name)
		},
	})
	if err != nil {
		return err
	}
	for _, w := range stats.Warnings {
		inv.warnf("%s", w)
	}
	return inv.result(func(w io.Writer) error {
		if inv.json {
			return writeJSON(w, mergeResult{1, "merge", stats.Path, stats.Rows, stats.Repeated, stats.Runs, stats.Clients})
		}
		return printLines(w, []string{"warp: " + mergedText(stats)})
	})
}

func mergedText(s oplog.MergeStats) string {
	return fmt.Sprintf("%d requests of %s and %s merged into %q",
		s.Rows, plural(s.Runs, "run"), plural(s.Clients, "client"), s.Path)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
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
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// logPath is where an op log goes: the name that was given with --benchdata, or
// one that tells what was done, and when.
func logPath(benchdata, benchmark, id string) string {
	const suffix = ".csv.zst"
	if benchdata == "" {
		return oplog.DefaultName(benchmark, time.Now(), id)
	}
	return strings.TrimSuffix(benchdata, suffix) + suffix
}
