// Package enginetest is the test suite that every engine passes: requests do what they say, or are unsupported and send
// nothing.
package enginetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/pkg/store"
)

// Lacks are features that a store is known to lack, for which its engine cannot be tested there.
type Lacks struct {
	Pages bool // its listings end with the first page
	Order bool // its listings are in no order, and of whole directories only
	Times bool // it says only in listings when an object was written
	// Tests are the names of tests that it cannot pass, such as tests of conditions that it ignores.
	Tests []string
}

// Run tests an engine. The store behind it has to have the empty bucket "enginetest".
func Run(t *testing.T, e store.Engine) {
	t.Helper()
	RunWithout(t, e, Lacks{})
}

// RunWithout is Run for a store that lacks something.
func RunWithout(t *testing.T, e store.Engine, lacks Lacks) {
	t.Helper()
	RunIn(t, e, "enginetest", lacks)
}

// RunIn is RunWithout in another bucket.
func RunIn(t *testing.T, e store.Engine, bucket string, lacks Lacks) {
	t.Helper()
	s := &suite{&store.Host{Engine: e}, bucket, lacks}
	for _, test := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"objects", s.objects}, {"ranges", s.ranges}, {"listings", s.listings}, {"deletions", s.deletions}, {"uploads in parts", s.parts},
		{"copies", s.copies}, {"tags", s.tags}, {"failures", s.failures},
		{"conditional uploads", s.conditionalPuts}, {"conditional deletions", s.conditionalDeletions},
		{"conditional uploads in parts", s.conditionalParts}, {"conditional reads", s.conditionalReads},
	} {
		t.Run(test.name, func(t *testing.T) {
			if slices.Contains(lacks.Tests, test.name) {
				t.Skip("the store cannot pass it")
			}
			test.run(t)
		})
	}
}

type suite struct {
	*store.Host
	bucket string
	lacks  Lacks
}

// do runs one request. It skips the test if the engine, or the store, does not support it.
func do(t *testing.T, request func(context.Context, *store.Trace) error) {
	t.Helper()
	tr := store.NewTrace(time.Now())
	switch err := request(t.Context(), tr); {
	case errors.Is(err, store.ErrUnsupported) && tr.Requests() > 0:
		t.Fatalf("unsupported, after %d requests", tr.Requests())
	case errors.Is(err, store.ErrUnsupported), store.CodeOf(err) == "NotImplemented":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	case tr.Requests() == 0 || tr.Status()/100 != 2 || tr.FirstByte() <= 0:
		t.Errorf("traced %d requests, status %d, first byte after %v", tr.Requests(), tr.Status(), tr.FirstByte())
	}
}

func (s *suite) ref(key string) store.Ref { return store.Ref{Bucket: s.bucket, Key: key} }

func content(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i>>8 ^ i)
	}
	return b
}

func (s *suite) put(t *testing.T, key string, data []byte) (o store.Object) {
	t.Helper()
	do(t, func(ctx context.Context, tr *store.Trace) (err error) {
		o, err = s.Put(ctx, store.Put{Ref: s.ref(key), Body: bytes.NewReader(data), Size: int64(len(data)), ContentType: "application/octet-stream"}, tr)
		return err
	})
	return o
}

// read downloads with g and compares what arrives.
func (s *suite) read(t *testing.T, g store.Get, want []byte) {
	t.Helper()
	var got bytes.Buffer
	g.Into = &got
	do(t, func(ctx context.Context, tr *store.Trace) error {
		d, err := s.Get(ctx, g, tr)
		if err == nil && d.Bytes != int64(len(want)) {
			err = fmt.Errorf("downloaded %d of %d bytes", d.Bytes, len(want))
		}
		return err
	})
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s has other content", g.Key)
	}
}

func (s *suite) objects(t *testing.T) {
	for _, size := range []int{0, 1, 1000, 64 << 10, 64<<10 + 1, 3 << 20} {
		key, data := fmt.Sprintf("objects/a b+ü %d", size), content(size)
		written := s.put(t, key, data)
		s.read(t, store.Get{Ref: s.ref(key)}, data)
		do(t, func(ctx context.Context, tr *store.Trace) error {
			o, err := s.Stat(ctx, s.ref(key), tr)
			if err == nil && (o.Size != int64(size) || o.ETag != written.ETag || o.ETag == "" || o.LastModified.IsZero() && !s.lacks.Times) {
				t.Errorf("stat %+v, uploaded %+v", o, written)
			}
			return err
		})
	}
}

func (s *suite) ranges(t *testing.T) {
	data := content(100_000)
	s.put(t, "ranges", data)
	for _, r := range [][2]int64{{0, 1}, {99_999, 1}, {500, 70_000}} {
		s.read(t, store.Get{Ref: s.ref("ranges"), Offset: r[0], Length: r[1]}, data[r[0]:r[0]+r[1]])
	}
}

func (s *suite) keys(t *testing.T, l store.List) (keys []string) {
	t.Helper()
	l.Bucket = s.bucket
	do(t, func(ctx context.Context, tr *store.Trace) error {
		return s.List(ctx, l, func(o store.Object) bool { keys = append(keys, o.Key); return true }, tr)
	})
	if s.lacks.Order {
		slices.Sort(keys)
	}
	return keys
}

