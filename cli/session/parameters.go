package session

import (
	"warp/cli/command"
	"warp/cli/reports"
)

// Parameters lists the flags of the command with their effective values, as
// they are recorded in an op log. Secrets are left out of it, and so is what
// does not change what is measured: two runs that differ in the name of their
// log do not differ. The log has the statements of a script by themselves.
func Parameters(inv *command.Invocation) map[string]string {
	params := make(map[string]string)
	for _, g := range inv.Command.Groups {
		if g.Title == command.OutputTitle || g.Title == command.AnalysisTitle {
			continue
		}
		for _, f := range g.All() {
			name := f.Names()[0]
			if name == "script" || name == "benchdata" || name == "stats-interval" || name == "stats-output" || name == "dry-run" || name == "html" || name == "web" || name == "serve" || reports.IsAssertion(name) {
				continue
			}
			params[name] = inv.Shown(f)
		}
	}
	return params
}
