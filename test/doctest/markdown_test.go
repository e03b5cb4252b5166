package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warp/internal/check"
)

const root = "../.."

// A document is one file of the documentation.
type document struct {
	name   string // relative to the root
	blocks []block
	tables []table
	lines  []line
}

// A line is one line of prose or table, with its position.
type line struct {
	number        int
	section, text string
}

// A block is a fenced code block.
type block struct {
	number                    int // number of its first line
	language, directive, text string
}

// A table is a table of the document, without its ruler.
type table struct {
	section string
	head    []string
	rows    [][]string
}

// documents reads the README and docs, including the pages of commands.
func documents(t *testing.T) []document {
	t.Helper()
	names := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	for _, folder := range []string{"docs", "docs/commands"} {
		pages, err := filepath.Glob(filepath.Join(root, folder, "*.md"))
		if err != nil || len(pages) < 6 {
			t.Fatalf("found %d pages in %s: %v", len(pages), folder, err)
		}
		for _, p := range pages {
			names = append(names, folder+"/"+filepath.Base(p))
		}
	}
	var all []document
	for _, name := range names {
		all = append(all, read(t, name))
	}
	return all
}

func read(t *testing.T, name string) document {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	check.OK(t, err)
	return parse(name, string(text))
}

var directive = regexp.MustCompile(`^<!-- (.*) -->$`)

func parse(name, text string) document {
	d := document{name: name}
	var section, said string
	var inside *block
	var rows [][]string
	for i, s := range strings.Split(text, "\n") {
		fence, isFence := strings.CutPrefix(s, "```")
		switch {
		case inside != nil && isFence:
			d.blocks = append(d.blocks, *inside)
			inside, said = nil, ""
			continue
		case inside != nil:
			inside.text += s + "\n"
			continue
		case isFence:
			inside = &block{number: i + 1, language: fence, directive: said}
			continue
		}
		if cells, ok := tableRow(s); ok {
			rows = append(rows, cells)
		} else if len(rows) > 0 {
			d.tables = append(d.tables, table{section, rows[0], slices.Clone(rows[min(2, len(rows)):])})
			rows = nil
		}
		if title, ok := strings.CutPrefix(strings.TrimLeft(s, "#"), " "); ok && strings.HasPrefix(s, "#") {
			section = title
		}
		if m := directive.FindStringSubmatch(s); m != nil {
			said = m[1]
		} else if s != "" {
			said = ""
		}
		d.lines = append(d.lines, line{i + 1, section, s})
	}
	return d
}

func tableRow(s string) ([]string, bool) {
	if !strings.HasPrefix(s, "|") || !strings.HasSuffix(s, "|") {
		return nil, false
	}
	cells := strings.Split(strings.Trim(s, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells, true
}

// in returns the tables of a section.
func (d *document) in(t *testing.T, section string) []table {
	t.Helper()
	var found []table
	for _, tab := range d.tables {
		if tab.section == section {
			found = append(found, tab)
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s has no table in the section %q", d.name, section)
	}
	return found
}

var code = regexp.MustCompile("`([^`]+)`")

// names returns the words in code of a table's first column, in order.
func (tab table) names() []string {
	var names []string
	for _, row := range tab.rows {
		for _, m := range code.FindAllStringSubmatch(row[0], -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// same compares two sets and reports what is missing in each.
func same(t *testing.T, what string, documented, real []string) {
	t.Helper()
	for _, s := range missing(documented, real) {
		t.Errorf("%s: %q is documented but not there", what, s)
	}
	for _, s := range missing(real, documented) {
		t.Errorf("%s: %q is there but not documented", what, s)
	}
}

// missing returns the elements of a that are not in b.
func missing(a, b []string) []string {
	return slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(a))), func(s string) bool { return slices.Contains(b, s) })
}

func TestLinksResolve(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)]+)\)`)
	docs := documents(t)
	for _, d := range docs {
		for _, l := range d.lines {
			for _, m := range link.FindAllStringSubmatch(l.text, -1) {
				if strings.HasPrefix(m[1], "https://") {
					continue
				}
				if why := broken(docs, d, m[1]); why != "" {
					t.Errorf("%s:%d: the link %s: %s", d.name, l.number, m[1], why)
				}
			}
		}
	}
}

// TestSiteHasEveryPage checks that make site finds a place for every page.
func TestSiteHasEveryPage(t *testing.T) {
	t.Parallel()
	config, err := os.ReadFile(filepath.Join(root, "site/mkdocs.yml"))
	check.OK(t, err)
	for _, d := range documents(t) {
		if page, ok := strings.CutPrefix(d.name, "docs/"); ok && !strings.Contains(string(config), ": "+page+"\n") {
			t.Errorf("the nav of site/mkdocs.yml lacks %s", page)
		}
	}
}

func broken(docs []document, from document, target string) string {
	path, anchor, _ := strings.Cut(target, "#")
	name := from.name
	if path != "" {
		name = filepath.ToSlash(filepath.Join(filepath.Dir(from.name), path))
	}
	if _, err := os.Stat(filepath.Join(root, name)); err != nil {
		return err.Error()
	}
	if anchor == "" {
		return ""
	}
	i := slices.IndexFunc(docs, func(d document) bool { return d.name == name })
	if i < 0 || !slices.Contains(docs[i].anchors(), anchor) {
		return "there is no such heading"
	}
	return ""
}

// anchors returns the headings in the form used in links.
func (d *document) anchors() []string {
	drop := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	var all []string
	for _, l := range d.lines {
		if strings.HasPrefix(l.text, "#") {
			title := strings.ToLower(strings.TrimSpace(strings.TrimLeft(l.text, "#")))
			all = append(all, strings.ReplaceAll(drop.ReplaceAllString(title, ""), " ", "-"))
		}
	}
	return all
}
