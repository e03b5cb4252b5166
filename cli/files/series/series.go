// Package series keeps runs that belong together in a folder: their op logs, and a manifest that describes each of them.
//
// [Create] makes the folder, and [Open] opens one that exists. Both lock it, so that two processes cannot add to it; [Read]
// reads the manifest only. A command that knows its runs in advance adds all of them before the first one begins; a
// search adds each run as it decides on it. [Folder.Begin] saves that a run is going on, before its process starts, and
// [Folder.Done], [Folder.Failed] or [Folder.Abandon] how it ended. After a crash or an interrupt, the runs that are not done are those that are
// missing: Begin sets what is left of their logs aside, in the folder incomplete, and they are made again.
package series

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"warp/cli/exit"
	"warp/cli/files"
	"warp/internal/tempfile"
	"warp/internal/wholefile"
	"warp/pkg/oplog"
)

// ManifestName is the name of the manifest in its folder.
const ManifestName = "manifest.json"

// incomplete is the folder of incomplete logs.
const incomplete = "incomplete"

// maxManifest limits the size of a manifest.
const maxManifest = 16 << 20

// version is the version of the manifest.
const version = 1

// A Manifest describes the runs of a folder. It has no secrets.
type Manifest struct {
	Version int       `json:"version"`
	Kind    string    `json:"kind"` // the command that made the folder
	Warp    string    `json:"warp"`
	Created time.Time `json:"created"`
	Seed    uint64    `json:"seed,string"` // of everything that is drawn
	// Benchmark is the command line that all runs share, without the values of secret flags, whose names are in Secrets.
	Benchmark []string `json:"benchmark"`
	Secrets   []string `json:"secrets,omitempty"`
	// Plan has what else the command needs to resume, and to show its results again.
	Plan json.RawMessage `json:"plan,omitempty"`
	Runs []*Entry        `json:"runs"`
}

// The states of a run.
const (
	Planned = "planned"
	Running = "running" // or cut off by a crash
	Done    = "done"    // its log is complete
	Failed  = "failed"  // it has ended without a complete log
)

// An Entry is one run in the folder.
type Entry struct {
	Log      string    `json:"log"`              // name of its op log
	Role     string    `json:"role,omitempty"`   // its purpose, if the command has runs for several
	Varied   []Setting `json:"varied,omitempty"` // the flags that distinguish it from other runs
	State    string    `json:"state"`
	Attempts int       `json:"attempts"` // how often it was started
	Began    time.Time `json:"began,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`
	Error    string    `json:"error,omitempty"` // why it has failed
}

// A Setting is a flag with its value.
type Setting struct {
	Flag  string `json:"flag"`
	Value string `json:"value"`
}

// Arg returns the setting as an argument.
func (s Setting) Arg() string { return "--" + s.Flag + "=" + s.Value }

// A Folder is a folder of runs that this process may add to.
type Folder struct {
	Path string
	Manifest
	lock *os.File
}

