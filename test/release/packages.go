package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// linuxPackages has nfpm make a deb and an rpm for each architecture.
func (r *release) linuxPackages() error {
	for _, p := range platforms() {
		if p.os != "linux" {
			continue
		}
		for _, kind := range []string{"deb", "rpm"} {
			args := append(r.nfpm[1:len(r.nfpm):len(r.nfpm)], "package", "--config", "packaging/nfpm.yaml", "--packager", kind, "--target", r.packages())
			cmd := exec.Command(r.nfpm[0], args...)
			cmd.Env = append(os.Environ(), "VERSION="+r.number(), "ARCH="+p.arch, "DIST="+r.dist, "MAINTAINER="+r.maintainer,
				"SOURCE_DATE_EPOCH="+strconv.FormatInt(r.date.Unix(), 10))
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%s for %s: %w\n%s", kind, p.arch, err, out)
			}
		}
	}
	return nil
}
