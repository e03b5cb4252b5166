package lean

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/s3"
)

// Limits of an answer's head. A line has to fit into the connection's buffer, and endless headers
// are cut off.
const (
	maxLine = 16 << 10
	maxHead = 64 << 10
)

// A responseHead holds the status line of an answer and the headers that matter here. It is fed
// line by line and copies what it keeps, so that the receive buffer can be reused.
type responseHead struct {
	status    int
	length    int64 // Content-Length; -1 = absent
	chunked   bool
	close     bool   // the connection ends with this answer
	closing   bool   // the answer says so itself
	begun     bool   // the status line has been seen
	marker    bool   // x-amz-delete-marker: true
	described bool   // headers that count as metadata
	keeps     string // keep the lines of headers whose names begin so
	size      int    // bytes so far, including 1xx answers

	objectSize int64  // x-amz-object-size
	kept       []byte // those lines
	text       []byte
	etag, modified, sourceTime, version,
	region, code, message,
	location, sent, contentType []byte // Location, Range, Content-Type
}

// reset gets ready for another answer, of which it keeps headers whose names begin with keeps; "" = none.
func (h *responseHead) reset(keeps string) {
	h.size, h.keeps = 0, keeps
	h.next()
}

// next prepares for the head after an interim answer.
func (h *responseHead) next() {
	h.status, h.length, h.objectSize, h.kept = 0, -1, 0, h.kept[:0]
	h.chunked, h.close, h.closing, h.begun, h.marker, h.described = false, false, false, false, false, false
	for _, field := range []*[]byte{&h.text, &h.etag, &h.modified, &h.sourceTime, &h.version, &h.region, &h.code, &h.message, &h.location, &h.sent, &h.contentType} {
		*field = (*field)[:0]
	}
}

// feed reads the complete lines at the start of b. It returns their length, and whether the head
// ended with them.
func (h *responseHead) feed(b []byte) (used int, done bool, err error) {
	for {
		end := bytes.IndexByte(b[used:], '\n')
		if end < 0 {
			if len(b)-used >= maxLine {
				return used, false, store.BadAnswer(0, "a header line is longer than %d bytes", maxLine)
			}
			return used, false, nil
		}
		line := b[used : used+end]
		used += end + 1
		if h.size += end + 1; h.size > maxHead {
			return used, false, store.BadAnswer(0, "the headers are longer than %d bytes", maxHead)
		}
		if end > 0 && line[end-1] == '\r' {
			line = line[:end-1]
		}
		if done, err := h.line(line); done || err != nil {
			return used, done, err
		}
	}
}

func (h *responseHead) line(line []byte) (done bool, err error) {
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
func (h *responseHead) statusLine(line []byte) error {
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
		h.status = 10*h.status + int(c-'0')
	}
	if h.status < 100 {
		return notHTTP(line)
	}
	h.close = minor == '0' // unless it says otherwise
	h.text = append(h.text, line[len(proto)+2:]...)
	return nil
}

func notHTTP(line []byte) error {
	return store.BadAnswer(0, "the answer is not HTTP/1: it begins with %.40q", line)
}

// header parses a header line. The length of the name rules out nearly all lines before names are
// compared.
func (h *responseHead) header(line []byte) error {
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
		keep(&h.etag, name, "ETag", value)
	case len("Range"):
		keep(&h.sent, name, "Range", value)
	case len("Location"):
		keep(&h.location, name, "Location", value)
	case len("Connection"):
		if is(name, "Connection") {
			h.connection(value)
		}
	case len("Content-MD5"):
		if h.keeps != "" && is(name, "Content-MD5") {
			h.kept = append(append(append(h.kept, "content-md5:"...), value...), '\n')
		}
	case len("Content-Type"):
		h.described = h.described || is(name, "Content-Type")
		if h.keeps != "" {
			keep(&h.contentType, name, "Content-Type", value)
		}
	case len("Last-Modified"):
		keep(&h.modified, name, "Last-Modified", value)
	case len("Content-Length"):
		if is(name, "Content-Length") {
			return h.contentLength(value)
		}
	case len("x-amz-version-id"):
		keep(&h.version, name, "x-amz-version-id", value)
	case len("Transfer-Encoding"): // and x-amz-object-size
		if is(name, "Transfer-Encoding") {
			return h.transferEncoding(value)
		}
		if is(name, "x-amz-object-size") {
			h.objectSize, _ = parseDigits(value)
		}
	case len("x-minio-error-code"): // and x-minio-error-desc
		keep(&h.code, name, "x-minio-error-code", value)
		keep(&h.message, name, "x-minio-error-desc", value)
	case len("x-amz-delete-marker"): // and x-amz-bucket-region
		keep(&h.region, name, "x-amz-bucket-region", value)
		h.marker = h.marker || is(name, "x-amz-delete-marker") && string(value) == "true"
	case len("x-minio-source-mtime"):
		keep(&h.sourceTime, name, "x-minio-source-mtime", value)
	}
	return nil
}

