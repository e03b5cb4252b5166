package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// checksums writes the SHA-256 of every file, in the format of sha256sum.
func (r *release) checksums() error {
	var b strings.Builder
	err := filepath.WalkDir(r.packages(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(r.packages(), path)
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(text), filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.packages(), "checksums.txt"), []byte(b.String()), 0o644)
}
