package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const residentRow = "resident memory, GET 1 KiB, 64 at a time"

// memory prints how much memory warp needs for many small downloads, in the middle of the run and towards its end,
// and at most, the analysis of its log included. What is promised is ten minutes; less shows the same unless memory
// grows, and then the first two figures differ.
func (b *bench) memory() error {
	r := row{name: residentRow, op: "get", size: 1 << 10}
	return b.withStore(r, func(addr string) error {
		var out, problems bytes.Buffer
		cmd := b.command(r, addr, 64, b.resident)
		cmd.Stdout, cmd.Stderr = &out, &problems
		if err := cmd.Start(); err != nil {
			return err
		}
		time.Sleep(b.resident / 2)
		half := residentNow(cmd.Process.Pid)
		time.Sleep(b.resident/2 - b.resident/20)
		late := residentNow(cmd.Process.Pid)
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("%s: %w\n%s", residentRow, err, &problems)
		}
		requests, err := answered(out.Bytes(), r.op)
		if err != nil {
			return err
		}
		fmt.Printf("%-38s %25.0f MiB at most     goal 64 MiB over 10 minutes\n", residentRow, maxRSS(cmd.ProcessState))
		fmt.Printf("%-38s after %v %s, after %v %s, %d requests\n", "", b.resident/2, half, b.resident-b.resident/20, late, requests)
		return nil
	})
}

// residentNow is a process's resident set as Linux tells it.
func residentNow(pid int) string {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(kib), " kB"))
			return fmt.Sprintf("%d MiB", n>>10)
		}
	}
	return "not known"
}
