package bench

import (
	"net/http"
	"testing"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// embeddedStore is the address of a store of the test's own.
func embeddedStore(t *testing.T) string {
	t.Helper()
	return teststore.Start(t, teststore.Embedded, teststore.Options{}).Endpoint
}

func clientOf(t *testing.T, addr string) *store.Client {
	t.Helper()
	c, err := engines.New(store.Config{Hosts: []store.Address{{Name: addr}}, Region: "us-east-1", Credentials: store.Keys{AccessKey: "k", SecretKey: "s"}, Concurrency: 10})
	check.OK(t, err)
	return c
}

// interceptedClient talks to a store through a function that sees every request first.
func interceptedClient(t *testing.T, intercept func(store http.Handler, w http.ResponseWriter, r *http.Request)) *store.Client {
	t.Helper()
	return clientOf(t, teststore.Intercept(t, intercept))
}
