//go:build !unix

package teststore

import "context"

// lock does nothing here. Builds are put in place by renaming, so concurrent builds waste time but
// break nothing.
func lock(context.Context, string, func()) (unlock func(), err error) {
	return func() {}, nil
}
