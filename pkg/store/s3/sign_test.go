package s3

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"warp/pkg/store"
)

// A dayKey computes the same as crypto/hmac, however much of a message begin gets.
func TestDayKey(t *testing.T) {
	t.Parallel()
	key := bytes.Repeat([]byte("key!"), 8)
	var k dayKey
	k.use([]byte("another one, used before"))
	k.use(key)
	message := bytes.Repeat([]byte("message "), 40)
	for length := range message {
		mac := hmac.New(sha256.New, key)
		mac.Write(message[:length])
		want := hex.EncodeToString(mac.Sum(nil))
		for _, ahead := range []int{0, length / 2, length} {
			k.begin(message[:ahead], 1)
			var sum [sha256.Size]byte
			for range 2 { // the state is used again and again
				k.seal(k.start, message[ahead:length], &sum)
				if got := string(appendHex(nil, &sum)); got != want {
					t.Fatalf("%d bytes, %d of them ahead: %s instead of %s", length, ahead, got, want)
				}
			}
		}
	}
}

// A signer keeps the headers of requests of the same kind only while nothing changes.
func TestSignerEpoch(t *testing.T) {
	t.Parallel()
	var s signer
	now := time.Date(2026, 11, 21, 23, 59, 59, 0, time.UTC)
	value := store.Keys{AccessKey: "key", SecretKey: "secret"}
	s.at(now)
	s.use(value, "eu")
	changed := func(what string, want bool, do func()) {
		t.Helper()
		before := s.epoch
		if do(); (s.epoch != before) != want {
			t.Errorf("%s: changed %v, want %v", what, !want, want)
		}
	}
	changed("the same again", false, func() { s.at(now.Add(time.Millisecond)); s.use(value, "eu") })
	changed("region", true, func() { s.use(value, "us") })
	value.SessionToken = "token"
	changed("session", true, func() { s.use(value, "us") })
	value.SecretKey = "other"
	changed("secret", true, func() { s.use(value, "us") })
	changed("second", true, func() { s.at(now.Add(time.Second)) })
	changed("day", true, func() { s.use(value, "us") })
}
