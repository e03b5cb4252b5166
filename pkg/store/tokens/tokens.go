// Package tokens contains the access tokens of requests, and renews them in the background.
package tokens

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"

	"warp/internal/redirects"
	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

// A Source is an [httpclient.Authorizer] with a token. It renews the token in the background well
// before it expires, so that requests wait only for the first token.
type Source struct {
	line  atomic.Pointer[[]byte]                           // the header line with the token, and its line end
	fetch func(ctx context.Context) (*oauth2.Token, error) // nil if there is nothing to renew

	mu      sync.Mutex
	first   *firstToken // the first token, while it is being fetched
	timer   *time.Timer
	renewed time.Time // time of the latest attempt
	over    bool
}

type firstToken struct {
	done chan struct{}
	err  error
}

// New returns tokens that fetch fetches.
func New(fetch func(context.Context) (*oauth2.Token, error)) *Source {
	return &Source{fetch: fetch}
}

// Static returns a token that is never renewed.
func Static(token string) *Source {
	t := &Source{}
	t.use(token)
	return t
}

// None returns the tokens of an anonymous client.
func None() *Source {
	t := &Source{}
	t.line.Store(new([]byte))
	return t
}

func (t *Source) use(token string) {
	line := []byte("Authorization: Bearer " + token + "\r\n")
	t.line.Store(&line)
}

// Header returns the header line that identifies the client, with its line end, or an empty one.
func (t *Source) Header() []byte {
	if line := t.line.Load(); line != nil {
		return *line
	}
	return nil
}

// Append appends the header line that identifies the client.
func (t *Source) Append(head []byte, _ *httpclient.Request) []byte {
	return append(head, t.Header()...)
}

// Ready waits for the first token. Bookkeeping has requested it before anything is measured.
func (t *Source) Ready(ctx context.Context) error {
	if t.line.Load() != nil {
		return nil
	}
	t.mu.Lock()
	f := t.first
	if f == nil {
		f = &firstToken{done: make(chan struct{})}
		t.first = f
		go func() {
			f.err = t.renew()
			t.mu.Lock()
			t.first = nil
			t.mu.Unlock()
			close(f.done)
		}()
	}
	t.mu.Unlock()
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return store.AsError(ctx.Err(), 0)
	}
}

const (
	fetchTimeout = 30 * time.Second
	// renewEarly is how long before it expires a token is renewed.
	renewEarly = 5 * time.Minute
	// renewAgain is the pause after a failed attempt.
	renewAgain = 5 * time.Second
)

// renew fetches a token and schedules its renewal.
func (t *Source) renew() error {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	ctx = context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Timeout: fetchTimeout, CheckRedirect: redirects.Refuse})
	token, err := t.fetch(ctx)
	wait := renewAgain
	switch {
	case err != nil:
		err = tokenError(err)
	case token.Expiry.IsZero():
		t.use(token.AccessToken)
		wait = 0
	default:
		t.use(token.AccessToken)
		left := time.Until(token.Expiry)
		wait = max(left-renewEarly, left/2, 100*time.Millisecond)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.renewed = time.Now()
	if t.over || wait == 0 || err != nil && t.line.Load() == nil {
		return err // the next request for the first token tries again
	}
	t.timer = time.AfterFunc(wait, func() { _ = t.renew() })
	return err
}

// tokenError says why there is no token. It shows only the code of the answer, because the rest may
// contain a secret.
func tokenError(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		status := 0
		if refused.Response != nil {
			status = refused.Response.StatusCode
		}
		said := struct {
			Code        string `json:"error"`
			Description string `json:"error_description"`
		}{refused.ErrorCode, refused.ErrorDescription}
		if said.Code == "" {
			_ = json.Unmarshal(refused.Body, &said) // not every type of credentials has read the body
		}
		why := cmp.Or(said.Code, fmt.Sprintf("status %d", status))
		if said.Description != "" {
			why += " (" + said.Description + ")"
		}
		if status >= 500 || status == 429 {
			return store.Errorf(store.CodeUnauthorized, status, "no access token: %s", store.OneLine(why))
		}
		return store.Errorf(store.CodeUnauthorized, http.StatusUnauthorized, "no access token: %s", store.OneLine(why))
	}
	var asked *url.Error
	if e := store.AsError(err, 0).(*store.Error); errors.As(err, &asked) && (store.IsConnection(e) || store.IsTimeout(e)) {
		// Its code would mean that the store cannot be reached.
		return store.Errorf(store.CodeUnauthorized, http.StatusUnauthorized, "no access token: no answer from %s: %s", hostOf(asked.URL), e.Message)
	}
	return store.Errorf(store.CodeUnauthorized, http.StatusUnauthorized, "no access token: %s", store.OneLine(err.Error()))
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "where it was asked for"
	}
	return u.Host
}

// Refused records that the store has rejected a token. The token may have been revoked, so another
// one is fetched, but not for every rejected request.
func (t *Source) Refused() {
	if t.fetch == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.timer == nil || time.Since(t.renewed) < renewAgain || !t.timer.Stop() {
		return
	}
	t.timer = time.AfterFunc(0, func() { _ = t.renew() })
}

// Stop stops renewing.
func (t *Source) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	if t.timer != nil {
		t.timer.Stop()
	}
}
