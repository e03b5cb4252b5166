package teststore

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"warp/internal/check"
)

// A test binary that is killed takes its stores with it.
func TestStoreDiesWithTheTest(t *testing.T) {
	if os.Getenv("WARP_TESTSTORE_CHILD") != "" {
		s := Start(t, Versitygw, Options{})
		fmt.Printf("pid=%d\n", s.Pid(0))
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if _, err := Ensure(t.Context(), Versitygw); err != nil {
		requireStore(t, Versitygw, err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestStoreDiesWithTheTest$", "-test.v")
	cmd.Env = append(os.Environ(), "WARP_TESTSTORE_CHILD=1", "TMPDIR="+t.TempDir())
	out, _ := cmd.CombinedOutput()
	_, rest, ok := strings.Cut(string(out), "pid=")
	if !ok {
		t.Fatalf("the child said %s", out)
	}
	digits, _, _ := strings.Cut(rest, "\n")
	pid, err := strconv.Atoi(digits)
	check.OK(t, err)
	for deadline := time.Now().Add(time.Minute); alive(pid); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("the store, process %d, lives on", pid)
		}
	}
}

// alive returns false for a process that has ended but whose parent has not waited for it yet.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
