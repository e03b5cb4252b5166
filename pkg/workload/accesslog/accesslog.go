// Package accesslog reads logs of requests for profiles of workloads: server access logs of S3, audit logs of MinIO and RustFS,
// and op logs. It recognises them by their content, and passes on no names.
package accesslog

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cespare/xxhash/v2"

	"warp/internal/human"
	"warp/pkg/oplog"
	"warp/pkg/oplog/lines"
	"warp/pkg/workload"
)

// The formats.
const (
	formatText  = "S3 server access log"
	formatJSON  = "S3 server access log from CloudWatch"
	formatAudit = "audit log of MinIO"
	formatRust  = "audit log of RustFS"
	formatWarp  = "op log of warp"
	formatOther = "op log of minio/warp"
)

// peeked is how much of a log decides on its format.
const peeked = 64 << 10

// A format is one that has a request in each line.
type format struct {
	name       string
	resolution float64 // of its times, in seconds
	// parse parses a line into a request. It returns errLeftOut for a line that is correct, but not a request of a client.
	// Errors do not contain the line, which may have secrets.
	parse func(line []byte, r *workload.Request) error
	// objects is called after parse, and returns the other objects that the request is about.
	objects func() []uint64
}

// errLeftOut is the error of a line that is not about a request of a client.
var errLeftOut = errors.New("this line is not about a request of a client")

// formats returns the formats of lines. They are made for each log, because they reuse memory.
func formats() []format {
	return []format{newTextFormat(), newCloudWatchFormat(), newAuditFormat(), newRustFormat()}
}

// errStopped is the error of a log that need not be read to its end.
var errStopped = errors.New("no more requests are needed")

