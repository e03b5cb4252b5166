package accesslog

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"warp/pkg/oplog/lines"
	"warp/pkg/workload"
)

// A Log is a log that can be opened.
type Log struct {
	Name string // for messages
	Open func() (io.ReadCloser, error)
	Once bool // it can be read only once
}

// maxOpen is how many logs are open at a time. The next one has to wait then, and its requests may come late.
const maxOpen = 64

// ReadAll adds the requests of logs to a profile, in the order of their times: stores have a log for each of their machines, and
// deliver the requests of a minute in several files. Warnings say what is wrong with a log although its requests are right.
func ReadAll(ctx context.Context, logs []Log, to *workload.Collector) (warnings []string, err error) {
	return readAll(ctx, logs, to, to.Add)
}

func readAll(ctx context.Context, logs []Log, to *workload.Collector, add func(*workload.Request)) (warnings []string, err error) {
	waiting := make([]*stream, len(logs))
	for i := range logs {
		waiting[i] = &stream{log: &logs[i]}
		if err := waiting[i].peek(len(logs)); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(waiting, func(a, b *stream) int { return cmp.Compare(a.head.Start, b.head.Start) })
	var open []*stream
	defer func() {
		for _, s := range open {
			s.stop()
		}
	}()
	for len(waiting) > 0 || len(open) > 0 {
		i := earliest(open)
		if len(waiting) > 0 && (i < 0 || len(open) < maxOpen && waiting[0].head.Start <= open[i].head.Start) {
			i, open, waiting = len(open), append(open, waiting[0]), waiting[1:]
			open[i].start(ctx, to)
		} else {
			add(&open[i].head)
		}
		if s := open[i]; !s.advance() {
			if s.err != nil {
				return nil, s.err
			}
			warnings = append(warnings, s.warnings...)
			open = slices.Delete(open, i, i+1)
		}
	}
	return warnings, nil
}

// earliest returns the index of the stream with the earliest request, -1 if there are none.
func earliest(open []*stream) int {
	first := -1
	for i, s := range open {
		if first < 0 || s.head.Start < open[first].head.Start {
			first = i
		}
	}
	return first
}

// A stream has the requests of a log.
type stream struct {
	log      *Log
	head     workload.Request // the next one
	next     func() (workload.Request, bool)
	stop     func()
	warnings []string
	err      error
}

// peek finds the start of the log's first request, so that the log can stay closed until then. It does nothing for a single log,
// or for one that can be read only once.
func (s *stream) peek(logs int) error {
	if logs == 1 || s.log.Once {
		return nil
	}
	in, err := s.log.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	s.head.Start, err = firstStart(in)
	if err != nil {
		return fmt.Errorf("%s: %w", s.log.Name, err)
	}
	return nil
}

// firstStart returns the start of the first request of a log, 0 if it is an op log.
func firstStart(in io.Reader) (int64, error) {
	text, err := lines.Decompress(in)
	if err != nil {
		return 0, err
	}
	defer text.Close()
	begin, err := bufio.NewReaderSize(text, peeked).Peek(peeked)
	if err != nil && !errors.Is(err, io.EOF) && len(begin) == 0 {
		return 0, err
	}
	if isOpLog(begin) {
		return 0, nil
	}
	f, err := recognise(begin)
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(begin) {
		var r workload.Request
		if f.parse(trim(bytes.TrimSuffix(line, []byte("\n"))), &r) == nil {
			return r.Start, nil
		}
	}
	return 0, nil
}

// start opens the log.
func (s *stream) start(ctx context.Context, to *workload.Collector) {
	s.next, s.stop = iter.Pull(func(yield func(workload.Request) bool) {
		in, err := s.log.Open()
		if err != nil {
			s.err = err
			return
		}
		defer in.Close()
		s.warnings, s.err = read(ctx, in, s.log.Name, to, func(r *workload.Request) bool { return yield(*r) })
	})
}

// advance goes on to the next request. It returns false after the last one, or after an error.
func (s *stream) advance() (ok bool) {
	s.head, ok = s.next()
	return ok
}
