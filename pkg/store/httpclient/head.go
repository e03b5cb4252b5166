package httpclient

import (
	"bytes"
	"strings"

	"warp/internal/human"
	"warp/pkg/store"
)

const (
	// maxLine is the max length of a header line. The receive buffer must have room for it.
	maxLine = 16 << 10
	maxHead = 64 << 10
)

// A Head is the status line of an answer, with the headers that matter here. It copies their
// values, so that the receive buffer can be reused.
type Head struct {
	Status       int
	Text         []byte // text of the status line, with the code
	Length       int64  // Content-Length; -1 = absent
	Chunked      bool
	Close        bool  // the connection ends with this answer
	DeleteMarker bool  // x-amz-delete-marker: true
	HasMetadata  bool  // headers that count as metadata
	ObjectSize   int64 // x-amz-object-size

	ETag, Modified, SourceTime, Version,
	Region, Code, Message,
	Location, Range, ContentType []byte

	closing bool   // the answer itself announces the end of the connection
	begun   bool   // the status line has been seen
	size    int    // bytes so far, including 1xx answers
	keeps   string // keep the lines of headers whose names begin with this
	kept    []byte // those lines
}

func notHTTP(line []byte) error {
	return store.BadAnswer(0, "the answer is not HTTP/1: it begins with %.40q", line)
}

// keep copies the value of a header's first occurrence.
func keep(field *[]byte, name []byte, want string, value []byte) {
	if len(*field) == 0 && is(name, want) {
		*field = append(*field, value...)
	}
}

