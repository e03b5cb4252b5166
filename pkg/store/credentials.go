package store

import (
	"context"
	"time"
)

// Credentials identify the client to a store. They may renew themselves.
type Credentials interface {
	// Keys returns the keys that are valid now. It is called for every request, so it has to be
	// fast unless it renews them.
	Keys(ctx context.Context) (Keys, error)
}

// Keys are credentials at one moment. They are also [Credentials] that never change.
type Keys struct {
	AccessKey    string    `json:"access_key"`
	SecretKey    string    `json:"secret_key"`
	SessionToken string    `json:"session_token"`
	Signature    string    `json:"signature"` // how to sign requests with them; "" is the store's usual way
	Expires      time.Time `json:"-"`         // zero = never
}

// Keys returns k.
func (k Keys) Keys(context.Context) (Keys, error) { return k, nil }

// Anonymous reports whether there is nothing to sign with.
func (k Keys) Anonymous() bool { return k.AccessKey == "" || k.SecretKey == "" }
