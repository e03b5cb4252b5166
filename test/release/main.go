// Command release makes releases from the binaries of "make cross": archives,
// packages for Debian and Red Hat, an image, bills of materials, and checksums.
// The same commit gives the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// A release is what is made, and from what.
type release struct {
	version string    // of the tag or commit, as warp prints it
	date    time.Time // of the commit; every file has it
	dist    string    // the folder with the binaries, and of what is made
	warp    string    // a binary for this machine, which prints manual pages and completion scripts
	nfpm    []string  // the command that makes packages

	maintainer string // of Debian packages
}

// A platform is an operating system and an architecture in Go's words.
type platform struct{ os, arch string }

func platforms() []platform {
	return []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}, {"windows", "amd64"}}
}

// binary is the file that make cross wrote.
func (r *release) binary(p platform) string {
	name := "warp-" + p.os + "-" + p.arch
	if p.os == "windows" {
		name += ".exe"
	}
	return filepath.Join(r.dist, name)
}

// sinceTag matches what git describe adds for commits after a tag: their number, and the last one.
var sinceTag = regexp.MustCompile(`-(\d+)-(g[0-9a-f]+)`)

// number is the version as packages have it. To dpkg and rpm, commits after a tag are newer than it, because of the
// plus; a prerelease such as dev is older than its release, because of the tilde. No other hyphen is allowed.
func (r *release) number() string {
	n := sinceTag.ReplaceAllString(strings.TrimPrefix(r.version, "v"), "+$1.$2")
	return strings.ReplaceAll(strings.Replace(n, "-", "~", 1), "-", ".")
}

func main() {
	var r release
	var date, nfpm string
	flag.StringVar(&r.version, "version", "", "version, such as v1.2.3")
	flag.StringVar(&date, "date", "", "date of the commit, RFC 3339")
	flag.StringVar(&r.dist, "dist", "dist", "folder of the binaries and of what is made")
	flag.StringVar(&r.maintainer, "maintainer", "", "maintainer of Debian packages, as in \"Name <name@example.org>\"")
	flag.StringVar(&r.warp, "warp", "./warp", "warp for this machine")
	flag.StringVar(&nfpm, "nfpm", "nfpm", "command that runs nfpm")
	flag.Parse()
	r.nfpm = strings.Fields(nfpm)
	var err error
	if r.date, err = time.Parse(time.RFC3339, date); err == nil {
		err = r.make()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// make removes what an earlier call has made, and makes all of it anew.
func (r *release) make() error {
	out := r.packages()
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, step := range []func() error{r.shareFiles, r.archives, r.linuxPackages, r.image, r.billsOfMaterials, r.checksums} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// packages is the folder of what is made.
func (r *release) packages() string { return filepath.Join(r.dist, "packages") }

// share is the folder of manual pages and the like, which the packages contain.
func (r *release) share() string { return filepath.Join(r.dist, "share") }
