package oplog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"warp/internal/human"
	"warp/internal/wire"
	"warp/pkg/oplog/field"
	"warp/pkg/oplog/lines"
)

// A Reader reads an op log of this or another implementation: zstd, gzip or
// plain text, columns found by name.
type Reader struct {
	// Prompt makes Read return the rows that are there rather than wait for more.
	Prompt bool

	name      string
	lines     *lines.Reader
	columns   []column
	has       [numColumns]bool
	header    Header
	hasHeader bool
	trailer   Trailer
	window    Window // of the rows that Read returned last
	decided   Window // so far
	marks     []Mark
	marked    int // number of them before the rows that Read returned last
	moreMarks int // number of marks that were dropped
	comments  []string
	warnings  []string
	file      *os.File // closed by Close where Open opened it

	time      field.TimeParser
	ops       wire.Interner
	clients   wire.Interner
	endpoints wire.Interner
	errs      wire.Interner
	checks    wire.Interner // properties and outcomes

	statements statementParser
	origins    OriginIndex
	keys       strings.Builder // of the latest rows, one after the other
	keyBytes   int             // of the batch that is being read
	fields     [][]byte
	ends       []int // of the fields of the line
	layout     layout
	fast       int // rows that fastRow has read
	templates  [templateSlots]rowTemplate
	row        rowTimes
	numbers    numberCheck
	outside    int  // first_byte or last_byte outside of the request
	pending    bool // lines.Next was called ahead for the line in ahead
	ahead      []byte
	complete   bool // ahead has an end
	done       error
	rows       int64
}

// maxComments bounds what is kept of foreign comments.
const (
	maxComments    = 64
	maxCommentSize = 16 << 10
)

// ErrAggregated is the error of a log that is a JSON document, as other tools write their results.
var ErrAggregated = errors.New("this is a JSON document, such as the aggregated results of minio/warp, and has no single requests: " +
	"analyze and cmp read such results one by one; with --full, minio/warp writes every request")

// A ReadError says where in which log something cannot be read.
type ReadError struct {
	File   string
	Line   int    // 0 where it is about the file as a whole
	Column string // "" where it is about the whole line
	Err    error
}

func (e *ReadError) Error() string {
	s := e.File
	if e.Line > 0 {
		s += fmt.Sprintf(": line %d", e.Line)
	}
	if e.Column != "" {
		s += ", column " + e.Column
	}
	return s + ": " + e.Err.Error()
}

func (e *ReadError) Unwrap() error { return e.Err }

// Open opens the log at path.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(f, path)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	r.file = f
	return r, nil
}

// NewReader reads the log in r up to its first row, so that Header can be asked
// for at once. Messages refer to the log as name.
func NewReader(r io.Reader, name string) (*Reader, error) {
	text, err := lines.NewReader(r)
	if err != nil {
		return nil, &ReadError{File: name, Err: err}
	}
	lr := &Reader{name: name, lines: text}
	if err := lr.readHead(); err != nil {
		text.Close()
		return nil, err
	}
	return lr, nil
}

// Header is what the log says about its run, or zero.
func (r *Reader) Header() Header { return r.header }

// Trailer is what the log says at its end. It is known once Read has returned io.EOF.
func (r *Reader) Trailer() Trailer { return r.trailer }

// Comments are the comments that are not ours, the first 64 of them. Like
// Trailer they are complete at the end.
func (r *Reader) Comments() []string { return r.comments }

// Warnings says, at the end, what is wrong with the log although every row
// that was delivered is right.
func (r *Reader) Warnings() []string { return r.warnings }

// Close releases what reading needs. It does not close the reader given to NewReader.
func (r *Reader) Close() error {
	r.lines.Close()
	if r.file != nil {
		return r.file.Close()
	}
	return nil
}

// readHead reads the column line and the comments before the first row.
func (r *Reader) readHead() error {
	if b := bytes.TrimLeft(r.lines.Peek(), "\uFEFF \t\r\n"); len(b) > 0 && b[0] == '{' {
		return &ReadError{File: r.name, Err: ErrAggregated}
	}
	for r.columns == nil {
		line, complete, err := r.lines.Next()
		if err != nil {
			return r.headError(err)
		}
		if len(line) > 0 && line[0] == '#' && complete {
			r.comment(line)
			continue
		}
		line = bytes.TrimPrefix(trimCR(line), []byte("\uFEFF"))
		if err := r.readColumns(line, complete); err != nil {
			return err
		}
	}
	for {
		line, complete, err := r.nextLine()
		if err != nil {
			r.finish(err)
			break
		}
		if len(line) > 0 && line[0] != '#' {
			r.ahead, r.complete, r.pending = line, complete, true
			break
		}
		r.noRow(line, complete)
	}
	r.header.Scripted = r.has[colStatement]
	if r.has[colProperty] && r.header.Checks == nil { // a piece of a log
		r.header.Checks = &Checks{}
	}
	return r.indexOrigins()
}

