package command

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v3"

	"warp/internal/human"
)

// helpWidth is the maximum width of a line of help.
const helpWidth = 100

// HelpText returns the help that the command line asks for.
func (l *Line) HelpText() (string, error) {
	var b strings.Builder
	switch {
	case l.Unknown != "":
		return "", unknownCommand(l.Table, l.Unknown)
	case l.Command != nil && l.helpAll:
		commandHelp(&b, l.Command, true)
	case l.Command != nil:
		commandHelp(&b, l.Command, false)
	default:
		rootHelp(&b, l.Table, l.helpAll)
	}
	return b.String(), nil
}

// Help returns the help of the command with every flag.
func (c *Command) Help() string {
	var b strings.Builder
	commandHelp(&b, c, true)
	return b.String()
}

// rootHelp lists the commands. There are so many of them that the plain help
// leaves what holds for all to the full one.
func rootHelp(b *strings.Builder, table *Table, all bool) {
	b.WriteString("Usage: warp COMMAND [flags], to measure how fast an object store is\n")
	for _, section := range []string{SectionBenchmark, SectionAnalysis, SectionOther} {
		title := "\n" + section + "\n"
		for _, c := range table.Commands {
			if c.Section == section {
				fmt.Fprintf(b, "%s  %-14s %s\n", title, c.Name, c.Summary)
				title = ""
			}
		}
	}
	b.WriteString(`
Flags of every command
  -h, --help        explain the command (alone: -v, --version prints version, commit and date)
  --help-all        explain it with every flag it has
`)
	if !all {
		return
	}
	b.WriteString(`  --autocompletion  install completion for the shell in $SHELL

Flags take one dash or two and may follow arguments. If a flag is repeated, the last value wins.
A flag overrides its [VARIABLE].
Exit codes: 0 success, 1 failure, 2 usage error, 3 requests failed, 4 an assertion failed,
5 an assertion is inconclusive, 130 interrupted.
`)
}

// commandHelp explains one command: in the plain help groups may name rarer
// flags in one line, with all every flag has its own.
func commandHelp(b *strings.Builder, c *Command, all bool) {
	usage := strings.TrimSpace("Usage: warp " + c.Name + " [flags] " + c.Args)
	if !all {
		usage = fmt.Sprintf("%-54s (--help-all explains every flag)", usage)
	}
	fmt.Fprintf(b, "%s\n\n%s.\n", usage, human.UpperFirst(c.Summary))
	for _, line := range c.About {
		b.WriteString(line + "\n")
	}
	width := nameWidth(c, all)
	for i, g := range c.Groups {
		if all || len(g.Flags) > 0 || i > 0 && len(c.Groups[i-1].Flags) > 0 {
			b.WriteByte('\n')
		}
		groupHelp(b, g, width, all)
	}
	if n := len(c.Groups); all || n > 0 && len(c.Groups[n-1].Flags) > 0 {
		b.WriteByte('\n')
	}
	for i, e := range c.Examples {
		title := "          "
		if i == 0 {
			title = "Example   "
		}
		b.WriteString(title + e + "\n")
	}
}

// groupHelp explains a group of flags. A group of which the plain help only
// gives names takes one line.
func groupHelp(b *strings.Builder, g Group, width int, all bool) {
	shown, names := g.Flags, []string{}
	for _, f := range g.Also {
		if visible(f) {
			names = append(names, "--"+f.Names()[0])
		}
	}
	also := strings.Join(names, " ")
	switch {
	case all:
		shown, also = g.All(), ""
	case len(g.Flags) == 0:
		b.WriteString(wrap(fmt.Sprintf("%-8s  ", g.Title), also))
		return
	}
	b.WriteString(g.Title + "\n")
	for _, f := range shown {
		switch {
		case all:
			b.WriteString(flagHelp(f, width))
		case visible(f):
			b.WriteString(shortFlagHelp(f, width))
		}
	}
	if also != "" {
		b.WriteString(wrap("  also: ", also))
	}
}

// nameWidth is the width of the column of flag names.
func nameWidth(c *Command, all bool) int {
	width := 0
	for _, g := range c.Groups {
		shown := g.Flags
		if all {
			shown = g.All()
		}
		for _, f := range shown {
			if all || visible(f) {
				width = max(width, len(flagHead(f)))
			}
		}
	}
	return min(width, 32)
}

func visible(f cli.Flag) bool {
	v, ok := f.(cli.VisibleFlag)
	return !ok || v.IsVisible()
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

// flagHelp returns the full help of a flag, in one or more lines.
func flagHelp(f cli.Flag, width int) string {
	text, _ := usageOf(f)
	return wrap(flagColumn(f, width), text+aliasNote(f)+defaultNote(f)+variablesNote(f))
}

// shortFlagHelp is the line of a flag in the plain help: as much of it as one
// line holds. What follows a semicolon is detail.
func shortFlagHelp(f cli.Flag, width int) string {
	text, _ := usageOf(f)
	clause, _, _ := strings.Cut(text, ";")
	head := flagColumn(f, width)
	for _, try := range []string{
		text + defaultNote(f) + variablesNote(f),
		text + defaultNote(f),
		clause + defaultNote(f) + variablesNote(f),
		clause + defaultNote(f),
	} {
		if line := wrap(head, try); strings.Count(line, "\n") == 1 {
			return line
		}
	}
	return wrap(head, clause)
}

func flagColumn(f cli.Flag, width int) string { return fmt.Sprintf("  %-*s  ", width, flagHead(f)) }

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
	if vars := variablesOf(f); len(vars) > 0 {
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

// wrap writes text after head and breaks it at spaces, so that no line passes
// helpWidth; further lines begin below the text.
func wrap(head, text string) string {
	var b strings.Builder
	indent := utf8.RuneCountInString(head)
	column := indent
	b.WriteString(head)
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > helpWidth:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}
