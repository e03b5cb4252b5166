package lines

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

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
	more   func() bool
}

// openSource judges by the first bytes rather than the file's name, since
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
	return decompressed{src}, nil
}

type decompressed struct{ source }

func (d decompressed) Close() error {
	d.close()
	return nil
}
