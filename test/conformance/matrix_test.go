package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"warp/internal/check"
	"warp/internal/teststore"
)

// The results in a cell. A refusal is the text of its error instead.
const (
	works    = "works"
	inPart   = "works [in part](operations.md#versioned)"
	untested = "–" // no store can show it
)

// A cell is one operation in one store with one engine.
type cell struct{ row, store, engine string }

// A matrix contains the result of every operation.
type matrix struct {
	mu    sync.Mutex
	cells map[cell]string
}

func (m *matrix) note(t *testing.T, at cell, became string) {
	if t.Failed() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cells[at] = became
}

var objectName = regexp.MustCompile(`(?:warp-[0-9a-z]+/)[^ ']*`)

// anonymous removes the names that differ from run to run from an error line.
func (b *bed) anonymous(line string) string {
	line = strings.TrimPrefix(line, "warp: error: ")
	line = strings.ReplaceAll(strings.ReplaceAll(line, b.proxy.Endpoint, "HOST"), b.bucket, "BUCKET")
	return objectName.ReplaceAllString(line, "OBJECT")
}

// columns returns the stores in the order of the document, with their titles there.
func columns() []struct{ store, title string } {
	return []struct{ store, title string }{
		{teststore.MinIO, "MinIO"}, {teststore.Versitygw, "versitygw"}, {teststore.Garage, "Garage"}, {teststore.Embedded, "embedded"},
		{teststore.FakeGCS, "fake-gcs-server"}, {teststore.Azurite, "Azurite"}, {aistoreName, "AIStore"}, {expressName, "S3 Express"},
	}
}

// text renders the matrix for the document: a table, and the words of the errors below.
func (m *matrix) text(t *testing.T) (text string, complete bool) {
	t.Helper()
	out := strings.Builder{}
	out.WriteString("| operation |")
	for _, c := range columns() {
		fmt.Fprintf(&out, " %s |", c.title)
	}
	out.WriteString("\n|---|" + strings.Repeat("---|", len(columns())) + "\n")
	var refusals []string
	for _, f := range features() {
		fmt.Fprintf(&out, "| `%s` |", f.name)
		for _, c := range columns() {
			became := m.cells[cell{f.name, c.store, engineNames()[0]}]
			for _, engine := range engineNames() {
				other, ok := m.cells[cell{f.name, c.store, engine}]
				if !ok {
					return "", false
				}
				if other != became {
					t.Errorf("%s in %s: with engine %s it is %q, with %s %q", f.name, c.store, engineNames()[0], became, engine, other)
				}
			}
			if became != works && became != inPart && became != untested {
				if !slices.Contains(refusals, became) {
					refusals = append(refusals, became)
				}
				became = fmt.Sprintf("refused (%d)", slices.Index(refusals, became)+1)
			}
			fmt.Fprintf(&out, " %s |", became)
		}
		out.WriteString("\n")
	}
	out.WriteString("\n")
	for i, words := range refusals {
		fmt.Fprintf(&out, "%d. `%s`\n", i+1, words)
	}
	return out.String(), true
}

const begin, end = "<!-- matrix -->\n", "<!-- end of matrix -->\n"

// documented checks that docs/compatibility.md contains this matrix. It does not compare stores
// that were left out.
func (m *matrix) documented(t *testing.T) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "compatibility.md")
	page, err := os.ReadFile(path)
	check.OK(t, err)
	before, rest, opened := strings.Cut(string(page), begin)
	was, after, closed := strings.Cut(rest, end)
	if !opened || !closed {
		t.Fatalf("%s has no place for the matrix", path)
	}
	text, complete := m.text(t)
	if !complete {
		t.Log("not every operation was run against every store")
		m.compare(t, was)
		return
	}
	t.Logf("the matrix:\n%s", text)
	switch {
	case was == text:
	case check.Updating():
		check.OK(t, os.WriteFile(path, []byte(before+begin+text+end+after), 0o644))
	default:
		t.Errorf("%s has another matrix; run with -update and look at the change. It has:\n%s", path, was)
	}
}

var (
	refusedCell = regexp.MustCompile(`^refused \((\d+)\)$`)
	refusalLine = regexp.MustCompile("(?m)^(\\d+)\\. `(.*)`$")
)

// compare checks that each tested cell equals the document's.
func (m *matrix) compare(t *testing.T, document string) {
	t.Helper()
	words := map[string]string{}
	for _, line := range refusalLine.FindAllStringSubmatch(document, -1) {
		words[line[1]] = line[2]
	}
	said := map[cell]string{} // without engines
	for line := range strings.Lines(document) {
		fields := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(fields) != len(columns())+1 {
			continue
		}
		for i, c := range columns() {
			text := strings.TrimSpace(fields[i+1])
			if number := refusedCell.FindStringSubmatch(text); number != nil {
				text = words[number[1]]
			}
			said[cell{row: strings.Trim(fields[0], " `"), store: c.store}] = text
		}
	}
	for at, became := range m.cells {
		if text := said[cell{row: at.row, store: at.store}]; text != became {
			t.Errorf("%s in %s with engine %s: %q, and in the document %q", at.row, at.store, at.engine, became, text)
		}
	}
}
