// Package wholefile reads files whole, up to a limit of their size, because a
// device or a wrong name must not fill the memory.
package wholefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"warp/internal/human"
)

// Small is the limit for files that people write, such as credentials, certificates and lists of
// hosts.
const Small = 1 << 20

// Read returns the content of a file, or an error if it has more than max bytes.
func Read(name string, max int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := ReadAll(file, max)
	var path *fs.PathError
	if err != nil && !errors.As(err, &path) {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return data, err
}

// ReadAll returns the rest of a stream, or an error if it has more than max bytes.
func ReadAll(in io.Reader, max int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, max+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > max {
		return nil, fmt.Errorf("larger than %s, the limit for this kind of file", human.Bytes(float64(max)))
	}
	return data, nil
}
