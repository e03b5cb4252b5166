package protocol

import (
	"errors"
	"testing"
	"time"

	"warp/pkg/store"
)

// A message that this build does not understand is an error.
func TestDecodeIsStrict(t *testing.T) {
	t.Parallel()
	var s Status
	if err := Decode([]byte(`{"phase":1}`), &s); err != nil || s.Phase != Opened {
		t.Errorf("%+v, %v", s, err)
	}
	for _, text := range []string{`{"phase":1,"path":"/etc"}`, `{"phase":1} {"phase":2}`, `{"phase":1`, ``} {
		if Decode([]byte(text), &s) == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// The four times of a ping give the difference of the clocks.
func TestPing(t *testing.T) {
	t.Parallel()
	for _, burst := range []bool{false, true} {
		ping := Ping(100, burst)
		if got, err := ReadPing(ping); err != nil || got != burst {
			t.Errorf("%v, %v, want %v", got, err, burst)
		}
		o, err := ReadPong(Pong(ping, 1110, 1120), 140)
		if err != nil || o.Ahead != 994 && o.Ahead != 995 || o.RoundTrip != 30*time.Nanosecond {
			t.Errorf("%+v, %v", o, err)
		}
	}
	if _, err := ReadPing(make([]byte, 7)); err == nil {
		t.Error("a ping of 7 bytes was read")
	}
	if _, err := ReadPong(make([]byte, 23), 0); err == nil {
		t.Error("a pong of 23 bytes was read")
	}
}

// The error of a client is for pkg/store what it was there.
func TestErrorsKeepTheirCode(t *testing.T) {
	t.Parallel()
	var unreachable *store.UnreachableError
	s := Status{Error: "no bucket", Code: "NoSuchBucket", Unreachable: true}
	if err := s.Err(); err.Error() != s.Error || store.CodeOf(err) != s.Code || !errors.As(err, &unreachable) {
		t.Errorf("%v: %q", err, store.CodeOf(err))
	}
	o := Outcome{Fatal: "denied", Code: "AccessDenied"}
	if err := o.Err(); store.CodeOf(err) != o.Code || errors.As(err, &unreachable) {
		t.Errorf("%v: %q", err, store.CodeOf(err))
	}
	if err := (&Outcome{Fatal: "full"}).Err(); err.Error() != "full" || store.CodeOf(err) != store.CodeOf(errors.New("full")) {
		t.Errorf("%v: %q", err, store.CodeOf(err))
	}
}