// is compares header names of the same length, ignoring case.
func is(name []byte, want string) bool {
	for i, c := range name {
		w := want[i]
		if c != w && (c|0x20 != w|0x20 || c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

func trimBlanks(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// reset prepares for another answer. It keeps all headers whose names begin with keeps; "" = none.
func (h *Head) reset(keeps string) {
	h.size, h.keeps = 0, keeps
	h.next()
}

// next prepares for the head after an interim answer.
func (h *Head) next() {
	h.Status, h.Length, h.ObjectSize, h.kept = 0, -1, 0, h.kept[:0]
	h.Chunked, h.Close, h.closing, h.begun, h.DeleteMarker, h.HasMetadata = false, false, false, false, false, false
	for _, field := range []*[]byte{&h.Text, &h.ETag, &h.Modified, &h.SourceTime, &h.Version, &h.Region, &h.Code, &h.Message, &h.Location, &h.Range, &h.ContentType} {
		*field = (*field)[:0]
	}
}

// feed reads the complete lines at the start of b. It returns their length, and whether the head
// ended with them.
func (h *Head) feed(b []byte) (used int, done bool, err error) {
	for {
		end := bytes.IndexByte(b[used:], '\n')
		if end < 0 {
			if len(b)-used >= maxLine {
				return used, false, store.BadAnswer(0, "a header line is longer than %s", human.Bytes(maxLine))
			}
			return used, false, nil
		}
		line := b[used : used+end]
		used += end + 1
		if err := h.grow(end+1, 0); err != nil {
			return used, false, err
		}
		if end > 0 && line[end-1] == '\r' {
			line = line[:end-1]
		}
		if done, err := h.line(line); done || err != nil {
			return used, done, err
		}
	}
}

// grow counts n more bytes of the head, or of the trailer after a chunked body, towards the limit.
func (h *Head) grow(n, status int) error {
	if h.size += n; h.size > maxHead {
		return store.BadAnswer(status, "the headers are longer than %s", human.Bytes(maxHead))
	}
	return nil
}

func (h *Head) line(line []byte) (done bool, err error) {
	switch {
	case !h.begun:
		h.begun = true
		return false, h.statusLine(line)
	case len(line) == 0:
		return true, nil
	}
	return false, h.header(line)
}

// statusLine parses "HTTP/1.x 200 text".
func (h *Head) statusLine(line []byte) error {
	const proto = "HTTP/1."
	if len(line) < len(proto)+5 || string(line[:len(proto)]) != proto || line[len(proto)+1] != ' ' {
		return notHTTP(line)
	}
	minor, code, rest := line[len(proto)], line[len(proto)+2:len(proto)+5], line[len(proto)+5:]
	if minor < '0' || minor > '9' || len(rest) > 0 && rest[0] != ' ' {
		return notHTTP(line)
	}
	for _, c := range code {
		if c < '0' || c > '9' {
			return notHTTP(line)
		}
		h.Status = 10*h.Status + int(c-'0')
	}
	if h.Status < 100 {
		return notHTTP(line)
	}
	h.Close = minor == '0' // unless it says otherwise
	h.Text = append(h.Text, line[len(proto)+2:]...)
	return nil
}

// header parses a header line. The length of the name rules out nearly all lines before names are
// compared.
func (h *Head) header(line []byte) error {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 || line[0] == ' ' || line[0] == '\t' || line[colon-1] == ' ' {
		return store.BadAnswer(0, "malformed header line %.40q", line)
	}
	name, value := line[:colon], trimBlanks(line[colon+1:])
	if h.keeps != "" && len(name) > len(h.keeps) && is(name[:len(h.keeps)], h.keeps) {
		h.kept = append(append(append(append(h.kept, name...), ':'), value...), '\n')
		return nil
	}
	switch len(name) {
	case len("ETag"):
		keep(&h.ETag, name, "ETag", value)
	case len("Range"):
		keep(&h.Range, name, "Range", value)
	case len("Location"):
		keep(&h.Location, name, "Location", value)
	case len("Connection"):
		if is(name, "Connection") {
			h.connection(value)
		}
	case len("Content-MD5"):
		if h.keeps != "" && is(name, "Content-MD5") {
			h.kept = append(append(append(h.kept, "content-md5:"...), value...), '\n')
		}
	case len("Content-Type"):
		h.HasMetadata = h.HasMetadata || is(name, "Content-Type")
		if h.keeps != "" {
			keep(&h.ContentType, name, "Content-Type", value)
		}
	case len("Last-Modified"):
		keep(&h.Modified, name, "Last-Modified", value)
	case len("Content-Length"):
		if is(name, "Content-Length") {
			return h.contentLength(value)
		}
	case len("x-amz-version-id"):
		keep(&h.Version, name, "x-amz-version-id", value)
	case len("Transfer-Encoding"): // also x-amz-object-size
		if is(name, "Transfer-Encoding") {
			return h.transferEncoding(value)
		}
		if is(name, "x-amz-object-size") {
			h.ObjectSize, _ = ParseDigits(value)
		}
	case len("x-minio-error-code"): // also x-minio-error-desc
		keep(&h.Code, name, "x-minio-error-code", value)
		keep(&h.Message, name, "x-minio-error-desc", value)
	case len("x-amz-delete-marker"): // also x-amz-bucket-region
		keep(&h.Region, name, "x-amz-bucket-region", value)
		h.DeleteMarker = h.DeleteMarker || is(name, "x-amz-delete-marker") && string(value) == "true"
	case len("x-minio-source-mtime"):
		keep(&h.SourceTime, name, "x-minio-source-mtime", value)
	}
	return nil
}

// value returns the value of the kept header called name.
func (h *Head) value(name string) string {
	for line := range bytes.Lines(h.kept) {
		if len(line) > len(name) && line[len(name)] == ':' && is(line[:len(name)], name) {
			return string(bytes.TrimSuffix(line[len(name)+1:], []byte("\n")))
		}
	}
	return ""
}

// each calls do with the value of every kept header of that name, until it returns false.
func (h *Head) each(name string, do func(value []byte) bool) {
	var line []byte // not an iterator, whose body would move do to the heap
	for rest := h.kept; len(rest) > 0; {
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		if len(line) > len(name) && line[len(name)] == ':' && is(line[:len(name)], name) && !do(line[len(name)+1:]) {
			return
		}
	}
}

// eachNamed calls do with every kept header whose name begins with prefix. Names are in lower case.
func (h *Head) eachNamed(prefix string, do func(name, value string)) {
	for line := range strings.Lines(string(h.kept)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		if name = strings.ToLower(name); strings.HasPrefix(name, prefix) {
			do(name, value)
		}
	}
}

// connection parses the tokens of a Connection header. close overrides the others.
func (h *Head) connection(value []byte) {
	for len(value) > 0 {
		var token []byte
		token, value, _ = bytes.Cut(value, []byte(","))
		switch token = trimBlanks(token); {
		case len(token) == len("close") && is(token, "close"):
			h.Close, h.closing = true, true
		case len(token) == len("keep-alive") && is(token, "keep-alive") && !h.closing:
			h.Close = false
		}
	}
}

func (h *Head) contentLength(value []byte) error {
	n, ok := ParseDigits(value)
	if !ok {
		return store.BadAnswer(0, "bad Content-Length %.40q", value)
	}
	if h.Length >= 0 && h.Length != n {
		return store.BadAnswer(0, "two Content-Lengths, %d and %d", h.Length, n)
	}
	h.Length = n
	return nil
}

func (h *Head) transferEncoding(value []byte) error {
	if h.Chunked || len(value) != len("chunked") || !is(value, "chunked") {
		return store.BadAnswer(0, "unsupported Transfer-Encoding %.40q", value)
	}
	h.Chunked = true
	return nil
}
