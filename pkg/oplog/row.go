package oplog

import (
	"bytes"
	"fmt"
	"math"
	"time"

	"warp/internal/human"
	"warp/pkg/oplog/field"
	"warp/pkg/oplog/lines"
)

// rowTimes are the times that a row has, and its number.
type rowTimes struct {
	start, first, last, end, duration int64
	hasFirst, hasLast                 bool
	hasEnd, hasDuration               bool
	lastEmpty                         bool // nothing is in the last column
	number                            uint64
	numbered                          bool // there is a number
}

// parseRow parses one line into rec. All of rec is set.
func (r *Reader) parseRow(line []byte, rec *Record) error {
	*rec = Record{Run: r.header.Run, Client: r.header.Client}
	r.row = rowTimes{}
	if err := r.setFields(line, rec); err != nil {
		return err
	}
	return r.completeRow(rec)
}

// completeRow sets the values that depend on several fields.
func (r *Reader) completeRow(rec *Record) error {
	if err := r.setTimes(rec); err != nil {
		return err
	}
	if r.origins != nil && !r.origins.resolve(rec) {
		return r.rowError(colThread, "thread %d of client %q is not one that the header knows", rec.Thread, rec.Client)
	}
	return nil
}

// setFields splits a line at its tabs. Lines with quotes are rare and have a path of their own.
func (r *Reader) setFields(line []byte, rec *Record) error {
	if bytes.IndexByte(line, '"') >= 0 {
		return r.setQuoted(line, rec)
	}
	ends := r.ends
	n, nul := field.Tabs(line, ends[:len(ends)-1])
	if n != len(ends)-1 {
		return r.wrongCount(n + 1)
	}
	if nul {
		return r.nulError(bytes.Split(line, []byte{'\t'}))
	}
	ends[n] = len(line)
	start := 0
	for i, c := range r.columns[:len(ends)] {
		f := line[start:ends[i]]
		start = ends[i] + 1
		if len(f) == 0 && c >= colDuration || c == colUnknown {
			continue
		}
		if !r.setField(rec, c, f) {
			return r.badField(c, f)
		}
	}
	r.row.lastEmpty = ends[n] > 0 && line[len(line)-1] == '\t'
	return nil
}

// setQuoted is setFields for a line with quotes.
func (r *Reader) setQuoted(line []byte, rec *Record) error {
	fields, err := r.splitQuoted(line)
	if err != nil {
		return err
	}
	defer r.forgetNames()
	for i, c := range r.columns {
		if !r.setField(rec, c, fields[i]) {
			return r.badField(c, fields[i])
		}
	}
	r.row.lastEmpty = len(fields[len(fields)-1]) == 0
	return nil
}

// forgetNames is called after a name with a tab in it may have been read, which
// fastRow would confuse with two fields: it compares text with the names of the
// line before.
func (r *Reader) forgetNames() {
	r.ops.Forget()
	r.clients.Forget()
	r.endpoints.Forget()
	r.errs.Forget()
	r.checks.Forget()
}

// nulError names the field that has a NUL in it.
func (r *Reader) nulError(fields [][]byte) error {
	for i, f := range fields {
		if bytes.IndexByte(f, 0) >= 0 {
			return r.rowError(r.columns[i], "a NUL byte, which no log has: the file is damaged")
		}
	}
	return r.rowError(colUnknown, "a NUL byte, which no log has: the file is damaged")
}

func (r *Reader) wrongCount(n int) error {
	if n > 1<<10 {
		return r.rowError(colUnknown, "more than %d fields where the first line names %d", 1<<10, len(r.columns))
	}
	return r.rowError(colUnknown, "%d fields where the first line names %d", n, len(r.columns))
}

