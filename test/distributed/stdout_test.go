package distributed

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"warp/internal/check"

	"github.com/klauspost/compress/zstd"
)

// rowsIn returns the rows in the text of a log, sorted, without their numbers.
func rowsIn(text string) (rows []string) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "# ") {
			_, row, _ := strings.Cut(line, "\t")
			rows = append(rows, row)
		}
	}
	slices.Sort(rows)
	return rows
}

// loggedRows returns the rows in a log of the coordinator.
func (c *cluster) loggedRows(t *testing.T, name string) []string {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(c.coordinator.dir, name+".csv.zst"))
	check.OK(t, err)
	dec, err := zstd.NewReader(nil)
	check.OK(t, err)
	defer dec.Close()
	text, err := dec.DecodeAll(log, nil)
	check.OK(t, err)
	return rowsIn(string(text))
}

// TestStdout checks that the rows of all clients are on standard output while the run continues,
// and in the end equal the rows of the log. With --stress there is no log anywhere.
func TestStdout(t *testing.T) {
	t.Parallel()
	c := two(t, "stdout")
	args := append([]string{"get", c.list(), "--stdout", "--obj.size=4KiB", "--objects=20", "--concurrent=2", "--rps-limit=200", "--lease=12s"}, c.target...)
	p := c.coordinator.startRows(t, append(args, "--duration=1h", "--benchdata=rows")...)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if text := p.rows.String(); strings.Contains(text, "-1\t") && strings.Contains(text, "-2\t") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("there are no rows of both clients:\n%s", p.out.String())
		}
	}
	check.OK(t, p.cmd.Process.Signal(syscall.SIGINT))
	p.ends(t, 130, "Benchmark data written")
	if got, want := rowsIn(p.rows.String()), c.loggedRows(t, "rows"); !slices.Equal(got, want) {
		t.Errorf("there are %d rows, and the log has %d, or their text differs", len(got), len(want))
	}
	c.store.reset()
	before := c.files(t)
	p = c.coordinator.startRows(t, append(args, "--duration=2s", "--stress")...)
	p.ends(t, 0, "Operation: GET")
	seen := 1 // the line of columns
	c.store.mu.Lock()
	for _, n := range c.store.n {
		seen += n
	}
	c.store.mu.Unlock()
	if rows := rowsIn(p.rows.String()); len(rows) != seen || seen < 100 {
		t.Errorf("with --stress there are %d rows, and the store saw %d requests", len(rows)-1, seen-1)
	}
	for deadline := time.Now().Add(time.Minute); !maps.Equal(c.files(t), before); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) { // clients remove theirs after the coordinator has ended
			t.Fatalf("the files were %v and are %v", before, c.files(t))
		}
	}
	c.clean(t)
}

// files returns the files of all hosts.
func (c *cluster) files(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, h := range append([]*host{c.coordinator}, c.clients...) {
		files, err := os.ReadDir(h.dir)
		check.OK(t, err)
		for _, f := range files {
			all[filepath.Join(h.dir, f.Name())] = true
		}
	}
	return all
}
