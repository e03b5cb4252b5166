package main

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

// startRow is the name of the row on the binary.
const startRow = "binary and start"

// starts is how often a program is started. A start takes milliseconds, so its
// median needs more runs than the rows above.
const starts = 20

// start prints how large the binary is, and what "warp --help" takes, next to
// the start of this program, which does nothing.
func (b *bench) start() error {
	info, err := os.Stat(b.warp)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var floor, warp []float64
	for range starts {
		f, err := startTime(exec.Command(self, nothing))
		if err != nil {
			return err
		}
		w, err := startTime(exec.Command(b.warp, "--help"))
		if err != nil {
			return err
		}
		floor, warp = append(floor, f), append(warp, w)
	}
	fmt.Printf("\n%-38s %12.1f %12.1f %7.2f   ms of CPU time, medians of %d starts\n", "warp --help against an empty program", median(floor), median(warp), median(warp)/median(floor), starts)
	fmt.Printf("%-38s %25.1f   MiB\n", "size of the binary", float64(info.Size())/(1<<20))
	return nil
}

// startTime is the CPU time of a whole process in milliseconds.
func startTime(cmd *exec.Cmd) (float64, error) {
	_, p, err := output(cmd)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", cmd, err)
	}
	return float64(p.UserTime()+p.SystemTime()) / float64(time.Millisecond), nil
}
