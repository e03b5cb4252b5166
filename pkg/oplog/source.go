package oplog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxReadWindow is the largest zstd window that a foreign log may ask for;
// only the strongest settings of other tools ask for more. A hostile log can
// make a reader allocate about this much.
const maxReadWindow = 64 << 20

// A source is the text of a log, whatever it is compressed with.
type source struct {
	io.Reader
	format string // "zstd", "gzip" or "" for plain text
	close  func()
	// more says whether compressed data follows where decoding has ended. A log
	// that was cut off has none; one with damage in the middle has.
	more func() bool
}

// openSource looks at the first bytes rather than at the file's name, since
// standard input has none and names lie.
func openSource(r io.Reader) (source, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	more := func() bool {
		_, err := b.Peek(1)
		return err == nil
	}
	magic, err := b.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return source{}, err
	}
	switch {
	case len(magic) == 0:
		return source{}, errors.New("the file is empty")
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		// One goroutine: decoding ahead in others takes a third more CPU,
		// since blocks are small.
		d, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxReadWindow), zstd.WithDecoderMaxWindow(maxReadWindow))
		if err != nil {
			return source{}, err
		}
		return source{d, "zstd", d.Close, more}, nil
	case magic[0] == 0x1f && len(magic) > 1 && magic[1] == 0x8b:
		d, err := gzip.NewReader(b)
		if err != nil {
			return source{}, fmt.Errorf("gzip: %w", err)
		}
		return source{d, "gzip", func() { _ = d.Close() }, more}, nil
	}
	return source{b, "", func() {}, more}, nil
}

// Decompress returns the text in r, which may be compressed as an op log may be. Closing it does not close r.
func Decompress(r io.Reader) (io.ReadCloser, error) {
	src, err := openSource(r)
	if err != nil {
		return nil, err
	}
	return text{src}, nil
}

type text struct{ source }

func (t text) Close() error {
	t.close()
	return nil
}

// A lineReader splits a source into lines in one reused buffer.
type lineReader struct {
	src   source
	buf   []byte
	start int   // first byte of the line handed out last
	pos   int   // first byte that was not handed out
	end   int   // end of what was read
	line  int   // number of the last line handed out
	err   error // how the source ended
}

const lineBuffer = 128 << 10

var errLongLine = fmt.Errorf("the line is longer than %d bytes", maxLine)

// next returns the next line without its end. complete says whether the line
// had an end: the last line of a log that was cut off has none. After the last
// line it returns the error with which the source ended, io.EOF if all was well.
func (l *lineReader) next() (line []byte, complete bool, err error) {
	searched := 0
	for {
		if i := bytes.IndexByte(l.buf[l.pos+searched:l.end], '\n'); i >= 0 {
			line = l.buf[l.pos : l.pos+searched+i]
			l.start = l.pos
			l.pos += searched + i + 1
			l.line++
			return line, true, nil
		}
		searched = l.end - l.pos
		if searched > maxLine {
			l.line++
			return nil, false, errLongLine
		}
		if l.err != nil {
			if searched == 0 {
				return nil, false, l.err
			}
			line = l.buf[l.pos:l.end]
			l.pos = l.end
			l.line++
			return line, false, nil
		}
		l.fill()
	}
}

// ready reports whether the next line can be read without waiting.
func (l *lineReader) ready() bool { return bytes.IndexByte(l.buf[l.pos:l.end], '\n') >= 0 }

// skip counts the next n bytes as a line that the caller has read itself.
func (l *lineReader) skip(n int) {
	l.start = l.pos
	l.pos += n
	l.line++
}

// join returns the line that next has just returned together with the one
// after it, for a quoted field with a line break in it.
func (l *lineReader) join() (joined []byte, complete bool, err error) {
	searched := l.pos - l.start
	l.pos = l.start
	for {
		if i := bytes.IndexByte(l.buf[l.pos+searched:l.end], '\n'); i >= 0 {
			joined = l.buf[l.pos : l.pos+searched+i]
			l.start, l.pos = l.pos, l.pos+searched+i+1
			l.line++
			return joined, true, nil
		}
		searched = l.end - l.pos
		if searched > maxLine {
			return nil, false, errLongLine
		}
		if l.err != nil {
			l.start, l.pos = l.pos, l.end
			return nil, false, nil
		}
		l.fill()
	}
}

// fill reads more behind what is there, after moving that to the front.
func (l *lineReader) fill() {
	if l.pos > 0 {
		l.end = copy(l.buf, l.buf[l.pos:l.end])
		l.pos = 0
	}
	if l.end == len(l.buf) {
		l.buf = append(l.buf, make([]byte, max(lineBuffer, len(l.buf)))...)
	}
	for range 100 {
		n, err := l.src.Read(l.buf[l.end:])
		l.end += n
		if err != nil {
			l.err = err
			return
		}
		if n > 0 {
			return
		}
	}
	l.err = io.ErrNoProgress
}