// noRow reads an empty line or a comment. A comment of warp without a line end was cut off.
func (r *Reader) noRow(line []byte, complete bool) {
	if len(line) > 0 && (complete || r.lines.Err() == io.EOF && r.header.Warp == "") {
		r.comment(line)
	}
}

// headError is for a source that ends or breaks before the column line.
func (r *Reader) headError(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		err = errors.New("this is not an op log: it has no line with column names")
	case errors.Is(err, lines.ErrLong):
		err = errors.New("this is not an op log: the first line is not one of column names")
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the log was cut off before its first row")
	default:
		err = fmt.Errorf("this is not an op log, or its beginning is damaged: %w", err)
	}
	return r.lineError("", err)
}

// readColumns finds out what is where.
func (r *Reader) readColumns(line []byte, complete bool) error {
	names := strings.Split(string(line), "\t")
	if len(names) < 3 || !utf8.Valid(line) || bytes.IndexByte(line, 0) >= 0 {
		why := "this is not an op log: its first line is not one of tab-separated column names"
		if !complete && r.lines.Err() != nil && r.lines.Err() != io.EOF {
			why = "the log was cut off in its first line"
		}
		return r.lineError("", errors.New(why))
	}
	for _, name := range names {
		c := columnByName(strings.Trim(name, `"`))
		if c != colUnknown && r.has[c] {
			return r.lineError(name, errors.New("the column occurs twice"))
		}
		r.has[c] = true
		r.columns = append(r.columns, c)
	}
	r.fields = make([][]byte, len(names))
	r.ends = make([]int, len(names))
	r.layout = layoutOf(string(line))
	for _, c := range essential {
		if !r.has[c] {
			return r.lineError(c.String(), errors.New("the column is missing"))
		}
	}
	if !r.has[colEnd] && !r.has[colDuration] {
		return r.lineError("end", errors.New("the column is missing, and so is duration_ns"))
	}
	return nil
}

// comment parses our JSON and keeps the comments of others.
func (r *Reader) comment(line []byte) {
	text := bytes.TrimSpace(line[1:])
	if len(text) > 0 && text[0] == '{' && r.ourComment(text) {
		return
	}
	if len(text) > maxCommentSize {
		text = text[:maxCommentSize]
	}
	if len(r.comments) < maxComments && len(text) > 0 {
		r.comments = append(r.comments, strings.ToValidUTF8(string(text), "\uFFFD"))
	}
}

// ourComment recognises a header or a trailer by the field that each must have.
func (r *Reader) ourComment(text []byte) bool {
	var kind struct {
		Warp   *string `json:"warp"`
		End    *string `json:"end"`
		Window *Window `json:"window"`
		Mark   *Mark   `json:"mark"`
	}
	if json.Unmarshal(text, &kind) != nil {
		return false
	}
	switch {
	case kind.Warp != nil && !r.hasHeader && r.rows == 0:
		var h Header
		if json.Unmarshal(text, &h) != nil {
			return false
		}
		r.header, r.hasHeader = h, true
		return true
	case kind.End != nil:
		var t Trailer
		if json.Unmarshal(text, &t) != nil {
			return false
		}
		r.trailer = t
		return true
	case kind.Window != nil:
		r.decided = *kind.Window
		return true
	case kind.Mark != nil:
		r.addMark(*kind.Mark)
		return true
	}
	return false
}

// Window is what the run had decided about its window before the rows that
// Read returned last.
func (r *Reader) Window() Window { return r.window }

// Read fills dst with the next records and returns how many they are. At the
// end it returns 0 and io.EOF; a log that was cut off ends like one that was
// not, and Warnings says so. An error comes after the rows before it.
func (r *Reader) Read(dst []Record) (int, error) {
	if len(dst) == 0 {
		return 0, r.done
	}
	r.keyBytes = 0
	n := 0
	for n < len(dst) && r.done == nil && r.keyBytes < 1<<20 {
		if n == 0 {
			r.window, r.marked = r.decided, len(r.marks)
		} else if r.window != r.decided || r.marked != len(r.marks) || r.Prompt && !r.lines.Ready() {
			break
		}
		ok, err := r.readRow(&dst[n])
		if err != nil {
			r.finish(err)
			break
		}
		if ok {
			n++
		}
	}
	if n == 0 {
		r.window, r.marked = r.decided, len(r.marks)
		return 0, r.done
	}
	return n, nil
}

// key is a key as a string, which shares its memory with those before it.
func (r *Reader) key(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	r.keyBytes += len(b)
	if r.keys.Cap()-r.keys.Len() < len(b) {
		r.keys.Reset()
		r.keys.Grow(max(64<<10, len(b)))
	}
	r.keys.Write(b)
	all := r.keys.String()
	return all[len(all)-len(b):]
}

