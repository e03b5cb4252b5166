package s3

import (
	"net/url"

	"warp/pkg/store"
)

// RedirectedAgain is the error of a request that was redirected to an address, and from there to the next location.
// Redirects are followed once.
func RedirectedAgain(at *url.URL, location string, status int) *store.Error {
	host := location
	if next, err := at.Parse(location); err == nil {
		host = next.Scheme + "://" + next.Host
	}
	return store.Errorf(store.CodeRedirect, status, "the store redirects this request in circles: %s://%s sends it on to %s", at.Scheme, at.Host, store.OneLine(host))
}
