// Package identity gives workloads names. Two runs have the same identity if they made the same load: the same requests, for
// objects of the same sizes, as many at a time or per second. Their place, user and length do not matter.
//
// The identity is a hash of the settings that define the load, in a form that does not depend on how they were given: sizes are in
// bytes, defaults are filled in, and workers, rates and objects are sums of all clients.
package identity

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"warp/pkg/oplog"
)

// edition is part of every identity. It changes when the meaning of a setting does, so that runs from before and after the
// change do not pass for the same workload.
const edition = 1

// idBytes is how much of the hash is the identity.
const idBytes = 8

// Of returns the workload of a run that this many clients make together. The header has its command, parameters and statements.
func Of(h *oplog.Header, clients int) oplog.Workload {
	settings, err := settingsOf(h, int64(max(clients, 1)))
	if err != nil {
		return oplog.Workload{Unknown: err.Error()}
	}
	id, err := hashOf(settings)
	if err != nil {
		return oplog.Workload{Unknown: err.Error()}
	}
	return oplog.Workload{ID: id, Settings: settings}
}

// Recorded returns the workload that a log names, and for logs that name none, the workload that follows from their parameters.
func Recorded(h *oplog.Header) oplog.Workload {
	if h.Workload != nil {
		return *h.Workload
	}
	runs, clients := map[string]bool{}, map[string]bool{}
	for _, o := range h.Merged {
		runs[o.Run], clients[o.Client] = true, true
	}
	if len(runs) > 1 {
		return SeveralRuns()
	}
	return Of(h, len(clients))
}

// SeveralRuns returns the workload of several runs together, which is unknown.
func SeveralRuns() oplog.Workload {
	return oplog.Workload{Unknown: "these are several runs, which may have been at the same time or one after the other"}
}

// hashOf returns the identity of settings: the first 16 hexadecimal digits of the SHA-256 of their JSON, which has the names in
// order and no spaces.
func hashOf(settings map[string]string) (string, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(settings); err != nil {
		return "", fmt.Errorf("the settings of the workload: %w", err)
	}
	sum := sha256.Sum256(bytes.TrimSuffix(text.Bytes(), []byte("\n")))
	return hex.EncodeToString(sum[:idBytes]), nil
}

// A run is the source of the settings.
type run struct {
	*oplog.Header
	clients int64
}

func (r *run) on(flag string) bool {
	text := r.Parameters[flag]
	return text != "" && text != "false" && text != "0"
}

// existing reports whether the run uses existing objects, which no flag describes.
func (r *run) existing() bool { return r.on("list-existing") || r.on("filelist") }

func settingsOf(h *oplog.Header, clients int64) (map[string]string, error) {
	if h.Benchmark == "" || len(h.Parameters) == 0 {
		return nil, errors.New("the log does not record the settings of the run")
	}
	r := &run{h, clients}
	for _, flag := range []string{"client-count", "loadernum"} { // clients that were started by hand
		if n, err := strconv.ParseInt(h.Parameters[flag], 10, 64); err == nil && n > 1 {
			r.clients *= n
		}
	}
	settings := map[string]string{"edition": strconv.Itoa(edition), "operation": h.Benchmark}
	for _, s := range Table() {
		value, known := h.Parameters[s.Flag]
		if s.Role != Defines || !known {
			continue
		}
		text, err := s.form(value, r)
		if err != nil {
			return nil, fmt.Errorf("%s of the run is %q: %w", s.Flag, value, err)
		}
		if text != "" && text != s.Usual {
			settings[s.Flag] = text
		}
	}
	if h.Checks != nil {
		settings["properties"] = strings.Join(h.Checks.Properties, ",")
	}
	if h.Like != "" {
		settings["profile"] = h.Like
	}
	if h.Replay != nil {
		settings["log"] = h.Replay.Run
	}
	if h.Benchmark == "script" {
		return settings, addStatements(settings, h.Statements)
	}
	return settings, nil
}