// nextLine is the next line of the source without the carriage return that
// Windows puts at its end.
func (r *Reader) nextLine() (line []byte, complete bool, err error) {
	if r.pending {
		r.pending = false
		return r.ahead, r.complete, nil
	}
	line, complete, err = r.lines.Next()
	return trimCR(line), complete, err
}

func trimCR(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

// errCut marks that the log ends within a row.
var errCut = errors.New("the last row is incomplete")

// readRow reads the next line; ok says that it was a row.
func (r *Reader) readRow(rec *Record) (ok bool, err error) {
	if r.fastRow(rec) {
		if err := r.completeRow(rec); err != nil {
			return false, err
		}
		r.countRow()
		return true, nil
	}
	line, complete, err := r.nextLine()
	if err != nil {
		return false, err
	}
	if len(line) == 0 || line[0] == '#' {
		r.noRow(line, complete)
		return false, nil
	}
	if !complete && (r.lines.Err() != io.EOF || r.header.Warp != "") {
		return false, errCut // every line that warp writes has an end
	}
	if err := r.parseRow(line, rec); err != nil {
		if !complete || errors.Is(err, errCut) {
			return false, errCut
		}
		return false, err
	}
	if !complete && !r.plausibleEnd() {
		return false, errCut
	}
	r.countRow()
	return true, nil
}

// countRow is called for each row that is delivered.
func (r *Reader) countRow() {
	r.rows++
	if r.row.numbered {
		r.numbers.add(r.row.number)
	} else {
		r.numbers.off = true
	}
}

// plausibleEnd judges a last row without a line end, which hand-made logs have
// and logs that were cut off too. All its fields are there; a number at the
// very end may have lost digits, which shows where there is another one to
// compare it with.
func (r *Reader) plausibleEnd() bool {
	return !r.row.lastEmpty && (!r.row.hasEnd || !r.row.hasDuration || r.row.end-r.row.start == r.row.duration)
}

// finish decides what Read returns after the end of the source.
func (r *Reader) finish(err error) {
	var at *ReadError
	if bad := r.lines.Err(); bad != nil && bad != io.EOF && (errors.Is(err, errCut) || errors.Is(err, io.ErrUnexpectedEOF)) && r.lines.More() {
		r.done = r.lineError("", fmt.Errorf("the %s data is damaged after this line, and more follows: %w", r.lines.Format(), bad))
		return
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, errCut), errors.Is(err, io.ErrUnexpectedEOF):
		r.endWarnings(err)
		r.done = io.EOF
	case errors.As(err, &at):
		r.done = at
	case errors.Is(err, lines.ErrLong):
		r.done = r.lineError("", err)
	default:
		r.done = r.lineError("", fmt.Errorf("the %s data is damaged after this line: %w", r.lines.Format(), err))
	}
}

func (r *Reader) endWarnings(err error) {
	switch {
	case errors.Is(err, errCut), errors.Is(err, io.ErrUnexpectedEOF),
		r.lines.Err() != nil && r.lines.Err() != io.EOF:
		r.warn("the log was cut off; %s before that %s read", human.Plural(r.rows, "complete row"), human.Choose(r.rows, "is", "are"))
	case r.header.Warp != "" && r.trailer.IsZero():
		r.warn("the log has no closing line: its run was killed or its disk was full; %s up to there %s read", human.Plural(r.rows, "row"), human.Choose(r.rows, "is", "are"))
	}
	r.numberWarnings()
	if r.moreMarks > 0 {
		r.warn("the log has %d marks, and only the first %d are read", MaxMarks+r.moreMarks, MaxMarks)
	}
	if r.outside > 0 {
		r.warn("%s a first_byte or last_byte outside of the request; it is taken as not observed", human.Count(r.outside, "row has", "rows have"))
	}
}

// numberWarnings says how many rows are missing or repeated. That cannot be
// known of tools that give all rows the same number.
func (r *Reader) numberWarnings() {
	if r.header.Warp == "" && r.numbers.next <= 1 {
		return
	}
	missing, repeated := r.numbers.result(uint64(max(r.trailer.Rows, 0)))
	if missing > 0 {
		r.warn("%s missing, by their numbers (idx): this file lacks a part of its log", human.Count(missing, "row is", "rows are"))
	}
	if repeated > 0 {
		r.warn("%s the number (idx) of an earlier row: this file has a part of its log twice", human.Count(repeated, "row has", "rows have"))
	}
}

func (r *Reader) warn(format string, args ...any) {
	r.warnings = append(r.warnings, r.name+": "+fmt.Sprintf(format, args...))
}
