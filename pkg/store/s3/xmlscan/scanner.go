// Package xmlscan reads the XML documents of S3 element by element, without allocating.
package xmlscan

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"warp/pkg/store"
)

// Kinds of tokens.
const (
	Start = iota // start of the element in Name
	End          // end of the element in Name, with its own text in Text
	Done         // the document has ended
)

// maxDepth is larger than the depth of any S3 document.
const maxDepth = 16

// A Scanner reads a document in memory, element by element, without allocating. It supports only as
// much XML as stores send: it skips attributes and knows only XML's own entities.
type Scanner struct {
	doc   []byte
	at    int
	Name  []byte // name of the latest element, without its namespace
	Text  []byte // text of the element that has just ended, since its latest child
	open  [maxDepth][]byte
	Depth int  // depth of the element of the latest tag; the root has 1
	empty bool // the latest tag was both start and end
	ended bool // the latest tag was an end
}

// Scan starts with another document.
func (x *Scanner) Scan(doc []byte) {
	*x = Scanner{doc: doc, Text: x.Text[:0]}
}

// doctype is the start of HTML documents from web servers and consoles.
const doctype = "<!DOCTYPE html"

// bad returns an error that says why the document is invalid.
func (x *Scanner) bad(what string) error {
	if len(bytes.TrimSpace(x.doc)) == 0 {
		return store.BadAnswer(0, "the answer's document is empty")
	}
	if doc := bytes.TrimSpace(x.doc); len(doc) >= len(doctype) && bytes.EqualFold(doc[:len(doctype)], []byte(doctype)) {
		return store.BadAnswer(0, "the answer is %s", store.HTMLPage)
	}
	return store.BadAnswer(0, "the answer is not valid XML: %s at byte %d", what, x.at)
}

// Parent returns the name of the element around the element of the latest tag.
func (x *Scanner) Parent() []byte {
	if x.Depth < 2 {
		return nil
	}
	return local(x.open[x.Depth-2])
}

// Next returns the kind of the next token.
func (x *Scanner) Next() (kind int, err error) {
	if x.empty {
		x.empty = false
		return x.stop()
	}
	if x.ended {
		x.ended = false
		x.Text = x.Text[:0] // text after a child does not belong to the child
		if x.Depth--; x.Depth == 0 {
			return Done, nil
		}
	}
	for {
		if err := x.characters(); err != nil {
			return 0, err
		}
		rest := x.doc[x.at:]
		switch {
		case bytes.HasPrefix(rest, []byte("<![CDATA[")) && x.Depth > 0:
			err = x.cdata()
		case bytes.HasPrefix(rest, []byte("<!--")):
			err = x.skip("<!--", "-->")
		case bytes.HasPrefix(rest, []byte("<?")):
			err = x.skip("<?", "?>")
		case bytes.HasPrefix(rest, []byte("</")):
			return x.endTag()
		default:
			return x.startTag()
		}
		if err != nil {
			return 0, err
		}
	}
}

func (x *Scanner) stop() (int, error) {
	x.Name, x.ended = local(x.open[x.Depth-1]), true
	return End, nil
}

func (x *Scanner) skip(from, to string) error {
	end := bytes.Index(x.doc[x.at+len(from):], []byte(to))
	if end < 0 {
		return x.bad("a comment without an end")
	}
	x.at += len(from) + end + len(to)
	return nil
}

func (x *Scanner) cdata() error {
	from := x.at + len("<![CDATA[")
	if err := x.skip("<![CDATA[", "]]>"); err != nil {
		return err
	}
	return x.plain(x.doc[from : x.at-len("]]>")])
}

// characters reads text up to the next tag.
func (x *Scanner) characters() error {
	end := bytes.IndexByte(x.doc[x.at:], '<')
	if end < 0 {
		return x.bad("an end in the middle")
	}
	b := x.doc[x.at : x.at+end]
	for len(b) > 0 {
		amp := bytes.IndexByte(b, '&')
		if amp < 0 {
			amp = len(b)
		}
		if err := x.plain(b[:amp]); err != nil {
			return err
		}
		if b = b[amp:]; len(b) == 0 {
			break
		}
		semicolon := bytes.IndexByte(b, ';')
		if semicolon < 0 || !x.entity(b[1:semicolon]) {
			return x.bad("an unknown entity")
		}
		b = b[semicolon+1:]
	}
	x.at += end
	return nil
}

