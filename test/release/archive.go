package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// beside are the files that archives contain besides the binary: the documentation, and what it links to. Packages for
// Debian and Red Hat have them, too (packaging/nfpm.yaml).
var beside = []string{"CHANGELOG.md", "CONTRIBUTING.md", "Dockerfile", "LICENSE", "NOTICE", "README.md", "docs", "fly", "grafana", "k8s",
	"packaging/systemd", "samples"}

// archives packs each binary with the documentation.
func (r *release) archives() error {
	for _, p := range platforms() {
		binary := "warp"
		if p.os == "windows" {
			binary = "warp.exe"
		}
		files := []entry{{binary, r.binary(p), 0o755}}
		for _, name := range beside {
			more, err := tree(name)
			if err != nil {
				return err
			}
			files = append(files, more...)
		}
		name := filepath.Join(r.packages(), fmt.Sprintf("warp_%s_%s_%s", r.number(), p.os, p.arch))
		var text []byte
		var err error
		if p.os == "windows" {
			name += ".zip"
			text, err = r.zip(files)
		} else {
			name += ".tar.gz"
			text, err = r.tar(files)
		}
		if err == nil {
			err = os.WriteFile(name, text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// An entry is a file of an archive.
type entry struct {
	name, source string
	mode         fs.FileMode
}

// tree lists the files of a folder, or the one file, in order.
func tree(name string) (files []entry, err error) {
	err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, entry{filepath.ToSlash(path), path, 0o644})
		}
		return err
	})
	return files, err
}

func (r *release) tar(files []entry) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		text, err := os.ReadFile(f.source)
		if err != nil {
			return nil, err
		}
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(text)), ModTime: r.date, Typeflag: tar.TypeReg, Format: tar.FormatPAX}); err != nil {
			return nil, err
		}
		if _, err := w.Write(text); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return compressed(b.Bytes()), nil
}

func (r *release) zip(files []entry) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		text, err := os.ReadFile(f.source)
		if err != nil {
			return nil, err
		}
		to, err := w.CreateHeader(&zip.FileHeader{Name: strings.TrimPrefix(f.name, "./"), Method: zip.Deflate, Modified: r.date})
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(text); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