const checksumPrefix = "x-amz-checksum-"

// sum returns the value of the checksum header called name.
func (h *responseHead) sum(name string) string {
	for line := range bytes.Lines(h.kept) {
		if len(line) > len(name) && line[len(name)] == ':' && is(line[:len(name)], name) {
			return string(bytes.TrimSuffix(line[len(name)+1:], []byte("\n")))
		}
	}
	return ""
}

// storedChecksum returns the object's checksum according to the head.
func (h *responseHead) storedChecksum() store.StoredChecksum {
	header := make(http.Header)
	for line := range strings.Lines(string(h.kept)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		header.Set(name, value)
	}
	return s3.StoredChecksum(header)
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

// connection parses the tokens of a Connection header. close overrides the others.
func (h *responseHead) connection(value []byte) {
	for len(value) > 0 {
		var token []byte
		token, value, _ = bytes.Cut(value, []byte(","))
		switch token = trimBlanks(token); {
		case len(token) == len("close") && is(token, "close"):
			h.close, h.closing = true, true
		case len(token) == len("keep-alive") && is(token, "keep-alive") && !h.closing:
			h.close = false
		}
	}
}

func (h *responseHead) contentLength(value []byte) error {
	n, ok := parseDigits(value)
	if !ok {
		return store.BadAnswer(0, "bad Content-Length %.40q", value)
	}
	if h.length >= 0 && h.length != n {
		return store.BadAnswer(0, "two Content-Lengths, %d and %d", h.length, n)
	}
	h.length = n
	return nil
}

func (h *responseHead) transferEncoding(value []byte) error {
	if h.chunked || len(value) != len("chunked") || !is(value, "chunked") {
		return store.BadAnswer(0, "unsupported Transfer-Encoding %.40q", value)
	}
	h.chunked = true
	return nil
}

// parseDigits parses a decimal number of at most 63 bits.
func parseDigits(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 19 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, n >= 0
}

// parseChunkSize parses the line before a chunk: hexadecimal digits, and perhaps an extension,
// which is ignored.
func parseChunkSize(line []byte) (n int64, ok bool) {
	if semicolon := bytes.IndexByte(line, ';'); semicolon >= 0 {
		line = line[:semicolon]
	}
	return parseHex(trimBlanks(line))
}

// parseHex parses a hexadecimal number of at most 60 bits.
func parseHex(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 15 {
		return 0, false
	}
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | int64(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			n = n<<4 | int64(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// parseDate parses "Mon, 02 Jan 2006 15:04:05 GMT", the form that all stores use. It leaves other
// forms to the caller.
func parseDate(b []byte) (t time.Time, ok bool) {
	if len(b) != len("Mon, 02 Jan 2006 15:04:05 GMT") || string(b[25:]) != " GMT" ||
		b[3] != ',' || b[4] != ' ' || b[7] != ' ' || b[11] != ' ' || b[16] != ' ' || b[19] != ':' || b[22] != ':' {
		return t, false
	}
	const months = "JanFebMarAprMayJunJulAugSepOctNovDec"
	var month time.Month
	for i := range time.Month(12) {
		if string(b[8:11]) == months[3*i:3*i+3] {
			month = i + 1
		}
	}
	day, ok1 := parseDigits(b[5:7])
	year, ok2 := parseDigits(b[12:16])
	hour, ok3 := parseDigits(b[17:19])
	minute, ok4 := parseDigits(b[20:22])
	second, ok5 := parseDigits(b[23:25])
	t = time.Date(int(year), month, int(day), int(hour), int(minute), int(second), 0, time.UTC)
	// A date that does not exist comes out as another one.
	ok = ok1 && ok2 && ok3 && ok4 && ok5 && month > 0 && t.Day() == int(day) && t.Second() == int(second) && hour < 24 && minute < 60
	return t, ok
}
