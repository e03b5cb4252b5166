package engines

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/pkg/store"
)

func adminClient(t *testing.T, host, access, secret string) *store.Client {
	t.Helper()
	c, err := New(store.Config{Hosts: []store.Address{{Name: host}}, Credentials: store.Keys{AccessKey: access, SecretKey: secret}})
	check.OK(t, err)
	return c
}

func TestServerProfilesRefused(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"<Error><Code>NoSuchBucket</Code></Error>", "", "[]", "{}"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }))
		defer server.Close()
		other := adminClient(t, strings.TrimPrefix(server.URL, "http://"), "key", "secret")
		if err := other.StartServerProfiles(t.Context(), []string{"cpu"}); err == nil || !strings.Contains(err.Error(), "does not profile itself") {
			t.Errorf("%q: %v", answer, err)
		}
	}
	for _, spec := range []string{"cpu, cpu", "heap", "", "cpu,", "cpu mem"} {
		if kinds, err := store.ParseServerProfiles(spec); err == nil {
			t.Errorf("%q is read as %q", spec, kinds)
		}
	}
	if kinds, err := store.ParseServerProfiles(" cpu , mem"); err != nil || !slices.Equal(kinds, []string{"cpu", "mem"}) {
		t.Errorf("%q, %v", kinds, err)
	}
}
