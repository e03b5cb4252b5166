// Package lines reads the lines of an op log, compressed with zstd or gzip or not at all. They share one buffer, in which a
// caller may parse a line before its end is known.
package lines

import (
	"bytes"
	"errors"
	"io"

	"warp/internal/human"
)

// A Reader splits a source into lines in one reused buffer.
type Reader struct {
	src   source
	buf   []byte
	start int   // first byte of the line handed out last
	pos   int   // first byte that was not handed out
	end   int   // end of what was read
	line  int   // number of the last line handed out
	err   error // how the source ended
}

const bufferSize = 128 << 10

// Max is the maximum length of a line. S3 keys end at 1 KiB, so a longer line is damage or an attack.
const Max = 1 << 20

// ErrLong is the error of a line that is longer than [Max].
var ErrLong = errors.New("the line is longer than " + human.Bytes(Max))

// NewReader returns a reader of the lines in r.
func NewReader(r io.Reader) (*Reader, error) {
	src, err := openSource(r)
	if err != nil {
		return nil, err
	}
	return &Reader{src: src, buf: make([]byte, bufferSize)}, nil
}

// Close frees what decompression needs. It does not close the reader given to NewReader.
func (l *Reader) Close() { l.src.close() }

// Number returns the number of the last line handed out, from 1.
func (l *Reader) Number() int { return l.line }

// Err returns the error with which the source ended: io.EOF if it ended well, nil if it has not ended.
func (l *Reader) Err() error { return l.err }

// Format names the compression: "zstd", "gzip", or "" for plain text.
func (l *Reader) Format() string { return l.src.format }

// More reports whether compressed data follows where decoding has ended. A log that
// was cut off has none; one with damage in the middle has.
func (l *Reader) More() bool { return l.src.more() }

// Unread returns the text that is read ahead, mostly several lines and part of one more.
func (l *Reader) Unread() []byte { return l.buf[l.pos:l.end] }

// Peek reads the beginning of the source and returns it without using it up.
func (l *Reader) Peek() []byte {
	l.fill()
	return l.Unread()
}

// Next returns the next line without its end, valid until the next call. complete
// reports whether the line had an end; the last line of a log that was cut off has
// none. After the last line Next returns the error with which the source ended,
// io.EOF if it ended well.
func (l *Reader) Next() (line []byte, complete bool, err error) {
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
		if searched > Max {
			l.line++
			return nil, false, ErrLong
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

// Ready reports whether the next line can be read without waiting.
func (l *Reader) Ready() bool { return bytes.IndexByte(l.buf[l.pos:l.end], '\n') >= 0 }

// Skip counts the next n bytes as a line that the caller has read itself.
func (l *Reader) Skip(n int) {
	l.start = l.pos
	l.pos += n
	l.line++
}

// Join returns the line that next has just returned together with the next one, for a quoted field with a line break in it.
func (l *Reader) Join() (joined []byte, complete bool, err error) {
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
		if searched > Max {
			return nil, false, ErrLong
		}
		if l.err != nil {
			l.start, l.pos = l.pos, l.end
			return nil, false, nil
		}
		l.fill()
	}
}

// fill reads more behind what is there, after moving that to the front.
func (l *Reader) fill() {
	if l.pos > 0 {
		l.end = copy(l.buf, l.buf[l.pos:l.end])
		l.pos = 0
	}
	if l.end == len(l.buf) {
		l.buf = append(l.buf, make([]byte, max(bufferSize, len(l.buf)))...)
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
