// Package check contains what tests of many packages need: errors that end a test, conditions that become true, and
// golden files.
package check

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Limit is how long [Eventually] waits. It is generous, because tests share their machine.
const Limit = time.Minute

// OK ends the test if err is not nil.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Eventually waits until holds returns true, and ends the test if it does not within [Limit].
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	EventuallyWithin(t, Limit, what, holds)
}

// EventuallyWithin waits until holds returns true, and ends the test if it does not within the limit.
func EventuallyWithin(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s within %v", what, limit)
		}
	}
}

// Updating reports whether golden files are to be rewritten, because the test runs with -update.
func Updating() bool { return *update }

// Golden compares got with a file, or writes it there with -update.
func Golden(t testing.TB, path, got string) {
	t.Helper()
	if Updating() {
		OK(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	OK(t, err)
	if got == string(want) {
		return
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(gotLines), len(wantLines)) {
		if gotLines[i] != wantLines[i] {
			t.Errorf("%s: line %d\n got %s\nwant %s\nRun with -update and look at the change.", path, i+1, gotLines[i], wantLines[i])
			return
		}
	}
	t.Errorf("%s has %d lines, and the test wrote %d. Run with -update and look at the change.", path, len(wantLines), len(gotLines))
}

// tries is how often [Measured] measures.
const tries = 5

// Measured measures until the result is good, a few times at most, and reports the last error of measure. A busy machine spoils
// a measurement now and then; it does not make a wrong one right.
func Measured(t testing.TB, measure func() error) {
	t.Helper()
	var err error
	for range tries {
		if err = measure(); err == nil || t.Failed() {
			return
		}
		t.Logf("measuring again: %v", err)
	}
	t.Error(err)
}
