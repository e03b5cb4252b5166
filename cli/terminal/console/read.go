package console

import (
	"context"
	"io"

	"warp/internal/wholefile"
)

// ReadAll reads a stream of up to max bytes. It fails if there are more, and when ctx ends.
func ReadAll(ctx context.Context, in io.Reader, max int64) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		data, err := wholefile.ReadAll(in, max)
		read <- result{data, err}
	}()
	select {
	case r := <-read:
		return r.data, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
