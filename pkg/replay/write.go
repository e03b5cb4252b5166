package replay

import (
	"bufio"
	"fmt"
	"os"

	"warp/internal/tempfile"
)

// A writer writes the requests of a plan to a temporary file.
type writer struct {
	file   *os.File
	buffer *bufio.Writer
	record []byte
}

func newWriter(folder string) (*writer, error) {
	f, err := tempfile.Create(folder, ".warp-replay-*")
	if err != nil {
		return nil, fmt.Errorf("planning the replay needs a temporary file: %w", err)
	}
	return &writer{file: f, buffer: bufio.NewWriterSize(f, 64<<10)}, nil
}

func (w *writer) write(r *record) error {
	w.record = r.append(w.record[:0])
	if _, err := w.buffer.Write(w.record); err != nil {
		return fmt.Errorf("planning the replay, in a temporary file: %w", err)
	}
	return nil
}