// splitQuoted splits a line that has a quote somewhere. A field that begins with
// one ends with one. In between, quotes are doubled, and there may be line breaks.
// A quote elsewhere is just a character: other implementations do not escape it.
func (r *Reader) splitQuoted(line []byte) ([][]byte, error) {
	line, err := r.closeQuotes(line)
	if err != nil {
		return nil, err
	}
	fields := r.fields[:0]
	for at := 0; ; {
		if len(fields) == len(r.columns) {
			return nil, r.wrongCount(len(fields) + 1)
		}
		end := field.End(line, at)
		fields = append(fields, line[at:end])
		if end == len(line) {
			break
		}
		at = end + 1
	}
	if len(fields) != len(r.columns) {
		return nil, r.wrongCount(len(fields))
	}
	if bytes.IndexByte(line, 0) >= 0 {
		return nil, r.nulError(fields)
	}
	return field.Unquote(fields), nil
}

// closeQuotes adds lines to the given one while a quoted field is open in it.
// It reads every byte once, whatever the number of lines in a hostile log.
func (r *Reader) closeQuotes(line []byte) ([]byte, error) {
	first, column := r.lines.Number(), 0
	for at := 0; ; column++ {
		if at < len(line) && line[at] == '"' {
			from := at + 1
			end := field.ClosingQuote(line, from)
			for end < 0 {
				from = len(line)
				longer, err := r.joinLine(first, column)
				if err != nil {
					return nil, err
				}
				line = longer
				end = field.ClosingQuote(line, from)
			}
			at = end
		}
		i := bytes.IndexByte(line[at:], '\t')
		if i < 0 {
			return line, nil
		}
		at += i + 1
	}
}

// joinLine returns the line together with the one after it, since the given
// field is still open in it.
func (r *Reader) joinLine(first, column int) ([]byte, error) {
	joined, complete, err := r.lines.Join()
	switch {
	case err != nil:
		return nil, &ReadError{r.name, first, r.columnName(column),
			fmt.Errorf("this field starts with a quote, and none ends it within %s", human.Bytes(lines.Max))}
	case !complete:
		return nil, errCut
	}
	return trimCR(joined), nil
}

func (r *Reader) columnName(i int) string {
	if i < len(r.columns) {
		return r.columns[i].String()
	}
	return ""
}

// setField puts one field into the record.
func (r *Reader) setField(rec *Record, c column, f []byte) bool {
	switch c {
	case colStart, colFirstByte, colLastByte, colEnd, colDue:
		return r.setTime(rec, c, f)
	case colOp:
		rec.Op = r.ops.Get(f)
		return len(f) > 0
	case colClient:
		if len(f) > 0 {
			rec.Client = r.clients.Get(f)
		}
	case colEndpoint:
		rec.Endpoint = r.endpoints.Get(f)
	case colKey:
		rec.Key = r.key(f)
	case colErr:
		if len(f) > 0 {
			rec.Err = r.errs.Get(f)
		}
	case colStatement:
		statement, ok := r.statements.parse(f)
		rec.Statement = statement
		return ok
	case colNumber:
		r.row.number, r.row.numbered = field.ParseUint(f, math.MaxInt64)
	case colPhases:
		phases, ok := parsePhases(f)
		rec.Phases = phases
		return ok
	case colProperty, colOutcome, colCondition, colTokenSent, colTokenReceived:
		r.setCheck(rec, c, f)
	case colUnknown:
	default:
		return r.setNumber(rec, c, f)
	}
	return true
}

func (r *Reader) setTime(rec *Record, c column, f []byte) (ok bool) {
	if len(f) == 0 {
		return c != colStart
	}
	ns, ok := r.time.Parse(f)
	r.keepTime(rec, c, ns)
	return ok
}

func (r *Reader) keepTime(rec *Record, c column, ns int64) {
	switch c {
	case colStart:
		r.row.start, rec.Start = ns, ns
	case colFirstByte:
		r.row.first, r.row.hasFirst = ns, true
	case colLastByte:
		r.row.last, r.row.hasLast = ns, true
	case colEnd:
		r.row.end, r.row.hasEnd = ns, true
	case colDue:
		rec.Due = ns
	}
}

