package lines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"warp/internal/check"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// packed is text in each of the formats.
func packed(t *testing.T, text string) map[string][]byte {
	t.Helper()
	var z, g bytes.Buffer
	zw, err := zstd.NewWriter(&z)
	check.OK(t, err)
	gw := gzip.NewWriter(&g)
	for _, w := range []io.WriteCloser{zw, gw} {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		check.OK(t, w.Close())
	}
	return map[string][]byte{"zstd": z.Bytes(), "gzip": g.Bytes(), "": []byte(text)}
}

func TestLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*bufferSize)
	want := []string{"first", "", long, "last, without an end"}
	for format, b := range packed(t, strings.Join(want, "\n")) {
		l, err := NewReader(bytes.NewReader(b))
		check.OK(t, err)
		if !bytes.HasPrefix(l.Peek(), []byte("first\n")) || l.Format() != format {
			t.Errorf("%q: Peek returned %.20q", l.Format(), l.Peek())
		}
		for i, s := range want {
			line, complete, err := l.Next()
			if string(line) != s || complete != (i < len(want)-1) || err != nil || l.Number() != i+1 {
				t.Errorf("%q: line %d is %.20q, %v, %v", format, l.Number(), line, complete, err)
			}
		}
		if _, _, err := l.Next(); err != io.EOF || l.Err() != io.EOF || l.More() {
			t.Errorf("%q: at the end %v", format, err)
		}
		l.Close()
	}
}

// Join returns two lines as one, Skip passes one over.
func TestJoinAndSkip(t *testing.T) {
	t.Parallel()
	l, err := NewReader(strings.NewReader("skipped\none\ntwo\nthree\nend"))
	check.OK(t, err)
	l.Peek()
	if !l.Ready() {
		t.Error("the first line is not ready")
	}
	l.Skip(len("skipped\n"))
	if line, _, _ := l.Next(); string(line) != "one" {
		t.Errorf("after the skipped line came %q", line)
	}
	for _, want := range []string{"one\ntwo", "one\ntwo\nthree"} {
		if line, complete, err := l.Join(); string(line) != want || !complete || err != nil {
			t.Errorf("%q, %v, %v instead of %q", line, complete, err, want)
		}
	}
	if l.Number() != 4 || l.Ready() || string(l.Unread()) != "end" {
		t.Errorf("line %d, then %q", l.Number(), l.Unread())
	}
	if _, complete, err := l.Join(); complete || err != nil {
		t.Errorf("joined past the end: %v, %v", complete, err)
	}
}

func TestLongLine(t *testing.T) {
	t.Parallel()
	l, err := NewReader(strings.NewReader("a\n" + strings.Repeat("x", Max+2*bufferSize)))
	check.OK(t, err)
	if _, _, err := l.Next(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Next(); !errors.Is(err, ErrLong) || l.Number() != 2 {
		t.Errorf("line %d: %v", l.Number(), err)
	}
}

// A log that was cut off has nothing after the damage, another has.
func TestDamage(t *testing.T) {
	t.Parallel()
	z := packed(t, strings.Repeat("some text\n", 100_000))["zstd"]
	read := func(b []byte) *Reader {
		l, err := NewReader(bytes.NewReader(b))
		check.OK(t, err)
		for err == nil {
			_, _, err = l.Next()
		}
		return l
	}
	if l := read(z[:len(z)-5]); l.Err() == io.EOF || l.More() {
		t.Errorf("cut off: %v, more: %v", l.Err(), l.More())
	}
	damaged := append(append(bytes.Clone(z), "\x28\xb5\x2f\xfd damage"...), bytes.Repeat(z, 50)...)
	if l := read(damaged); l.Err() == io.EOF || !l.More() {
		t.Errorf("damaged: %v, more: %v", l.Err(), l.More())
	}
	if _, err := NewReader(strings.NewReader("")); err == nil {
		t.Error("an empty file has lines")
	}
}

func ExampleDecompress() {
	log := strings.NewReader("\x28\xb5\x2f\xfd\x00\x58\x31\x00\x00hello\n")
	text, err := Decompress(log)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = text.Close() }()
	if _, err := io.Copy(os.Stdout, text); err != nil {
		fmt.Println(err)
	}
	// Output: hello
}
