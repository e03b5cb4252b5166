// Package oplog has the record of a finished request, and writes and reads op
// logs, the files of such records. Package oplog/merge merges them.
package oplog

import (
	"math"
	"strconv"
	"time"
)

// A Record is one finished request, or one finished step where an operation
// documents that its row is more than one request (LIST: one listing with all
// its pages). It is the only thing about a request that crosses package borders.
type Record struct {
	Op       string // GET, PUT, DELETE, STAT, LIST, …
	Run      string // id of the run; the same for all clients of a distributed run; "" in foreign logs
	Client   string // id of the client within the run
	Endpoint string // scheme://host:port
	Key      string // first object concerned
	Err      string // "" on success, otherwise "Code: what happened"

	Thread    uint32
	Statement Statement // of the script; zero in every other run
	Objects   int
	Bytes     int64

	Start     int64         // unix ns: wall clock at the start of the run plus monotonic offset
	Due       int64         // unix ns at which an open-loop schedule wanted Start; 0 in a closed loop
	FirstByte time.Duration // offset from Start of the first byte of the answer; 0 = not observed; or atStart
	LastByte  time.Duration // offset from Start of the last payload byte sent; 0 = not observed; or atStart
	Duration  time.Duration // offset from Start of the end

	// ClientTime is the part of Duration that warp caused: until it sent the request, and from the arrival of the
	// answer's last byte in the kernel on. 0 = unknown.
	ClientTime time.Duration

	Status   uint16  // last HTTP status; 0 = no answer, or unknown
	Retries  uint16  // requests that repeated an earlier one of this row
	Requests uint16  // HTTP requests sent for this row, retries included; 0 = unknown
	Phases   *Phases // of the HTTP requests of the last attempt; nil = not measured. Never changed
	Category uint64  // the file's cat column, carried through
	Check    *Check  // in logs of warp consistency; nil = the request checks nothing. Never changed
}

// atStart is the offset of a byte that a coarse clock saw at the start itself.
const atStart = time.Duration(-1)

// End is the time at which the request ended, in unix ns.
func (r *Record) End() int64 { return r.Start + int64(r.Duration) }

// Span returns begin and end of the request. A clock that was set back, or a row
// that is nonsense, must not corrupt the rest: an end before the start counts as
// the start, an end past the end of time as the end of time.
func (r *Record) Span() (start, end int64) {
	switch {
	case r.Duration <= 0:
		return r.Start, r.Start
	case r.Start > math.MaxInt64-int64(r.Duration):
		return r.Start, math.MaxInt64
	}
	return r.Start, r.Start + int64(r.Duration)
}

// MoveBack makes the times of the record that many ns earlier.
func (r *Record) MoveBack(ns int64) {
	r.Start -= ns
	if r.Due != 0 {
		r.Due -= ns
	}
}

// Lag is how much later than scheduled the request was sent; 0 in a closed loop.
func (r *Record) Lag() time.Duration {
	if r.Due == 0 {
		return 0
	}
	return time.Duration(r.Start - r.Due)
}

// TTFB is the time to first byte: from the start to the first byte of the answer
// for a download, from the last payload byte to the end for an upload.
func (r *Record) TTFB() (d time.Duration, seen bool) {
	if r.FirstByte != 0 {
		return max(r.FirstByte, 0), true
	}
	if r.LastByte != 0 {
		return max(r.Duration-max(r.LastByte, 0), 0), true
	}
	return 0, false
}

// Code is the short name by which errors are counted: the S3 error code, or
// warp's own name for a failure without an answer. It is "" on success.
func (r *Record) Code() string {
	if r.Err == "" {
		return ""
	}
	if c := leadingWord(r.Err); c != "" {
		return c
	}
	if r.Status >= 300 {
		return "HTTP" + strconv.Itoa(int(r.Status))
	}
	return "Other"
}

// leadingWord returns the identifier before the first colon, or the whole of
// s where it is one identifier.
func leadingWord(s string) string {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', i > 0 && c >= '0' && c <= '9':
		case c == ':' && i > 0:
			return s[:i]
		default:
			return ""
		}
	}
	return s
}
