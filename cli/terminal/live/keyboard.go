package live

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A keyboard handles the keys of a run and shows the dialogs for them.
type keyboard struct {
	there   bool // keys are read
	actions Actions
	note    func(text string)

	help    bool
	stopped bool
	mark    *string // being written; nil = none is
}

const (
	enter     = '\r'
	newline   = '\n'
	escape    = '\x1b'
	backspace = '\x7f'
	erase     = '\b'
	eraseLine = '\x15' // Ctrl-U

	maxMark = 200 // characters of a mark
)

// press returns the effect of a key, nil if it only changes what is shown.
func (k *keyboard) press(key rune) (act func()) {
	if k.mark != nil {
		return k.write(key)
	}
	switch key {
	case 'q', 'Q':
		if !k.stopped {
			k.stopped = true
			return k.actions.Stop
		}
	case 'm', 'M':
		if k.actions.Mark != nil && !k.stopped {
			k.mark = new(string)
		}
	case '?', 'h':
		k.help = !k.help
	case escape:
		k.help = false
	}
	return nil
}

// write changes the mark that is being written.
func (k *keyboard) write(key rune) (act func()) {
	text := k.mark
	switch {
	case key == enter || key == newline:
		k.mark = nil
		return func() { k.set(*text) }
	case key == escape:
		k.mark = nil
	case key == backspace || key == erase:
		_, n := utf8.DecodeLastRuneInString(*text)
		*text = (*text)[:len(*text)-n]
	case key == eraseLine:
		*text = ""
	case unicode.IsPrint(key) && utf8.RuneCountInString(*text) < maxMark:
		*text += string(key)
	}
	return nil
}

func (k *keyboard) set(text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		text = "mark"
	}
	if err := k.actions.Mark(text); err != nil {
		k.note("no mark was set: " + err.Error())
	}
}

// lines returns the list of keys, or the text that is being written.
func (k *keyboard) lines(width int) []string {
	switch {
	case !k.there:
		return nil
	case k.mark != nil:
		text := []rune(*k.mark)
		text = text[max(0, len(text)-max(0, width-len("mark: _"))):] // the end is where it is written
		return []string{"mark: " + string(text) + "_", "Enter sets it, Esc leaves it out"}
	case k.stopped:
		return []string{"stopping; the report follows"}
	case !k.help:
		return []string{"keys: q stop and report" + k.ifMarks(", m mark") + ", ? help"}
	}
	lines := []string{"q       ends the run now; it is reported as usual"}
	if k.actions.Mark != nil {
		lines = append(lines, "m       marks what was done to the store: text, Enter")
	}
	return append(lines,
		"Ctrl-C  interrupts it; a second Ctrl-C quits at once",
		"Ctrl-Z  suspends warp; fg goes on",
		"?       closes this help")
}

func (k *keyboard) ifMarks(text string) string {
	if k.actions.Mark == nil {
		return ""
	}
	return text
}
