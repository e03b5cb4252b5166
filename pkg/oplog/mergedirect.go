package oplog

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// errIndirect says that rows cannot be written while they are read: sorting
// needs more of them at once, or what is known at the beginning of the logs was
// not enough to number their threads.
var errIndirect = errors.New("the rows have to be sorted first")

// errTooLong says that too few rows can wait while they are text.
var errTooLong = errors.New("the rows take too much memory as text")

// What may wait in memory, for all inputs together. Of compressed logs each keeps a window besides, where sorting
// opens one after the other.
const (
	directInputs = 8
	directRows   = 128 << 10
	directBytes  = 26 << 20 // of chunks
	directWindow = 16 << 20
	enoughRows   = 16 << 10 // of one input, if it is not of the fastest client with the most threads
	refill       = 512      // rows are taken in at once, so that code and data of one task after the other are in the caches
)

// canReadAtOnce says that the inputs may be read directly, all at the same time: should that not do, they
// are read once more, which a pipe cannot be.
func canReadAtOnce(inputs []string) bool {
	if len(inputs) > directInputs {
		return false
	}
	window := uint64(0)
	for _, name := range inputs {
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return false
		}
		window += windowOf(name)
	}
	return window <= directWindow
}

// windowOf is how much text a decoder keeps of a zstd file, as far as its first frame tells.
func windowOf(name string) uint64 {
	f, err := os.Open(name)
	if err != nil {
		return 0 // it is reported when the log is opened
	}
	defer func() { _ = f.Close() }()
	var head [zstd.HeaderMaxSize]byte
	n, _ := io.ReadFull(f, head[:])
	var h zstd.Header
	switch err := h.Decode(head[:n]); {
	case err != nil:
		return 0 // it is not compressed by zstd, or cannot be read
	case h.Skippable:
		return maxReadWindow
	case h.SingleSegment:
		return min(h.FrameContentSize, maxReadWindow)
	}
	return min(h.WindowSize, maxReadWindow)
}

// direct hands rows out while it reads: logs are nearly in order, and which
// threads there are is mostly known from their headers and first rows. That
// saves the way through a file. Whether it was true is looked at behind the last row;
// where it was not, finish returns errIndirect, as does anything else on the way.
func (m *merger) direct(names []string) (gathered, error) {
	return m.directly(names, directRows, false)
}

// directText is direct for rows of which enough can wait as text.
func (m *merger) directText(names []string) (gathered, error) {
	return m.directly(names, directRows, true)
}

func (m *merger) directly(names []string, waiting int, text bool) (gathered, error) {
	kinds := &kindTable{}
	var streams []sortedRows
	for at, name := range names {
		in, err := m.open(at, name)
		if err != nil {
			return gathered{}, err
		}
		if text {
			in.allowText(kinds)
		}
		s := &stream{in: in, piles: piles{kinds: kinds}, maxRows: min(waiting/len(names), mostRows), maxBytes: directBytes / len(names), earliest: math.MinInt64}
		if err := s.fill(); err != nil {
			return gathered{}, err
		}
		if text && !s.ended && s.piles.len() < min(s.maxRows, enoughRows) {
			return gathered{}, errTooLong
		}
		streams = append(streams, s)
	}
	if err := m.identify(); err != nil {
		return gathered{}, err
	}
	m.numbered = true
	return gathered{
		each: func(f takeRow) error { return mergeSorted(m.ctx, streams, f) },
		finish: func() error {
			said := m.numbering()
			for _, in := range m.inputs {
				in.end()
			}
			if err := m.identify(); err != nil {
				return err
			}
			if m.numbering() != said {
				return errIndirect
			}
			return nil
		},
	}, nil
}

// numbering is all that the rows and the header depend on but the rows themselves.
func (m *merger) numbering() string {
	var b strings.Builder
	b.WriteString(asJSON(m.header))
	for _, s := range m.sources {
		for _, p := range s.parts {
			fmt.Fprintf(&b, " %d+%d@%d", p.from, p.count, p.who.offset)
		}
		b.WriteByte(';')
	}
	return b.String()
}

// A stream is the rows of one input in order, of which some wait for those that come too late.
type stream struct {
	in       *mergeInput
	piles    piles
	maxRows  int
	maxBytes int
	row      *sortRow
	earliest int64 // start of a row that may still come
	ended    bool
}

func (s *stream) at() *sortRow { return s.row }

func (s *stream) alone() bool {
	return s.piles.len() == 0 || s.piles.heads[0].start != s.row.start // fill takes no other one that starts with it
}

func (s *stream) next() error {
	if err := s.fill(); err != nil {
		return err
	}
	if s.piles.len() == 0 {
		return io.EOF
	}
	s.row, _ = s.piles.pop()
	s.earliest = s.row.start
	return nil
}

// fill has as many rows wait as may.
func (s *stream) fill() error {
	if s.piles.len() > max(s.maxRows-refill, 0) {
		return nil
	}
	for !s.ended && s.piles.len() < s.maxRows && s.piles.chunks.held < s.maxBytes {
		err := s.in.next()
		if errors.Is(err, io.EOF) {
			s.ended = true
			return nil
		}
		if err != nil {
			return err
		}
		row := s.piles.reserve(s.in.mostBody())
		row.start, row.source = s.in.start(), s.in.source
		// One that starts together with the last that was let out may belong before it.
		if row.start <= s.earliest {
			return errIndirect
		}
		row.body = s.in.appendBody(row.body, s.piles.kinds)
		s.piles.push(0)
	}
	return nil
}
