package nethttp

import (
	"bytes"
	"io"
	"testing"
)

func TestLentBodyIsEmptyWhenTakenBack(t *testing.T) {
	t.Parallel()
	l := &BorrowedBody{Body: bytes.NewReader([]byte("payload"))}
	p := make([]byte, 3)
	if n, err := l.Read(p); n != 3 || err != nil {
		t.Fatalf("read %d, %v", n, err)
	}
	if n, err := l.ReadAt(p, 4); n != 3 || err != nil || string(p) != "oad" {
		t.Fatalf("read %q, %v", p[:n], err)
	}
	l.Release()
	if n, err := l.Read(p); n != 0 || err != io.EOF {
		t.Errorf("read %d, %v after it was taken back", n, err)
	}
	if n, err := l.ReadAt(p, 0); n != 0 || err != io.EOF {
		t.Errorf("read %d, %v after it was taken back", n, err)
	}
	if _, err := l.Seek(0, io.SeekStart); err == nil {
		t.Error("seek worked after it was taken back")
	}
}
