package console

import (
	"context"
	"io"
)

// ReadAll reads up to max bytes of a stream, or fails when ctx ends.
func ReadAll(ctx context.Context, in io.Reader, max int64) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(in, max))
		read <- result{data, err}
	}()
	select {
	case r := <-read:
		return r.data, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
