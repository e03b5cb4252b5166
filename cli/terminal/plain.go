package terminal

import (
	"fmt"
	"io"
	"regexp"
	"unicode/utf8"

	"warp/internal/human"
)

// Plain returns s with what would steer a terminal written as JSON writes it.
func Plain(s string) string { return string(appendPlain(nil, []byte(s))) }

func appendPlain(dst, text []byte) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == '\n', r == '\t', !human.Steers(r) && (r != utf8.RuneError || size > 1):
			dst = append(dst, text[:size]...)
		case r == utf8.RuneError:
			dst = append(dst, '?') // a byte that is not valid UTF-8 may be a control character elsewhere
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
		text = text[size:]
	}
	return dst
}

// A PlainWriter writes results. Of terminal sequences, it passes on only warp's own colors.
type PlainWriter struct {
	w     io.Writer
	color bool
	rest  []byte // of a character or color that has not ended yet
}

// NewPlainWriter returns a writer to w that lets warp's colors pass if color is set.
func NewPlainWriter(w io.Writer, color bool) *PlainWriter { return &PlainWriter{w: w, color: color} }

// ownColor is a color as warp writes it.
var ownColor = regexp.MustCompile(`^\x1b\[[0-9;]{0,12}m`)

const maxColor = len("\x1b[m") + 12

func (p *PlainWriter) Write(b []byte) (int, error) {
	p.rest = append(p.rest, b...)
	return len(b), p.pass(false)
}

// Flush writes the incomplete sequence at the end, if there is one.
func (p *PlainWriter) Flush() error { return p.pass(true) }

func (p *PlainWriter) pass(all bool) error {
	var out []byte
	text := p.rest
	for len(text) > 0 {
		color := 0
		if p.color && text[0] == '\x1b' {
			if color = len(ownColor.Find(text)); color == 0 && !all && len(text) < maxColor {
				break
			}
		}
		if color > 0 {
			out, text = append(out, text[:color]...), text[color:]
			continue
		}
		if !all && !utf8.FullRune(text) {
			break
		}
		_, size := utf8.DecodeRune(text)
		out, text = appendPlain(out, text[:size]), text[size:]
	}
	p.rest = append(p.rest[:0], text...)
	_, err := p.w.Write(out)
	return err
}
