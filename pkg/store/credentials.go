package store

import (
	"context"
	"time"
)

// Credentials say as whom to talk to a store. They may renew themselves.
type Credentials interface {
	// Keys returns what is valid now. It is called for every request, so it is fast unless it has to ask somebody.
	Keys(ctx context.Context) (Keys, error)
}

// Keys are credentials at one moment, and credentials that never change.
type Keys struct {
	AccessKey    string    `json:"access_key"`
	SecretKey    string    `json:"secret_key"`
	SessionToken string    `json:"session_token"`
	Signature    string    `json:"signature"` // how requests are signed with them; "" is the store's usual way
	Expires      time.Time `json:"-"`         // zero is never
}

// Keys returns k.
func (k Keys) Keys(context.Context) (Keys, error) { return k, nil }

// Anonymous reports whether there is nothing to sign with.
func (k Keys) Anonymous() bool { return k.AccessKey == "" || k.SecretKey == "" }
