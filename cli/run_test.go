package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"warp/cli/commands"
	"warp/cli/exit"
	"warp/internal/check"
	"warp/pkg/runfile"
)

// TestKeysAreDocumented holds the table of docs/run.md against what the files take.
func TestKeysAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/run.md")
	check.OK(t, err)
	word := regexp.MustCompile("`([^`]+)`")
	var documented []runfile.Key
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(cells[3], "`--") {
			continue
		}
		group := strings.Trim(cells[1], " `")
		for _, name := range word.FindAllStringSubmatch(cells[2], -1) {
			documented = append(documented, runfile.Key{Group: group, Name: name[1], Flag: strings.Trim(cells[3], " -`")})
		}
	}
	var flags []string
	for _, f := range commands.BenchmarkFlags(commands.Benchmarks(mapEnvironment(nil))) {
		flags = append(flags, f.Names()[0])
	}
	var keys []runfile.Key
	for _, k := range runfile.Keys(flags) {
		if k.Group == "" && k.Name == k.Flag {
			continue // every flag is a key, as the text says
		}
		keys = append(keys, k)
		if !slices.Contains(documented, k) {
			t.Errorf("%+v is not documented", k)
		}
	}
	for _, k := range documented {
		if !slices.Contains(keys, k) {
			t.Errorf("%+v is documented but not there", k)
		}
	}
}

// A ctrlC is pressed when somebody reads, or writes the given text.
type ctrlC struct {
	signals chan os.Signal // without a buffer: it was seen when Read or Write goes on
	text    string
	io.Reader

	mu      sync.Mutex
	written bytes.Buffer
}

func (c *ctrlC) Read(p []byte) (int, error) {
	c.signals <- os.Interrupt
	return c.Reader.Read(p)
}

func (c *ctrlC) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(c.text)) {
		c.signals <- os.Interrupt
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written.Write(p)
}

func (c *ctrlC) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written.String()
}

// Ctrl-C ends warp run also where no benchmark is measured: while it waits for the file, and between two benchmarks.
func TestRunInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	suite := filepath.Join(dir, "suite.yml")
	text := "warp:\n  api: v1\n  remote: {host: embedded}\n  params: {objects: 3, obj: {size: 1KiB}, duration: 500ms}\n" +
		"  benchmarks: [{benchmark: get, benchdata: '" + dir + "/get'}, {benchmark: stat, benchdata: '" + dir + "/stat'}]\n"
	check.OK(t, os.WriteFile(suite, []byte(text), 0o644))
	for _, path := range []string{"-", suite} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			silent, speaks := io.Pipe() // nothing comes, and it does not end
			defer speaks.Close()
			c := &ctrlC{signals: make(chan os.Signal), text: "Benchmark data written", Reader: silent}
			a := &app{in: c, out: io.Discard, errw: c, env: mapEnvironment(nil), signals: c.signals, exit: func(int) { t.Error("exit was called") }}
			code := a.main(t.Context(), []string{"run", path, "--json"})
			if said := c.String(); code != exit.Interrupted || strings.Contains(said, "2 of 2") || strings.Contains(said, "error") {
				t.Errorf("exit code %d: %s", code, said)
			}
		})
	}
}
