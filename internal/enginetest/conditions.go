package enginetest

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"warp/pkg/store"
)

// putIf uploads under a condition that holds, and returns the token of the new version.
func (s *suite) putIf(t *testing.T, key string, data []byte, c store.Condition) (token string) {
	t.Helper()
	do(t, func(ctx context.Context, tr *store.Trace) error {
		o, err := s.Put(ctx, store.Put{Ref: s.ref(key), Body: bytes.NewReader(data), Size: int64(len(data)), If: c}, tr)
		token = o.Token()
		return err
	})
	if token == "" {
		t.Skip("the store's versions have no tokens")
	}
	return token
}

// lost sends a request whose condition does not hold. It skips the test if the engine, or the store,
// does not support it.
func lost(t *testing.T, what string, request func(context.Context, *store.Trace) error) {
	t.Helper()
	tr := store.NewTrace(time.Now())
	err := request(t.Context(), tr)
	var refused *store.Error
	switch {
	case errors.Is(err, store.ErrUnsupported) && tr.Requests() == 0, store.CodeOf(err) == "NotImplemented":
		t.Skip(err)
	case !errors.As(err, &refused) || refused.Status != 412 && refused.Status != 409 && (refused.Code != "NoSuchKey" || refused.Status != 404):
		t.Errorf("%s: %v", what, err)
	}
}

func (s *suite) lostPut(t *testing.T, what, key string, c store.Condition) {
	t.Helper()
	lost(t, what, func(ctx context.Context, tr *store.Trace) error {
		_, err := s.Put(ctx, store.Put{Ref: s.ref(key), Body: bytes.NewReader([]byte("lost")), Size: 4, If: c}, tr)
		return err
	})
}

func (s *suite) conditionalPuts(t *testing.T) {
	const key = "conditions/put"
	first := s.putIf(t, key, []byte("first"), store.Condition{Absent: true})
	s.lostPut(t, "another creation", key, store.Condition{Absent: true})
	s.read(t, store.Get{Ref: s.ref(key)}, []byte("first"))
	second := s.putIf(t, key, []byte("second"), store.Condition{Is: first})
	if second == first {
		t.Errorf("both versions have the token %q", first)
	}
	s.lostPut(t, "replacing a version that is gone", key, store.Condition{Is: first})
	s.read(t, store.Get{Ref: s.ref(key)}, []byte("second"))
	do(t, func(ctx context.Context, tr *store.Trace) error {
		o, err := s.Stat(ctx, s.ref(key), tr)
		if err == nil && o.Token() != second {
			t.Errorf("the token is %q, and was %q after the upload", o.Token(), second)
		}
		return err
	})
	s.lostPut(t, "replacing an object that never was", "conditions/missing", store.Condition{Is: first})
}

func (s *suite) conditionalDeletions(t *testing.T) {
	const key = "conditions/delete/1"
	s.put(t, key, []byte("first"))
	first := s.token(t, key)
	s.put(t, key, []byte("second"))
	second := s.token(t, key)
	lost(t, "deleting a version that is gone", func(ctx context.Context, tr *store.Trace) error {
		return s.DeleteIf(ctx, s.ref(key), store.Condition{Is: first}, tr)
	})
	s.read(t, store.Get{Ref: s.ref(key)}, []byte("second"))
	do(t, func(ctx context.Context, tr *store.Trace) error {
		return s.DeleteIf(ctx, s.ref(key), store.Condition{Is: second}, tr)
	})
	if left := s.keys(t, store.List{Prefix: "conditions/delete/"}); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// token returns the token of the current version of an object, and skips the test if there is none.
func (s *suite) token(t *testing.T, key string) (token string) {
	t.Helper()
	do(t, func(ctx context.Context, tr *store.Trace) error {
		d, err := s.Get(ctx, store.Get{Ref: s.ref(key)}, tr)
		token = d.Token()
		return err
	})
	if token == "" {
		t.Skip("the store's versions have no tokens")
	}
	return token
}

func (s *suite) conditionalParts(t *testing.T) {
	const key = "conditions/parts"
	upload := func(data string, c store.Condition, complete func(*testing.T, func(context.Context, *store.Trace) error)) {
		t.Helper()
		var up store.Upload
		do(t, func(ctx context.Context, tr *store.Trace) (err error) {
			up, err = s.StartUpload(ctx, store.Put{Ref: s.ref(key)}, tr)
			return err
		})
		var part store.Part
		do(t, func(ctx context.Context, tr *store.Trace) (err error) {
			part, err = s.PutPart(ctx, store.PutPart{Upload: up, Number: 1, Body: bytes.NewReader([]byte(data)), Size: int64(len(data))}, tr)
			return err
		})
		up.If = c
		complete(t, func(ctx context.Context, tr *store.Trace) error {
			_, err := s.CompleteUpload(ctx, up, []store.Part{part}, tr)
			return err
		})
	}
	lostUpload := func(t *testing.T, request func(context.Context, *store.Trace) error) {
		t.Helper()
		lost(t, "another upload", request)
	}
	upload("first", store.Condition{Absent: true}, do)
	first := s.token(t, key)
	upload("lost", store.Condition{Absent: true}, lostUpload)
	s.read(t, store.Get{Ref: s.ref(key)}, []byte("first"))
	upload("second", store.Condition{Is: first}, do)
	upload("lost", store.Condition{Is: first}, lostUpload)
	s.read(t, store.Get{Ref: s.ref(key)}, []byte("second"))
}

func (s *suite) conditionalReads(t *testing.T) {
	const key = "conditions/read"
	s.put(t, key, []byte("first"))
	first := s.token(t, key)
	s.put(t, key, []byte("second"))
	s.read(t, store.Get{Ref: s.ref(key), Offset: 1, Length: 3, If: store.Condition{Is: s.token(t, key)}}, []byte("eco"))
	lost(t, "reading a version that is gone", func(ctx context.Context, tr *store.Trace) error {
		_, err := s.Get(ctx, store.Get{Ref: s.ref(key), If: store.Condition{Is: first}}, tr)
		return err
	})
}
