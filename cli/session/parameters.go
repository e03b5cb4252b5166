package session

import (
	"warp/cli/command"
	"warp/cli/reports"
)

// Parameters lists the flags of the command with their effective values, as
// op logs record them: without secrets, and without flags that do not change
// the measurement, such as the name of the log. Logs record the statements of
// a script separately.
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
