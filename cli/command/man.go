package command

import (
	_ "embed"
	"strings"
	"time"

	"github.com/urfave/cli/v3"
)

// ManWord is the hidden first argument that prints a manual page, of
// the command that follows or of warp itself. Package builds use it.
const ManWord = "__man"

//go:embed templates/man.tmpl
var manTemplate string

// A manPage is a manual page in the macros of man(7).
type manPage struct {
	*Table
	Name, Summary, Day string
	Command            *Command // nil = warp itself
}

// ManPage returns the manual page of the command that words name, or of
// warp. It has the same text as the help.
func (t *Table) ManPage(words []string) (string, error) {
	page := manPage{t, "warp", "measure how fast an object store is", t.Date, nil}
	if at, err := time.Parse(time.RFC3339, t.Date); err == nil {
		page.Day = at.Format(time.DateOnly)
	}
	if len(words) > 0 {
		c := t.Find(words[0])
		if c == nil || c.Section == "" {
			return "", unknownCommand(t, words[0])
		}
		page.Name, page.Summary, page.Command = "warp-"+c.Name, c.Summary, c
	}
	var b strings.Builder
	cli.HelpPrinterCustom(&b, manTemplate, page, map[string]any{
		"roff": roff, "upper": strings.ToUpper, "sentence": sentence, "sections": sections, "head": flagHead, "text": wholeText,
	})
	return b.String(), nil
}

// roff escapes text. A line must not begin with a control character.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
