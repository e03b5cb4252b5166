package command

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"warp/internal/human"
)

// ManWord is the hidden first argument that prints a manual page, of
// the command that follows or of warp itself. Package builds use it.
const ManWord = "__man"

// ManPage returns a manual page in the macros of man(7), with the text of the
// help.
func (t *Table) ManPage(words []string) (string, error) {
	if len(words) == 0 {
		return t.rootManPage(), nil
	}
	if c := t.Find(words[0]); c != nil && c.Section != "" {
		return t.commandManPage(c), nil
	}
	return "", unknownCommand(t, words[0])
}

func (t *Table) rootManPage() string {
	var b strings.Builder
	t.manHead(&b, "warp", "measure how fast an object store is")
	b.WriteString(".B warp\n.I COMMAND\n[\\fIflags\\fR]\n")
	for _, section := range []string{SectionBenchmark, SectionAnalysis, SectionOther} {
		fmt.Fprintf(&b, ".SH %s\n", strings.ToUpper(section))
		for _, c := range t.Commands {
			if c.Section == section {
				fmt.Fprintf(&b, ".TP\n.BR warp\\-%s (1)\n%s\n", roff(c.Name), roff(human.UpperFirst(c.Summary)+"."))
			}
		}
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, e := range []struct{ code, meaning string }{
		{"0", "success"}, {"1", "the run failed"}, {"2", "the command line is wrong"}, {"3", "requests failed"},
		{"4", "an assertion failed"}, {"5", "an assertion is inconclusive"}, {"130", "interrupted"},
	} {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", e.code, e.meaning)
	}
	return b.String()
}

func (t *Table) commandManPage(c *Command) string {
	var b strings.Builder
	t.manHead(&b, "warp-"+c.Name, c.Summary)
	fmt.Fprintf(&b, ".B warp %s\n[\\fIflags\\fR] %s\n.SH DESCRIPTION\n%s\n", roff(c.Name), roff(c.Args), roff(human.UpperFirst(c.Summary)+"."))
	for _, line := range c.About {
		if line == "" {
			b.WriteString(".PP\n")
			continue
		}
		b.WriteString(roff(line) + "\n")
	}
	b.WriteString(".SH OPTIONS\n")
	for _, g := range c.Groups {
		fmt.Fprintf(&b, ".SS %s\n", roff(g.Title))
		for _, f := range g.All() {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(flagHead(f)), roff(manText(f)))
		}
	}
	if len(c.Examples) > 0 {
		b.WriteString(".SH EXAMPLES\n.nf\n")
		for _, e := range c.Examples {
			b.WriteString(roff(e) + "\n")
		}
		b.WriteString(".fi\n")
	}
	b.WriteString(".SH SEE ALSO\n.BR warp (1)\n")
	return b.String()
}

func manText(f cli.Flag) string {
	text, _ := usageOf(f)
	return text + aliasNote(f) + defaultNote(f) + variablesNote(f)
}

// manHead begins a page up to its synopsis.
func (t *Table) manHead(b *strings.Builder, name, summary string) {
	day := t.Date
	if at, err := time.Parse(time.RFC3339, day); err == nil {
		day = at.Format(time.DateOnly)
	}
	fmt.Fprintf(b, ".TH %s 1 \"%s\" \"warp %s\"\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n", roff(strings.ToUpper(name)), roff(day), roff(t.Version), roff(name), roff(summary))
}

// roff escapes text. A line must not begin with a control character.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
