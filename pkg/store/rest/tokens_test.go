package rest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/oauth2"
)

// A token that the store refuses is replaced, but not for every request that is refused.
func TestRefusedTokens(t *testing.T) {
	t.Parallel()
	var fetched atomic.Int32
	tokens := NewTokens(func(context.Context) (*oauth2.Token, error) {
		return &oauth2.Token{AccessToken: fmt.Sprintf("t%d", fetched.Add(1)), Expiry: time.Now().Add(time.Hour)}, nil
	})
	defer tokens.Stop()
	if err := tokens.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	tokens.Refused() // too soon
	if got := string(tokens.Header()); got != "Authorization: Bearer t1\r\n" {
		t.Errorf("the header is %q", got)
	}
	tokens.mu.Lock()
	tokens.renewed = time.Now().Add(-renewAgain)
	tokens.mu.Unlock()
	tokens.Refused()
	for until := time.Now().Add(time.Minute); string(tokens.Header()) != "Authorization: Bearer t2\r\n"; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the token was not replaced")
		}
	}
}
