package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"warp/cli/command"
)

// Set when a release is linked: -ldflags "-X warp/cli.version=v1.2.3 …".
var version, commit, date string

// A build is the origin of the binary.
type build struct{ version, commit, date string }

// thisBuild falls back to what the Go tool recorded, so that a binary from
// `go install` or `go build` also says where it comes from.
func thisBuild() build {
	b := build{version, commit, date}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	dirty := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && b.commit == "":
			b.commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.time" && b.date == "":
			b.date = s.Value
		case s.Key == "vcs.modified" && s.Value == "true" && commit == "":
			dirty = "-modified"
		}
	}
	if b.commit != "" {
		b.commit += dirty
	}
	if b.version == "" {
		b.version = moduleVersion(info.Main.Version, b.commit)
	}
	if b.commit == "" {
		b.commit = "unknown"
	}
	if b.date == "" {
		b.date = "unknown"
	}
	return b
}

// moduleVersion returns the version that the Go tool recorded. Without a tag it
// is older than any release.
func moduleVersion(recorded, commit string) string {
	tagged := recorded != "" && recorded != "(devel)" && !strings.HasPrefix(recorded, "v0.0.0-")
	switch {
	case tagged:
		return recorded
	case commit == "":
		return "0.0.0-dev"
	}
	return "0.0.0-dev+" + commit
}

// versionCommand prints where the binary comes from. It is called as
// `warp --version` as well, so the help of warp does not list it.
func versionCommand() *command.Command {
	return &command.Command{
		Name: "version", Summary: "print version, commit and date",
		Run: func(_ context.Context, inv *command.Invocation) error {
			return inv.Resultf("%s\n", thisBuild())
		},
	}
}

func (b build) String() string {
	return fmt.Sprintf("warp %s (commit %s, %s, %s %s/%s)",
		b.version, b.commit, b.date, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
