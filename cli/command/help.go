package command

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v3"

	"warp/internal/human"
)

// The help of warp and of a command, as templates of urfave/cli.
var (
	//go:embed templates/root.tmpl
	rootTemplate string
	//go:embed templates/command.tmpl
	commandTemplate string
)

// maxWidth is the width of the widest line. Longer ones are hard to read.
const maxWidth = 100

// A help is one of the two levels of help, on a screen of some width.
type help struct {
	all   bool // each flag in lines of its own; else groups may only name some
	width int
	names int  // width of the names of flags
	apart bool // an empty line follows the groups so far
}

// Help returns the help of the command with every flag, on a terminal with so
// many columns; 0 means that it is not a terminal.
func (c *Command) Help(columns int) string { return newHelp(true, columns).command(c) }

func newHelp(all bool, columns int) *help {
	return &help{all: all, width: min(cmp.Or(columns, maxWidth), maxWidth)}
}

func (h *help) root(t *Table) string { return h.print(rootTemplate, t) }

func (h *help) command(c *Command) string {
	for _, g := range c.Groups {
		for _, f := range h.shown(g) {
			h.names = max(h.names, len(flagHead(f)))
		}
	}
	h.names = min(h.names, 32)
	return h.print(commandTemplate, c)
}

// print prints a template, in which urfave/cli's function wrap breaks lines.
func (h *help) print(template string, data any) string {
	var b strings.Builder
	cli.HelpPrinterCustom(&b, template, data, map[string]any{
		"wrapAt": func() int { return h.width }, "all": func() bool { return h.all },
		"sections": sections, "usage": h.usage, "sentence": sentence, "join": h.join,
		"groups": h.groups, "apart": func() bool { return h.apart },
		"head": func(f cli.Flag) string { return fmt.Sprintf("  %-*s  ", min(h.names, h.width/3), flagHead(f)) },
		"text": h.text, "example": h.example,
	})
	return b.String()
}

// sections returns the parts of the list of commands, in their order.
func sections() []string { return []string{SectionBenchmark, SectionAnalysis, SectionOther} }

func sentence(summary string) string { return human.UpperFirst(summary) + "." }

func (h *help) usage(c *Command) string {
	usage := strings.TrimSpace("Usage: warp " + c.Name + " [flags] " + c.Args)
	if !h.all {
		usage = fmt.Sprintf("%-54s (--help-all explains every flag)", usage)
	}
	return usage
}

// join returns lines of text for the width. Where one of them is too long,
// those that end inside a sentence are joined.
func (h *help) join(lines []string) (joined []string) {
	if !slices.ContainsFunc(lines, func(line string) bool { return utf8.RuneCountInString(line) > h.width }) {
		return lines
	}
	for _, line := range lines {
		last := len(joined) - 1
		if last >= 0 && joined[last] != "" && !strings.HasSuffix(joined[last], ".") && !strings.Contains(joined[last]+line, "  ") {
			joined[last] += " " + line
			continue
		}
		joined = append(joined, line)
	}
	return joined
}

// A shownGroup is a group of flags in the help.
type shownGroup struct {
	Apart bool // an empty line precedes it
	Title string
	Flags []cli.Flag
	Names string // of flags that are only named
}

func (h *help) groups(c *Command) (all []shownGroup) {
	h.apart = h.all
	for _, g := range c.Groups {
		shown := shownGroup{Apart: h.apart || len(g.Flags) > 0, Title: g.Title, Flags: h.shown(g)}
		h.apart = h.all || len(g.Flags) > 0
		for _, f := range g.Also {
			if !h.all && visible(f) {
				shown.Names = strings.TrimPrefix(shown.Names+" --"+f.Names()[0], " ")
			}
		}
		all = append(all, shown)
	}
	return all
}

// shown returns the flags of a group that have lines of their own.
func (h *help) shown(g Group) []cli.Flag {
	if h.all {
		return g.All()
	}
	return slices.DeleteFunc(slices.Clone(g.Flags), func(f cli.Flag) bool { return !visible(f) })
}

func visible(f cli.Flag) bool {
	v, ok := f.(cli.VisibleFlag)
	return !ok || v.IsVisible()
}

// text returns the text of a flag. The plain help has as much of it as fits
// into one line of a wide terminal; details follow a semicolon.
func (h *help) text(f cli.Flag) string {
	if h.all {
		return wholeText(f)
	}
	head := fmt.Sprintf("  %-*s  ", h.names, flagHead(f))
	text, _ := usageOf(f)
	clause, _, _ := strings.Cut(text, ";")
	for _, try := range []string{
		text + defaultNote(f) + variablesNote(f),
		text + defaultNote(f),
		clause + defaultNote(f) + variablesNote(f),
		clause + defaultNote(f),
	} {
		if utf8.RuneCountInString(head+try) <= maxWidth {
			return try
		}
	}
	return clause
}

// shellWords matches the words of a command line with their quotes.
var shellWords = regexp.MustCompile(`(?:'[^']*'|\S)+`)

// example breaks a command line so that a shell still takes it for one.
func (h *help) example(line string) string {
	const head = "          "
	if len(head)+utf8.RuneCountInString(line) <= h.width {
		return line
	}
	return human.WrapWords(shellWords.FindAllString(line, -1), len(head), h.width, head, ` \`)
}

// flagHead is the flag as it is written: "-q, --quiet", "--duration DURATION". Longer aliases are spellings of other
// tools, which only the whole help has.
func flagHead(f cli.Flag) string {
	names := f.Names()
	head := "--" + names[0]
	for _, alias := range names[1:] {
		if len(alias) == 1 {
			head = dashed(alias) + ", " + head
		}
	}
	if p := placeholder(f); p != "" {
		head += " " + p
	}
	return head
}

// wholeText returns the whole text of a flag.
func wholeText(f cli.Flag) string {
	text, _ := usageOf(f)
	return text + aliasNote(f) + defaultNote(f) + variablesNote(f)
}

func defaultNote(f cli.Flag) string {
	if d := DefaultText(f); d != "" {
		return " (default " + d + ")"
	}
	return ""
}

func aliasNote(f cli.Flag) string {
	var others []string
	for _, name := range f.Names()[1:] {
		if len(name) > 1 {
			others = append(others, dashed(name))
		}
	}
	if len(others) == 0 {
		return ""
	}
	return " (also " + strings.Join(others, ", ") + ")"
}

func variablesNote(f cli.Flag) string {
	if vars := Variables(f); len(vars) > 0 {
		return " [" + strings.Join(vars, ", ") + "]"
	}
	return ""
}

// DefaultText returns the default as the help shows it, "" if it shows none.
func DefaultText(f cli.Flag) string {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok || isBool(f) || !d.IsDefaultVisible() {
		return ""
	}
	if text := d.GetDefaultText(); text != "" {
		return text
	}
	switch value := strings.Trim(d.GetValue(), `"`); value {
	case "0", "0s", "[]":
		return ""
	default:
		return value
	}
}
