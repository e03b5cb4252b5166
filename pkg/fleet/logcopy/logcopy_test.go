package logcopy

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"warp/internal/check"
)

// messages returns the pieces that a pump sends of a log from offset on.
func messages(t *testing.T, text []byte, offset int64) (all [][]byte) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "log")
	check.OK(t, os.WriteFile(name, text, 0o600))
	var p *Pump
	p = NewPump(Complete(name), offset, func(parts ...[]byte) error {
		all = append(all, bytes.Join(parts, nil))
		return p.Ack((&Spool{size: p.offset}).Ack())
	}, nil)
	check.OK(t, p.Run(t.Context()))
	return all
}

func add(s *Spool, message []byte) error {
	c, err := ReadChunk(message)
	if err != nil {
		return err
	}
	return s.Add(c)
}

func newSpool(t *testing.T) *Spool {
	t.Helper()
	s, err := NewSpool(filepath.Join(t.TempDir(), "spool"))
	check.OK(t, err)
	t.Cleanup(func() { _ = s.Remove() })
	return s
}

// A copy is the log, byte by byte, though a connection breaks after some pieces and
// the next one begins at another place.
func TestCopy(t *testing.T) {
	t.Parallel()
	text := bytes.Repeat([]byte("0123456789abcdef-"), 20_000)
	s := newSpool(t)
	first := messages(t, text, 0)
	for _, m := range first[:3] {
		check.OK(t, add(s, m))
	}
	for _, m := range append(first[:3:3], messages(t, text, s.Size())...) { // some arrive again
		check.OK(t, add(s, m))
	}
	got := make([]byte, s.Size())
	if _, err := s.ReadAt(got, 0); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes of %d, or others: %v", len(got), len(text), err)
	}
	name := filepath.Join(t.TempDir(), "log")
	check.OK(t, os.WriteFile(name, text, 0o600))
	size, sum, err := Complete(name).Sum()
	if err == nil {
		err = s.Check(size, sum)
	}
	if err != nil {
		t.Error(err)
	}
	if s.Check(size, []byte("no digest")) != ErrDiffers || s.Check(size+1, sum) != ErrDiffers {
		t.Error("another log was accepted")
	}
}

// What a client sends is checked like what a stranger sends.
func TestHostilePieces(t *testing.T) {
	t.Parallel()
	s := newSpool(t)
	piece := func(offset int64, text string) []byte { return append(chunkHead(offset, []byte(text)), text...) }
	check.OK(t, add(s, piece(0, "hello")))
	damaged := piece(5, "data")
	damaged[len(damaged)-1] ^= 1
	for name, m := range map[string][]byte{
		"a hole": piece(9, "x"), "an overlap": piece(2, "llo and more"), "damage": damaged,
		"nothing": piece(5, ""), "too much": make([]byte, chunkHeadSize+chunkSize+1),
	} {
		if add(s, m) == nil || s.Size() != 5 {
			t.Errorf("%s was accepted", name)
		}
	}
	var none *Pump
	for name, err := range map[string]error{"of nothing": none.Ack(s.Ack()), "too short": NewPump(nil, 0, nil, nil).Ack(s.Ack()[1:])} {
		if !errors.Is(err, errAck) {
			t.Errorf("an acknowledgement %s: %v", name, err)
		}
	}
}