// plain appends text, with line ends normalized.
func (x *Scanner) plain(b []byte) error {
	if x.Depth == 0 {
		if b = bytes.TrimPrefix(b, []byte("\ufeff")); len(bytes.TrimSpace(b)) > 0 {
			return x.bad("text outside of the document")
		}
		return nil
	}
	for i := 0; i < len(b); {
		r, size := rune(b[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(b[i:])
		}
		switch {
		case r == utf8.RuneError && size == 1, !validRune(r):
			return x.bad("a character that is none")
		case r == '\r' && i+1 < len(b) && b[i+1] == '\n':
		case r == '\r':
			x.Text = append(x.Text, '\n')
		default:
			x.Text = append(x.Text, b[i:i+size]...)
		}
		i += size
	}
	return nil
}

// validRune reports whether XML allows a character.
func validRune(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd || r >= 0x10000 && r <= utf8.MaxRune
}

// entity appends the character for the entity between & and ;.
func (x *Scanner) entity(b []byte) bool {
	switch string(b) {
	case "lt":
		x.Text = append(x.Text, '<')
	case "gt":
		x.Text = append(x.Text, '>')
	case "amp":
		x.Text = append(x.Text, '&')
	case "quot":
		x.Text = append(x.Text, '"')
	case "apos":
		x.Text = append(x.Text, '\'')
	default:
		r, ok := charReference(b)
		if !ok || !validRune(r) {
			return false
		}
		x.Text = utf8.AppendRune(x.Text, r)
	}
	return true
}

// charReference parses "#38" or "#x26".
func charReference(b []byte) (r rune, ok bool) {
	if len(b) < 2 || b[0] != '#' || len(b) > 9 {
		return 0, false
	}
	if b = b[1:]; b[0] != 'x' {
		return parseRune(b, 10)
	}
	return parseRune(b[1:], 16)
}

func parseRune(digits []byte, base int) (r rune, ok bool) {
	n, err := strconv.ParseUint(string(digits), base, 63)
	return rune(min(n, utf8.MaxRune+1)), err == nil
}

func (x *Scanner) endTag() (int, error) {
	end := bytes.IndexByte(x.doc[x.at:], '>')
	if end < 0 {
		return 0, x.bad("a tag without an end")
	}
	name := bytes.TrimRight(x.doc[x.at+len("</"):x.at+end], " \t\r\n")
	if x.Depth == 0 || !bytes.Equal(name, x.open[x.Depth-1]) {
		return 0, x.bad("the end of an element that has no start")
	}
	x.at += end + 1
	return x.stop()
}

func (x *Scanner) startTag() (int, error) {
	if x.Depth == maxDepth {
		return 0, x.bad("too many elements within each other")
	}
	body, ok := x.tagBody()
	if !ok {
		return 0, x.bad("a tag without an end")
	}
	if len(body) > 0 && body[len(body)-1] == '/' {
		x.empty = true
		body = body[:len(body)-1]
	}
	name := body
	if end := bytes.IndexAny(body, " \t\r\n"); end >= 0 {
		name = body[:end]
	}
	if !validName(name) {
		return 0, x.bad("a tag without a name")
	}
	x.open[x.Depth], x.Name = name, local(name)
	x.Depth++
	x.Text = x.Text[:0]
	return Start, nil
}

// tagBody returns the text between < and >, and moves past it. Attributes may contain >.
func (x *Scanner) tagBody() (body []byte, ok bool) {
	quote := byte(0)
	for i := x.at + 1; i < len(x.doc); i++ {
		switch c := x.doc[i]; {
		case quote == 0 && c == '>':
			body = x.doc[x.at+1 : i]
			x.at = i + 1
			return body, true
		case quote == 0 && c == '<':
			return nil, false
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	return nil, false
}

// validName reports whether a store may send an element of this name.
func validName(b []byte) bool {
	for _, c := range b {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.', c == ':', c >= utf8.RuneSelf:
		default:
			return false
		}
	}
	return len(b) > 0 && (b[0] > '9' || b[0] == ':') && utf8.Valid(b)
}

// local returns a name without its namespace.
func local(name []byte) []byte {
	return name[bytes.IndexByte(name, ':')+1:]
}

// AppendText appends s, escaped, as text of a document. s has to be [ValidText].
func AppendText(dst []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; c {
		case '"':
			dst = append(dst, "&#34;"...)
		case '\'':
			dst = append(dst, "&#39;"...)
		case '&':
			dst = append(dst, "&amp;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		case '\t':
			dst = append(dst, "&#x9;"...)
		case '\n':
			dst = append(dst, "&#xA;"...)
		case '\r':
			dst = append(dst, "&#xD;"...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// ValidText reports whether a document can contain s as text.
func ValidText(s string) bool {
	for i, r := range s {
		if !validRune(r) {
			return false
		}
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return false
			}
		}
	}
	return true
}
