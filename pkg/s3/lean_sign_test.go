package s3

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// A dayKey says what crypto/hmac says, whatever of a message it was given ahead.
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
