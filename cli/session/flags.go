package session

import (
	"github.com/urfave/cli/v3"

	"warp/cli/files/runlog"
	"warp/cli/reports"
	"warp/cli/session/exports"
	"warp/cli/session/marks"
	"warp/cli/session/plan"
	"warp/cli/session/serverprof"
	"warp/cli/session/upload"
	"warp/cli/session/webpage"
	"warp/cli/target"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/oplog"
	"warp/pkg/store/provider"
)

// RunFlags are the flags that a session needs.
type RunFlags struct {
	Target     target.Flags
	Analysis   reports.AnalysisFlags
	Web        webpage.Flags
	Asserts    reports.AssertFlags
	Progress   ProgressFlags
	Profile    ProfileFlags
	Fleet      FleetFlags
	Sync       syncFlag
	Autoterm   AutotermFlags
	Exports    exports.Flags
	Trace      traceFlags
	Upload     upload.Flags
	Marks      marks.Flags
	Serverprof string

	Benchdata      string
	Stress, Stdout bool
	Log            string // where the op log goes
	Plan           string // of the run, in one line
}

// LogFlag names the op log.
func (f *RunFlags) LogFlag() cli.Flag {
	return &cli.StringFlag{Name: "benchdata", Destination: &f.Benchdata, DefaultText: "warp-COMMAND-TIME-ID", Usage: "write the op log to `NAME`.csv.zst"}
}

func (f *RunFlags) CheckServerProfiles() error {
	if err := f.Target.Require(f.Serverprof != "", "--serverprof", provider.Profiles); err != nil {
		return err
	}
	return serverprof.Check(f.Serverprof)
}

// LogKind returns the kind of run in the name of a log.
func (f *RunFlags) LogKind(benchmark string) string {
	if f.Fleet.Clients != "" {
		return "remote"
	}
	return benchmark
}

// LogPlan is the start of the line about the op log in a plan.
const LogPlan = "the op log is written to "

// PlanFiles adds the files of a run to its plan.
func (f *RunFlags) PlanFiles(d *plan.DryRun, o *bench.Options) {
	switch {
	case f.Stress:
		d.Say("no op log is written")
	default:
		d.Say(LogPlan+"%s", runlog.PathOr(f.Benchdata, "warp-"+f.LogKind(o.Benchmark)+"-TIME-ID"+oplog.Suffix))
	}
	if f.Upload.URL != "" {
		d.Say("the op log is uploaded to %s", f.Upload.URL)
	}
	if f.Progress.Output != "" {
		d.Say("a line per operation is written to %s every %s", f.Progress.Output, human.Duration(f.Progress.Interval))
	}
}
