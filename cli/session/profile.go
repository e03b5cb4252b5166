package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
)

// ProfileFlags choose the profiles to write.
type ProfileFlags struct {
	dir                                    string
	cpu, mem, block, mutex, threads, trace bool
}

// ProfileFlags returns the flags that set f.
func (f *ProfileFlags) Flags() []cli.Flag {
	hidden := func(name string, p *bool, what string) cli.Flag {
		return &cli.BoolFlag{Name: name, Destination: p, Hidden: true, Usage: "write " + what + " of warp itself"}
	}
	return []cli.Flag{
		&cli.StringFlag{Name: "pprofdir", Value: "pprof", Destination: &f.dir, Hidden: true, TakesFile: true,
			Usage: "write profiles of warp itself to `FOLDER`; warp creates it if necessary"},
		hidden("cpu", &f.cpu, "a CPU profile"),
		hidden("mem", &f.mem, "a heap profile"),
		hidden("block", &f.block, "a profile of blocked goroutines"),
		hidden("mutex", &f.mutex, "a profile of lock contention"),
		hidden("threads", &f.threads, "a profile of thread creation"),
		hidden("trace", &f.trace, "an execution trace"),
	}
}

// A profile is one kind of profile and the file that it goes to.
type profile struct {
	name  string
	begin func(io.Writer) error // when measuring starts; may be nil
	end   func(io.Writer) error // when it stops
	file  *os.File
}

// Any reports whether any profile is wanted.
func (f *ProfileFlags) Any() bool { return len(f.wanted()) > 0 }

// wanted lists the profiles that the flags ask for.
func (f *ProfileFlags) wanted() []*profile {
	lookup := func(name string, before, after func()) func(io.Writer) error {
		return func(w io.Writer) error {
			before()
			defer after()
			return pprof.Lookup(name).WriteTo(w, 0)
		}
	}
	nothing := func() {}
	all := []struct {
		wanted bool
		profile
	}{
		{f.cpu, profile{name: "cpu.pprof", begin: pprof.StartCPUProfile,
			end: func(io.Writer) error { pprof.StopCPUProfile(); return nil }}},
		{f.trace, profile{name: "trace.out", begin: trace.Start,
			end: func(io.Writer) error { trace.Stop(); return nil }}},
		{f.mem, profile{name: "mem.pprof", end: lookup("heap", runtime.GC, nothing)}},
		{f.block, profile{name: "block.pprof",
			begin: func(io.Writer) error { runtime.SetBlockProfileRate(10_000); return nil }, // ns of waiting per sample
			end:   lookup("block", nothing, func() { runtime.SetBlockProfileRate(0) })}},
		{f.mutex, profile{name: "mutex.pprof",
			begin: func(io.Writer) error { runtime.SetMutexProfileFraction(10); return nil },
			end:   lookup("mutex", nothing, func() { runtime.SetMutexProfileFraction(0) })}},
		{f.threads, profile{name: "threads.pprof", end: lookup("threadcreate", nothing, nothing)}},
	}
	var wanted []*profile
	for i := range all {
		if all[i].wanted {
			wanted = append(wanted, &all[i].profile)
		}
	}
	return wanted
}

// profileFiles are the files of a run's profiles.
type profileFiles []*profile

// Open creates the files.
func (f *ProfileFlags) Open() (profileFiles, error) {
	all := profileFiles(f.wanted())
	if len(all) == 0 {
		return nil, nil
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return nil, exit.Usagef("--pprofdir: %w", err).WithHint("name another folder")
	}
	for i, p := range all {
		file, err := os.OpenFile(filepath.Join(f.dir, p.name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			p.file = file
			continue
		}
		all[:i].Discard()
		if errors.Is(err, fs.ErrExist) {
			return nil, exit.Usagef("%s exists already", filepath.Join(f.dir, p.name)).WithHint("name another folder with --pprofdir")
		}
		return nil, exit.Usagef("--pprofdir: %w", err).WithHint("name another folder")
	}
	return all, nil
}

// Discard removes the files of a run that was never measured.
func (all profileFiles) Discard() {
	for _, p := range all {
		if p.file != nil {
			p.file.Close()
			os.Remove(p.file.Name())
			p.file = nil
		}
	}
}

// Begin starts the profiles.
func (all profileFiles) Begin() error {
	for _, p := range all {
		if p.begin == nil {
			continue
		}
		if err := p.begin(p.file); err != nil {
			return fmt.Errorf("start the profile %s: %w", p.name, err)
		}
	}
	return nil
}

// End writes and closes the files.
func (all profileFiles) End() error {
	var errs []error
	for _, p := range all {
		if p.file == nil {
			continue
		}
		err := errors.Join(p.end(p.file), p.file.Close())
		p.file = nil
		if err != nil {
			errs = append(errs, fmt.Errorf("write the profile %s: %w", p.name, err))
		}
	}
	return errors.Join(errs...)
}
