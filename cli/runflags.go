package cli

import (
	"warp/cli/autoterm"
	"warp/cli/clients"
	"warp/cli/exports"
	"warp/cli/marks"
	"warp/cli/plan"
	"warp/cli/profile"
	"warp/cli/runlog"
	"warp/cli/serverprof"
	"warp/cli/target"
	"warp/cli/upload"
	"warp/cli/webpage"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/store/engines"
)

// runFlags are the flags that a session needs.
type runFlags struct {
	target     target.Flags
	analysis   analysisFlags
	web        webpage.Flags
	asserts    assertFlags
	progress   progressFlags
	profile    profile.Flags
	fleet      clients.Flags
	sync       syncFlag
	autoterm   autoterm.Flags
	exports    exports.Flags
	trace      traceFlags
	upload     upload.Flags
	marks      marks.Flags
	serverprof string

	benchdata      string
	stress, stdout bool
	log            string // where the op log goes
	plan           string // of the run, in one line
}

func (f *runFlags) checkServerProfiles() error {
	if err := f.target.Require(f.serverprof != "", "--serverprof", engines.Profiles); err != nil {
		return err
	}
	return serverprof.Check(f.serverprof)
}

// logKind returns the kind of run in the name of a log.
func (f *runFlags) logKind(benchmark string) string {
	if f.fleet.Clients != "" {
		return "remote"
	}
	return benchmark
}

// planFiles adds the files of a run to its plan.
func (f *runFlags) planFiles(d *plan.DryRun, o *bench.Options) {
	switch {
	case f.stress:
		d.Say("no op log is written")
	default:
		d.Say("the op log is written to %s", runlog.PathOr(f.benchdata, "warp-"+f.logKind(o.Benchmark)+"-TIME-ID"+runlog.Suffix))
	}
	if f.upload.URL != "" {
		d.Say("the op log is uploaded to %s", f.upload.URL)
	}
	if f.progress.output != "" {
		d.Say("a line per operation is written to %s every %s", f.progress.output, human.Duration(f.progress.interval))
	}
}
