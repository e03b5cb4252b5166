package cli

import (
	"warp/cli/autoterm"
	"warp/cli/clients"
	"warp/cli/exports"
	"warp/cli/marks"
	"warp/cli/profile"
	"warp/cli/target"
	"warp/cli/upload"
	"warp/cli/webpage"
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
