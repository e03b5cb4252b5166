package script

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An Error says what is wrong with a script, and where.
type Error struct {
	Line, Column    int    // from 1; columns count characters
	Found, Expected string // Expected is empty where Found alone is the point
	Hint            string
}

func (e *Error) Error() string {
	text := fmt.Sprintf("line %d, column %d: found %s", e.Line, e.Column, e.Found)
	if e.Expected != "" {
		text += ", expected " + e.Expected
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

type kind int

const (
	endOfScript kind = iota
	word             // letters: keywords, units
	number
	quoted
	semicolon
	other
)

// A token is one word of a script. Its text is what was written; of a quoted one without the quotes.
type token struct {
	kind         kind
	text         string
	line, column int
}

// shown returns the token as error messages name it.
func (t token) shown() string {
	const maxShown = 40
	text := t.text
	if utf8.RuneCountInString(text) > maxShown {
		text = string([]rune(text)[:maxShown]) + "…"
	}
	switch t.kind {
	case endOfScript:
		return "the end of the script"
	case quoted:
		return fmt.Sprintf("the text %q", text)
	}
	return fmt.Sprintf("%q", text)
}

// is reports whether t is the keyword, in whatever case.
func (t token) is(keyword string) bool { return t.kind == word && strings.EqualFold(t.text, keyword) }

// source returns the token as in a statement's text.
func (t token) source() string {
	if t.kind == quoted {
		return `"` + t.text + `"`
	}
	return t.text
}

// A lexer cuts a script into tokens.
type lexer struct {
	rest         string
	line, column int
}

func (l *lexer) next() (token, error) {
	if err := l.skipBlank(); err != nil {
		return token{}, err
	}
	t := token{line: l.line, column: l.column}
	r, size := utf8.DecodeRuneInString(l.rest)
	switch {
	case l.rest == "":
		return t, nil
	case r == ';':
		t.kind, t.text = semicolon, l.take(size)
	case r == '"':
		return l.quoted(t)
	case isDigit(r):
		t.kind, t.text = number, l.takeWhile(func(r rune) bool { return isDigit(r) || r == '.' || r == '_' })
	case unicode.IsLetter(r):
		t.kind, t.text = word, l.takeWhile(func(r rune) bool { return unicode.IsLetter(r) || isDigit(r) || r == '_' })
	default:
		t.kind, t.text = other, l.take(size)
	}
	return t, nil
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func (l *lexer) quoted(t token) (token, error) {
	l.take(1)
	end := strings.IndexAny(l.rest, "\"\n")
	if end < 0 || l.rest[end] == '\n' {
		return t, &Error{Line: t.line, Column: t.column, Found: "a quotation mark that is never closed", Expected: `another " on the same line`}
	}
	t.kind, t.text = quoted, l.take(end)
	l.take(1)
	return t, nil
}

// skipBlank goes past white space and comments.
func (l *lexer) skipBlank() error {
	for {
		switch {
		case strings.HasPrefix(l.rest, "/*"):
			end := strings.Index(l.rest[2:], "*/")
			if end < 0 {
				return &Error{Line: l.line, Column: l.column, Found: "a comment that is never closed", Expected: "*/ further down"}
			}
			l.take(end + 4)
		case strings.HasPrefix(l.rest, "//"), strings.HasPrefix(l.rest, "--"), strings.HasPrefix(l.rest, "#"):
			l.takeWhile(func(r rune) bool { return r != '\n' })
		default:
			if l.takeWhile(unicode.IsSpace) == "" {
				return nil
			}
		}
	}
}

func (l *lexer) takeWhile(fits func(rune) bool) string {
	end := strings.IndexFunc(l.rest, func(r rune) bool { return !fits(r) })
	if end < 0 {
		end = len(l.rest)
	}
	return l.take(end)
}

// take cuts n bytes off and counts lines and columns.
func (l *lexer) take(n int) string {
	text := l.rest[:n]
	l.rest = l.rest[n:]
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		l.line += strings.Count(text, "\n")
		l.column = 1 + utf8.RuneCountInString(text[i+1:])
	} else {
		l.column += utf8.RuneCountInString(text)
	}
	return text
}
