package commands

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files"
	"warp/cli/files/runlog"
	"warp/cli/reports"
	"warp/pkg/report"
	"warp/pkg/report/page"
	"warp/pkg/workload"
	"warp/pkg/workload/accesslog"
)

// workloadCommand makes a profile of logs.
func workloadCommand() *command.Command {
	var out string
	var html reports.HTMLFlag
	return &command.Command{
		Name: "workload", Args: "FILE [FILE…]", Section: command.SectionAnalysis,
		Summary: "describe the load in access logs or op logs, without names",
		About: []string{
			"FILE is a server access log of S3 (text, or JSON from CloudWatch), an audit log of MinIO or RustFS,",
			"an op log, or a folder of these; - is standard input. warp recognises the format, also of compressed",
			"files. The profile has mix, sizes, popularity, ranges, arrivals and reuse, but no key or address.",
		},
		Examples: []string{
			"warp workload access-logs/ -o production.json",
			"warp workload audit.json.gz --html=audit.html",
			"warp workload run.csv.zst",
		},
		Groups: []command.Group{{Title: command.FilesTitle, Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Destination: &out, TakesFile: true, Usage: "also write the profile to `FILE`, as JSON"},
			html.Flag(),
		}}},
		MinArgs: 1, MaxArgs: -1, Needs: "at least one log",
		Run: func(ctx context.Context, inv *command.Invocation) error {
			if err := files.Ready("--out", out); err != nil {
				return err
			}
			if out != "" && filepath.Clean(out) == filepath.Clean(html.Path) {
				return exit.Usagef("--out and --html name the same file")
			}
			if err := html.Ready(); err != nil {
				return err
			}
			p, err := profileLogs(ctx, inv)
			if err != nil {
				return err
			}
			return showWorkload(inv, p, out, &html)
		},
	}
}

// showWorkload shows the profile, and writes the files.
func showWorkload(inv *command.Invocation, p *workload.Profile, out string, html *reports.HTMLFlag) error {
	err := inv.Result(func(w io.Writer) error {
		if inv.JSON {
			return p.Write(w)
		}
		return report.ProfileText(w, p, reports.TextOptions(inv, false))
	})
	if out != "" {
		if failed := files.WriteNew(out, p.Write); failed != nil {
			return exit.Join(err, exit.Errorf("--out: %w", failed))
		}
		inv.Notef("profile written to %q", out)
	}
	return exit.Join(err, reports.SavePage(inv, html, func(page.Options) *page.Page { return page.Profile(p) }))
}

// profileLogs makes the profile of the logs that the arguments name.
func profileLogs(ctx context.Context, inv *command.Invocation) (*workload.Profile, error) {
	paths, err := logsOf(inv.Args)
	if err != nil {
		return nil, err
	}
	if len(paths) > 1 && areOpLogs(paths) { // of the clients of a run, whose requests belong together
		path, warnings, remove, err := mergedLog(ctx, paths)
		if err != nil {
			return nil, err
		}
		defer remove()
		for _, w := range warnings {
			inv.Warnf("%s", w)
		}
		paths = []string{path}
	}
	c := workload.NewCollector()
	logs := make([]accesslog.Log, len(paths))
	for i, path := range paths {
		logs[i] = sourceOf(ctx, inv, path)
	}
	warnings, err := accesslog.ReadAll(ctx, logs, c)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		inv.Warnf("%s", w)
	}
	p := c.Profile()
	if err := c.Disorder(); err != nil {
		return nil, exit.Errorf("the logs are not in the order of time: %w", err).WithHint("give each log as a file of its own; warp reads the files in the order of time")
	}
	if p.Requests == 0 {
		return nil, exit.Errorf("the logs contain no requests").WithHint("requests of the preparation of a run do not count")
	}
	return p, nil
}

// sourceOf returns the log at path, or on standard input.
func sourceOf(ctx context.Context, inv *command.Invocation, path string) accesslog.Log {
	if path == "-" {
		return accesslog.Log{Name: "standard input", Once: true, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(runlog.Cancelled(ctx, inv.In)), nil
		}}
	}
	return accesslog.Log{Name: path, Once: isPipe(path), Open: func() (io.ReadCloser, error) {
		inv.Debugf("opening %s", path)
		f, err := os.Open(path)
		if err != nil {
			return nil, exit.Errorf("cannot open the log %s: %w", path, files.Reason(err))
		}
		return f, nil
	}}
}

// isPipe reports whether a file can be read only once, as <(zcat log.gz) of a shell.
func isPipe(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// logsOf returns the files that the arguments name.
func logsOf(args []string) (paths []string, err error) {
	for _, arg := range args {
		if arg == "-" && slices.Contains(paths, "-") {
			return nil, exit.Usagef("standard input is given twice").WithHint("give a file instead of the second -")
		}
		info, err := os.Stat(arg)
		if arg == "-" || err != nil || !info.IsDir() {
			paths = append(paths, arg)
			continue
		}
		before := len(paths)
		err = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			info, err := d.Info()
			if err == nil && info.Size() > 0 { // stores and log rotation leave empty files
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			return nil, exit.Errorf("cannot read the folder %s: %w", arg, files.Reason(err))
		}
		if len(paths) == before {
			return nil, exit.Errorf("the folder %s contains no files, or only empty ones", arg)
		}
	}
	return paths, nil
}

// areOpLogs reports whether all files are op logs. For a pipe that is not known.
func areOpLogs(paths []string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool {
		if isPipe(path) {
			return true
		}
		f, err := os.Open(path)
		if err != nil {
			return true
		}
		defer f.Close()
		return !accesslog.IsOpLog(f)
	})
}
