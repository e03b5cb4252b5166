package commands

import (
	"strings"
	"time"

	"warp/cli/command"
	"warp/cli/files/series"
	"warp/cli/session"
	"warp/cli/terminal/redact"
)

// folderName returns a new name for the folder of a command's runs. It has none of the brackets of names of logs, which patterns
// of names take for sets.
func folderName(kind string) string {
	return "warp-" + kind + "-" + time.Now().Format("20060102-150405") + "-" + session.NewID()
}

// manifestOf describes a new folder of runs of the command kind, which share the command line of a benchmark.
func manifestOf(inv *command.Invocation, kind string, benchmark []string) (m series.Manifest, err error) {
	m = series.Manifest{Kind: kind, Warp: inv.Version, Created: time.Now().UTC(), Seed: session.NewSeed()}
	for _, arg := range benchmark {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		switch {
		case redact.IsSecret(name):
			m.Secrets = append(m.Secrets, name)
			continue
		case name == "seed":
			if m.Seed, err = session.ParseSeed(value); err != nil {
				return m, err
			}
		}
		m.Benchmark = append(m.Benchmark, inv.Hide.Text(arg))
	}
	return m, nil
}
