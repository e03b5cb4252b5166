package rest

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

	"warp/pkg/store"
)

// Tokens have the authorization of requests. A token is renewed in the background well before it expires; only the
// first is waited for.
type Tokens struct {
	line  atomic.Pointer[[]byte]                           // the header that carries it, with its line end
	fetch func(ctx context.Context) (*oauth2.Token, error) // nil where there is nothing to renew

	mu      sync.Mutex
	first   *firstToken // on its way
	timer   *time.Timer
	renewed time.Time // the latest attempt
	over    bool
}

type firstToken struct {
	done chan struct{}
	err  error
}

// NewTokens returns tokens that fetch gets.
func NewTokens(fetch func(context.Context) (*oauth2.Token, error)) *Tokens {
	return &Tokens{fetch: fetch}
}

// StaticToken returns a token that is never renewed.
func StaticToken(token string) *Tokens {
	t := &Tokens{}
	t.use(token)
	return t
}

// NoTokens returns the tokens of those who carry none.
func NoTokens() *Tokens {
	t := &Tokens{}
	t.line.Store(new([]byte))
	return t
}

func (t *Tokens) use(token string) {
	line := []byte("Authorization: Bearer " + token + "\r\n")
	t.line.Store(&line)
}

// Header is the line that says who sends a request, with its line end; empty where nobody says.
func (t *Tokens) Header() []byte {
	if line := t.line.Load(); line != nil {
		return *line
	}
	return nil
}

// Ready waits for the first token, which bookkeeping has asked for before anything is measured.
func (t *Tokens) Ready(ctx context.Context) error {
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
	// renewEarly is how long before its end a token is replaced.
	renewEarly = 5 * time.Minute
	// renewAgain is how long after a failure it is tried again.
	renewAgain = 5 * time.Second
)

// renew fetches a token and has it renewed in time.
func (t *Tokens) renew() error {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	ctx = context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Timeout: fetchTimeout, CheckRedirect: stayHere})
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
		return err // whoever needs the first one asks again
	}
	t.timer = time.AfterFunc(wait, func() { _ = t.renew() })
	return err
}

// CodeUnauthorized is the code of errors that say that nobody knows who sends the requests.
const CodeUnauthorized = "Unauthorized"

// stayHere keeps the client from following redirects: nobody else may be shown what proves who we are.
func stayHere(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// tokenError says why there is no token. What the answer had beside its code is not shown: it may be a secret.
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
			_ = json.Unmarshal(refused.Body, &said) // not all kinds of credentials have read it
		}
		why := cmp.Or(said.Code, fmt.Sprintf("status %d", status))
		if said.Description != "" {
			why += " (" + said.Description + ")"
		}
		if status >= 500 || status == 429 {
			return store.Errorf(CodeUnauthorized, status, "no access token: %s", store.OneLine(why))
		}
		return store.Errorf(CodeUnauthorized, http.StatusUnauthorized, "no access token: %s", store.OneLine(why))
	}
	var asked *url.Error
	if e := store.AsError(err, 0).(*store.Error); errors.As(err, &asked) && (store.IsConnection(e) || store.IsTimeout(e)) {
		// Its code would say that the store cannot be reached.
		return store.Errorf(CodeUnauthorized, http.StatusUnauthorized, "no access token: no answer from %s: %s", hostOf(asked.URL), e.Message)
	}
	return store.Errorf(CodeUnauthorized, http.StatusUnauthorized, "no access token: %s", store.OneLine(err.Error()))
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "where it was asked for"
	}
	return u.Host
}

// Refused notes that the store has refused a token: it may have been revoked, so another one is fetched, but not for
// every request that is refused.
func (t *Tokens) Refused() {
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

// Stop ends the renewals.
func (t *Tokens) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	if t.timer != nil {
		t.timer.Stop()
	}
}