// Create makes a folder, which must not exist. The flag is named in errors.
func Create(flag, path string, m Manifest) (*Folder, error) {
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil, exit.Usagef("%s: cannot make the folder %s: %w", flag, path, files.Reason(err)).WithHint("name one that does not exist")
	}
	m.Version = version
	f := &Folder{Path: path, Manifest: m}
	if err := f.takeLock(); err != nil {
		return nil, err
	}
	if err := f.Save(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Open opens the folder to add to it. kind is the command that must have made it.
func Open(path, kind string) (*Folder, error) {
	f := &Folder{Path: path}
	if _, err := Read(path, kind); err != nil {
		return nil, err
	}
	err := f.takeLock()
	if err != nil {
		return nil, err
	}
	m, err := Read(path, kind) // again, since another process may have added to it until now
	if err != nil {
		f.Close()
		return nil, err
	}
	f.Manifest = *m
	return f, nil
}

// Is reports whether there is a folder of runs at path, whatever command made it.
func Is(path string) bool {
	_, err := os.Lstat(filepath.Join(path, ManifestName))
	return err == nil
}

// KindOf returns the command that made the folder; "" if none did.
func KindOf(path string) string {
	m, err := read(path)
	if err != nil {
		return ""
	}
	return m.Kind
}

// Read reads the manifest of a folder that the command kind made.
func Read(path, kind string) (*Manifest, error) {
	m, err := read(path)
	switch {
	case err != nil:
		return nil, err
	case m.Kind != kind:
		return nil, exit.Usagef("%s is a folder of warp %s, not of warp %s", path, m.Kind, kind)
	}
	return m, nil
}

func read(path string) (*Manifest, error) {
	name := filepath.Join(path, ManifestName)
	text, err := wholefile.Read(name, maxManifest)
	if info, statErr := os.Stat(path); errors.Is(err, fs.ErrNotExist) || statErr == nil && !info.IsDir() {
		return nil, exit.Usagef("%s is not a folder of runs: it has no %s", path, ManifestName)
	}
	if err != nil {
		return nil, exit.Errorf("%s: %w", name, files.Reason(err))
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, exit.Errorf("%s is damaged: %w", name, err)
	}
	if m.Version != version || m.Kind == "" {
		return nil, exit.Errorf("%s has version %d, and this warp reads version %d", name, m.Version, version)
	}
	for i, r := range m.Runs {
		if r == nil || r.Log == "" || filepath.Base(r.Log) != r.Log || r.Log == ManifestName {
			return nil, exit.Errorf("%s is damaged: the log of run %d has an invalid name", name, i+1)
		}
	}
	return &m, nil
}

// Close releases the folder.
func (f *Folder) Close() {
	if f.lock != nil {
		f.lock.Close()
		f.lock = nil
	}
}

// LogPath returns the path of a run's op log.
func (f *Folder) LogPath(r *Entry) string { return filepath.Join(f.Path, r.Log) }

// Add adds a run, which has the next number as its name. The manifest is saved when the run begins, or by Save.
func (f *Folder) Add(role string, varied ...Setting) *Entry {
	r := &Entry{Log: fmt.Sprintf("%03d%s", len(f.Runs)+1, oplog.Suffix), Role: role, Varied: varied, State: Planned}
	f.Runs = append(f.Runs, r)
	return r
}

// Missing returns the runs that are not done, in their order.
func (m *Manifest) Missing() (all []*Entry) {
	for _, r := range m.Runs {
		if r.State != Done {
			all = append(all, r)
		}
	}
	return all
}

// NextSeed returns a seed that no run of the folder has had: the names of a run that was killed may still be in use, and random
// arrivals should not repeat themselves. The same seed of the folder gives the same ones again.
func (m *Manifest) NextSeed() Setting {
	begun := uint64(0)
	for _, r := range m.Runs {
		begun += uint64(r.Attempts)
	}
	// 53 bits, as other seeds have.
	return Setting{"seed", strconv.FormatUint(bits.RotateLeft64((m.Seed+begun)*0x9e3779b97f4a7c15, 32)>>11, 10)}
}

// Begin saves that a run begins, after it has set aside what an earlier attempt left of its log.
func (f *Folder) Begin(r *Entry) error {
	if err := f.setAside(r); err != nil {
		return err
	}
	r.State, r.Began, r.Ended, r.Error = Running, time.Now().UTC(), time.Time{}, ""
	r.Attempts++
	return f.Save()
}

// Done saves that the log of a run is complete.
func (f *Folder) Done(r *Entry) error {
	r.State, r.Ended = Done, time.Now().UTC()
	return f.Save()
}

// Failed saves that a run has ended without a complete log, and sets the incomplete one aside.
func (f *Folder) Failed(r *Entry, why error) error {
	r.State, r.Ended, r.Error = Failed, time.Now().UTC(), why.Error()
	return errors.Join(f.setAside(r), f.Save())
}

// Abandon saves that a run was interrupted, and is still to be made.
func (f *Folder) Abandon(r *Entry) error {
	err := f.setAside(r)
	r.State, r.Began = Planned, time.Time{}
	return errors.Join(err, f.Save())
}

// setAside moves the log of an attempt, complete or not, out of the folder.
func (f *Folder) setAside(r *Entry) error {
	for _, suffix := range []string{"", oplog.PartSuffix} {
		from := f.LogPath(r) + suffix
		if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		to := filepath.Join(f.Path, incomplete)
		err := os.MkdirAll(to, 0o755)
		if err == nil {
			err = os.Rename(from, filepath.Join(to, fmt.Sprintf("%d-%s%s", r.Attempts, r.Log, suffix)))
		}
		if err != nil {
			return exit.Errorf("cannot move the incomplete log %s: %w", from, files.Reason(err))
		}
	}
	return nil
}

// Save writes the manifest. A crash leaves the old one or the new one.
func (f *Folder) Save() error {
	name := filepath.Join(f.Path, ManifestName)
	err := tempfile.Replace(name, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(&f.Manifest)
	})
	if err != nil {
		return exit.Errorf("cannot save %s: %w", name, files.Reason(err))
	}
	return nil
}

// takeLock locks the folder until this process ends or closes it.
func (f *Folder) takeLock() error {
	name := filepath.Join(f.Path, ".lock")
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return exit.Errorf("cannot write to the folder %s: %w", f.Path, files.Reason(err))
	}
	if err := tryLock(file); err != nil {
		file.Close()
		return exit.Errorf("another warp is working in the folder %s", f.Path).WithHint("wait for it to end")
	}
	f.lock = file
	return nil
}