func (r *Reader) setNumber(rec *Record, c column, f []byte) bool {
	if len(f) == 0 { // not observed, where that is possible
		return c >= colDuration
	}
	if c == colCategory {
		n, ok := field.ParseUint(f, math.MaxUint64)
		rec.Category = n
		return ok
	}
	n, ok := field.ParseInt(f)
	return ok && r.keepNumber(rec, c, uint64(n))
}

// keepNumber puts a number where it belongs, if it fits.
func (r *Reader) keepNumber(rec *Record, c column, n uint64) bool {
	switch c {
	case colThread:
		rec.Thread = uint32(n)
		return n <= math.MaxInt32 // leaves room for offsets
	case colObjects:
		rec.Objects = int(n)
	case colBytes:
		rec.Bytes = int64(n)
	case colDuration:
		r.row.duration, r.row.hasDuration = int64(n), true
	case colStatus:
		rec.Status = uint16(n)
		return n <= math.MaxUint16
	case colRetries:
		rec.Retries = uint16(n)
		return n <= math.MaxUint16
	case colRequests:
		rec.Requests = uint16(n)
		return n <= math.MaxUint16
	case colClientTime:
		rec.ClientTime = time.Duration(n)
	}
	return true
}

// setTimes converts times to offsets. duration_ns takes precedence over end, because
// a clock that was set during the request spoils only the latter.
func (r *Reader) setTimes(rec *Record) error {
	t := &r.row
	switch {
	case t.hasDuration:
		rec.Duration = time.Duration(t.duration)
	case !t.hasEnd:
		return r.rowError(colEnd, "the row has neither an end nor a duration")
	case t.end < t.start:
		return r.rowError(colEnd, "the request ends %v before it starts", time.Duration(t.start-t.end))
	default:
		rec.Duration = time.Duration(t.end - t.start)
	}
	if int64(rec.Duration) > math.MaxInt64-max(rec.Start, 0) {
		return r.rowError(colDuration, "the request ends after the year 2262")
	}
	rec.ClientTime = min(rec.ClientTime, rec.Duration)
	if t.hasFirst {
		rec.FirstByte = r.offset(rec, t.first)
	}
	if t.hasLast {
		rec.LastByte = r.offset(rec, t.last)
	}
	return nil
}

// offset returns the time from the start of the request. It returns atStart for an
// event that a coarse clock saw at the start, because 0 means not observed.
func (r *Reader) offset(rec *Record, ns int64) time.Duration {
	d := time.Duration(ns - rec.Start)
	switch {
	case d < 0 || d > rec.Duration:
		r.outside++
		return 0
	case d == 0:
		return atStart
	}
	return d
}

func (r *Reader) rowError(c column, format string, args ...any) error {
	return r.lineError(c.String(), fmt.Errorf(format, args...))
}

// lineError returns an error of the line that was read last, or of one of its columns.
func (r *Reader) lineError(column string, err error) error {
	return &ReadError{r.name, r.lines.Number(), column, err}
}

// badField returns the error of a field that setField rejected.
func (r *Reader) badField(c column, f []byte) error {
	shown := f[:min(len(f), 60)]
	switch {
	case string(bytes.TrimSpace(f)) == c.String():
		return r.rowError(c, "a second line of column names: several logs were put into one file; `warp merge` does that properly")
	case len(f) == 0:
		return r.rowError(c, "the field is empty")
	case c >= colStart && c <= colEnd, c == colDue:
		return r.rowError(c, "%q is not a time (as in 2006-01-02T15:04:05.999999999Z)", shown)
	case c == colStatement:
		return r.rowError(c, "%q is not the number of a statement (as in 2 or 2-warmup)", shown)
	case c == colPhases:
		return r.rowError(c, "%q is not %d times in ns with commas between them", shown, len(PhaseNames))
	case f[0] == '-':
		return r.rowError(c, "%q is negative", shown)
	}
	return r.rowError(c, "%q is not a number that belongs there", shown)
}