// read calls pass with the requests of a log until it returns false. The log may be compressed with gzip or zstd. Messages refer
// to it as name.
func read(ctx context.Context, in io.Reader, name string, to *workload.Collector, pass func(*workload.Request) bool) (warnings []string, err error) {
	text, err := lines.Decompress(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer text.Close()
	b := bufio.NewReaderSize(text, peeked)
	begin, err := b.Peek(peeked)
	if err != nil && !errors.Is(err, io.EOF) && len(begin) == 0 {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if isOpLog(begin) {
		return readOpLog(ctx, b, name, to, pass)
	}
	f, err := recognise(begin)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := &reader{format: f, name: name, to: to, pass: pass}
	if err := r.read(ctx, b); err != nil {
		return nil, err
	}
	return r.warnings, nil
}

// IsOpLog reports whether a log, which may be compressed, looks like an op log.
func IsOpLog(in io.Reader) bool {
	text, err := lines.Decompress(in)
	if err != nil {
		return false
	}
	defer text.Close()
	begin, _ := bufio.NewReader(text).Peek(4096)
	return isOpLog(begin)
}

// isOpLog reports whether a log begins with a comment or names of columns.
func isOpLog(begin []byte) bool {
	begin = bytes.TrimPrefix(begin, []byte("\uFEFF"))
	line, _, _ := bytes.Cut(begin, []byte("\n"))
	return len(line) > 0 && line[0] == '#' || bytes.Count(line, []byte("\t")) >= 2 && !bytes.ContainsAny(line, "{[")
}

// triedLines is how many lines are tried. One of them must be in a known format.
const triedLines = 20

var errUnknown = errors.New("this is not a log that warp knows: neither a server access log of S3 (text, or JSON from CloudWatch), an audit log of MinIO or RustFS (JSON lines), nor an op log")

// recognise finds out the format of a log.
func recognise(begin []byte) (format, error) {
	if len(bytes.TrimSpace(begin)) == 0 {
		return format{}, errors.New("the log is empty")
	}
	all := formats()
	document := bytes.HasPrefix(bytes.TrimSpace(begin), []byte("{"))
	for range triedLines {
		line, rest, more := bytes.Cut(begin, []byte("\n"))
		for _, f := range all {
			if err := f.parse(trim(line), &workload.Request{}); err == nil || errors.Is(err, errLeftOut) {
				return f, nil
			}
		}
		if !more {
			break
		}
		begin = rest
	}
	if document {
		return format{}, fmt.Errorf("%w; a JSON document with results does not list its requests", errUnknown)
	}
	return format{}, errUnknown
}

func trim(line []byte) []byte { return bytes.Trim(line, " \t\r\uFEFF") }

// nanoseconds returns a time as a number, which cannot hold the times of damaged lines.
func nanoseconds(at time.Time) (int64, error) {
	if at.Year() < 1970 || at.Year() > 2200 {
		return 0, errors.New("the year is not between 1970 and 2200")
	}
	return at.UnixNano(), nil
}

// A reader reads a log with a request in each line.
type reader struct {
	format
	name     string
	to       *workload.Collector
	pass     func(*workload.Request) bool
	stopped  bool // pass wants no more
	lines    workload.Lines
	first    string // what is wrong with the first line that cannot be read
	cutOff   bool
	warnings []string
}

func (r *reader) read(ctx context.Context, in io.Reader) error {
	text, err := lines.NewReader(in)
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	defer text.Close()
	for {
		line, complete, err := text.Next()
		if err != nil {
			return r.end(err)
		}
		if line = trim(line); len(line) > 0 {
			r.add(line, text.Number(), complete)
		}
		if r.stopped {
			return errStopped
		}
		if r.lines.Read%4096 == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if r.lines.Unreadable > 1000 && r.tooMany() {
				return r.end(nil)
			}
		}
	}
}

// add adds the request of a line.
func (r *reader) add(line []byte, number int, complete bool) {
	r.lines.Read++
	request := workload.Request{Objects: 1}
	switch err := r.parse(line, &request); {
	case err == nil:
		r.request(&request)
	case errors.Is(err, errLeftOut):
		r.lines.LeftOut++
	case !complete:
		r.lines.Read--
		r.cutOff = true
	default:
		if r.lines.Unreadable++; r.first == "" {
			r.first = fmt.Sprintf("line %d: %v", number, err)
		}
	}
}

func (r *reader) request(request *workload.Request) {
	if r.resolution >= 1 {
		request.Start += r.spread()
	}
	r.stopped = !r.pass(request)
	if r.objects == nil {
		return
	}
	for _, object := range r.objects() {
		other := *request
		other.Object, other.Step, other.Objects = object, true, 0
		r.stopped = r.stopped || !r.pass(&other)
	}
}

// spread returns a random part of a second, the same whenever the log is read.
func (r *reader) spread() int64 {
	var number [8]byte
	binary.LittleEndian.PutUint64(number[:], r.lines.Read)
	return int64(xxhash.Sum64(number[:]) % 1e9)
}

// tooMany reports whether more than 1 % of the lines cannot be read.
func (r *reader) tooMany() bool { return 100*r.lines.Unreadable > r.lines.Read }

// end judges how the log ended.
func (r *reader) end(err error) error {
	switch {
	case r.tooMany():
		return fmt.Errorf("%s: %s of %s %s cannot be read as %s, more than 1 %%; the first is %s", r.name,
			human.Grouped(r.lines.Unreadable), human.Grouped(r.lines.Read), human.Choose(r.lines.Read, "line", "lines"), r.format.name, r.first)
	case errors.Is(err, io.ErrUnexpectedEOF):
		r.cutOff = true
	case err != nil && !errors.Is(err, io.EOF):
		return fmt.Errorf("%s: after line %d: %w", r.name, r.lines.Read, err)
	}
	if r.cutOff {
		r.warnings = append(r.warnings, r.name+": the log was cut off; it was read up to there")
	}
	if n := r.lines.Unreadable; n > 0 {
		r.warnings = append(r.warnings, fmt.Sprintf("%s: %s cannot be read; the first is %s", r.name, human.Plural(n, "line"), r.first))
	}
	r.to.AddFormat(r.format.name, r.resolution)
	r.to.AddLines(r.lines)
	return nil
}

// readOpLog adds the requests of an op log.
func readOpLog(ctx context.Context, in io.Reader, name string, to *workload.Collector, pass func(*workload.Request) bool) ([]string, error) {
	log, err := oplog.NewReader(in, name)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	h := log.Header()
	from := rows{ranges: ranged(h.Parameters), preparation: oplog.NewPreparation(&h)}
	n := uint64(0)
	err = log.EachInWindow(ctx, func(w oplog.Window, _ []oplog.Mark) { from.preparation.Decided(w) }, func(batch []oplog.Record) error {
		n += uint64(len(batch))
		for i := range batch {
			request := from.request(&batch[i])
			if !pass(&request) {
				return errStopped
			}
			if end, ok := Completed(&batch[i]); ok {
				end.Before = request.Before
				if !pass(&end) {
					return errStopped
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if h.Warp == "" {
		to.AddFormat(formatOther, 0)
		to.AddNote("The op log does not say when its preparation ends, so the requests of the preparation count like all others.")
	} else {
		to.AddFormat(formatWarp, 0)
	}
	if n := log.Trailer().Unsent; n > 0 {
		to.AddNote(fmt.Sprintf("The run of the op log ended before it had sent %s due, so the profile lacks them.", human.Count(n, "request that was", "requests that were")))
	}
	if h.HasVersions() {
		to.AddVersions()
	}
	to.AddLines(workload.Lines{Read: n})
	return log.Warnings(), nil
}
