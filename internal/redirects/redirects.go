// Package redirects keeps clients of net/http from following redirects, because no other host may get their tokens and keys.
package redirects

import "net/http"

// Refuse makes a client return the response with the redirect. It is a value of [http.Client.CheckRedirect].
func Refuse(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