func (s *suite) listings(t *testing.T) {
	for _, key := range []string{"list/a", "list/b/1", "list/b/2", "list/c & ü"} {
		s.put(t, key, []byte("x"))
	}
	for _, test := range []struct {
		list store.List
		want string
	}{
		{store.List{Prefix: "list/"}, "[list/a list/b/1 list/b/2 list/c & ü]"},
		{store.List{Prefix: "list/", MaxKeys: 1}, "[list/a list/b/1 list/b/2 list/c & ü]"},
		{store.List{Prefix: "list/b"}, "[list/b/1 list/b/2]"},
		{store.List{Prefix: "nothing"}, "[]"},
	} {
		if s.lacks.Pages && test.list.MaxKeys > 0 || s.lacks.Order && !strings.HasSuffix(test.list.Prefix, "/") {
			continue
		}
		if got := fmt.Sprint(s.keys(t, test.list)); got != test.want {
			t.Errorf("%+v lists %s, want %s", test.list, got, test.want)
		}
	}
	prefixes := 0
	do(t, func(ctx context.Context, tr *store.Trace) error {
		return s.List(ctx, store.List{Bucket: s.bucket, Prefix: "list/", Flat: true}, func(o store.Object) bool {
			if o.IsPrefix {
				prefixes++
			}
			return true
		}, tr)
	})
	if prefixes != 1 {
		t.Errorf("a flat listing has %d common prefixes", prefixes)
	}
}

func (s *suite) deletions(t *testing.T) {
	var refs []store.Ref
	for i := range 5 {
		key := fmt.Sprintf("delete/%d", i)
		s.put(t, key, []byte("x"))
		refs = append(refs, s.ref(key))
	}
	do(t, func(ctx context.Context, tr *store.Trace) error { return s.Delete(ctx, refs[:1], tr) })
	do(t, func(ctx context.Context, tr *store.Trace) error { return s.Delete(ctx, refs[1:4], tr) })
	if left := s.keys(t, store.List{Prefix: "delete/"}); len(left) != 1 || left[0] != "delete/4" {
		t.Errorf("left are %v", left)
	}
}

func (s *suite) parts(t *testing.T) {
	data := content(5<<20 + 1000)
	var up store.Upload
	do(t, func(ctx context.Context, tr *store.Trace) (err error) {
		up, err = s.StartUpload(ctx, store.Put{Ref: s.ref("parts"), ContentType: "application/octet-stream"}, tr)
		return err
	})
	var parts []store.Part
	for i, piece := range [][]byte{data[:5<<20], data[5<<20:]} {
		do(t, func(ctx context.Context, tr *store.Trace) error {
			p, err := s.PutPart(ctx, store.PutPart{Upload: up, Number: i + 1, Body: bytes.NewReader(piece), Size: int64(len(piece))}, tr)
			parts = append(parts, p)
			return err
		})
	}
	do(t, func(ctx context.Context, tr *store.Trace) error {
		_, err := s.CompleteUpload(ctx, up, parts, tr)
		return err
	})
	s.read(t, store.Get{Ref: s.ref("parts")}, data)
	do(t, func(ctx context.Context, tr *store.Trace) error {
		aborted, err := s.StartUpload(ctx, store.Put{Ref: s.ref("aborted")}, tr)
		if err == nil {
			err = s.AbortUpload(ctx, aborted, tr)
		}
		return err
	})
}

func (s *suite) copies(t *testing.T) {
	data := content(1000)
	s.put(t, "copies/from", data)
	do(t, func(ctx context.Context, tr *store.Trace) error {
		_, err := s.Copy(ctx, store.Copy{From: s.ref("copies/from"), To: s.ref("copies/to")}, tr)
		return err
	})
	s.read(t, store.Get{Ref: s.ref("copies/to")}, data)
}

func (s *suite) tags(t *testing.T) {
	s.put(t, "tags", []byte("x"))
	want := map[string]string{"a": "1", "b": "two"}
	do(t, func(ctx context.Context, tr *store.Trace) error { return s.PutTags(ctx, s.ref("tags"), want, tr) })
	do(t, func(ctx context.Context, tr *store.Trace) error {
		got, err := s.Tags(ctx, s.ref("tags"), tr)
		if err == nil && !maps.Equal(got, want) {
			t.Errorf("the tags are %v, want %v", got, want)
		}
		return err
	})
	do(t, func(ctx context.Context, tr *store.Trace) error { return s.DeleteTags(ctx, s.ref("tags"), tr) })
}

// failures checks that errors have a code, and the status of the answer.
func (s *suite) failures(t *testing.T) {
	tr := store.NewTrace(time.Now())
	_, err := s.Get(t.Context(), store.Get{Ref: s.ref("missing")}, tr)
	var refused *store.Error
	if !errors.As(err, &refused) || refused.Code != "NoSuchKey" || refused.Status != 404 || tr.Status() != 404 {
		t.Errorf("a missing object: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Stat(ctx, s.ref("missing"), store.NewTrace(time.Now())); store.CodeOf(err) != store.CodeCanceled {
		t.Errorf("a canceled request: %v", err)
	}
}
