package tokens

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"warp/internal/check"
	"warp/pkg/store"
)

// A token that the store rejects is replaced, but not for every rejected request.
func TestRefusedTokens(t *testing.T) {
	t.Parallel()
	var fetched atomic.Int32
	tokens := New(func(context.Context) (*oauth2.Token, error) {
		return &oauth2.Token{AccessToken: fmt.Sprintf("t%d", fetched.Add(1)), Expiry: time.Now().Add(time.Hour)}, nil
	})
	defer tokens.Stop()
	check.OK(t, tokens.Ready(t.Context()))
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

// If the token server does not answer, the error names that server and does not suggest that the
// store is unreachable.
func TestNobodyGivesTokens(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	tokens := New(func(ctx context.Context) (*oauth2.Token, error) {
		return (&oauth2.Config{Endpoint: oauth2.Endpoint{TokenURL: server.URL}}).TokenSource(ctx, &oauth2.Token{RefreshToken: "r"}).Token()
	})
	defer tokens.Stop()
	err := tokens.Ready(t.Context())
	if store.CodeOf(err) != store.CodeUnauthorized || store.Repeatable(err) || !strings.Contains(err.Error(), "no access token: no answer from "+server.Listener.Addr().String()+": ") {
		t.Errorf("the error is %v", err)
	}
}
