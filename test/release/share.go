package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// shareFiles writes manual pages, completion scripts and the unit for systemd,
// which runs the binary where packages put it.
func (r *release) shareFiles() error {
	if err := os.RemoveAll(r.share()); err != nil {
		return err
	}
	commands, err := r.commands()
	if err != nil {
		return err
	}
	pages := map[string][]string{"warp.1": nil}
	for _, c := range commands {
		pages["warp-"+c+".1"] = []string{c}
	}
	for name, args := range pages {
		page, err := r.run(append([]string{"__man"}, args...)...)
		if err != nil {
			return err
		}
		if err := r.write("man/"+name+".gz", compressed(page)); err != nil {
			return err
		}
	}
	for shell, name := range map[string]string{"bash": "warp", "fish": "warp.fish", "zsh": "_warp"} {
		script, err := r.run("completion", shell)
		if err != nil {
			return err
		}
		if err := r.write("completion/"+name, script); err != nil {
			return err
		}
	}
	unit, err := os.ReadFile("packaging/systemd/warp-client.service")
	if err != nil {
		return err
	}
	return r.write("systemd/warp-client.service", bytes.Replace(unit, []byte("/usr/local/bin/"), []byte("/usr/bin/"), 1))
}

// commands are those that completion offers.
func (r *release) commands() ([]string, error) {
	out, err := r.run("__complete", "")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range strings.Fields(string(out)) {
		if name != "help" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s lists no commands", r.warp)
	}
	return names, nil
}

// run returns what warp prints.
func (r *release) run(args ...string) ([]byte, error) {
	out, err := exec.Command(r.warp, args...).Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.warp, strings.Join(args, " "), err)
	}
	return out, nil
}

func (r *release) write(name string, text []byte) error {
	path := filepath.Join(r.share(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return err
	}
	return os.Chtimes(path, r.date, r.date)
}

// compressed has neither a name nor a time, so the same text gives the same
// bytes.
func compressed(text []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	w.Write(text)                                         // a Buffer takes all
	w.Close()
	return b.Bytes()
}
