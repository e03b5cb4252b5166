package tokens

import (
	"testing"

	"warp/pkg/store"
)

func TestExposed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, dial string
		exposed    bool
	}{
		{"localhost", "", false}, {"localhost:4443", "", false}, {"127.0.0.1", "", false}, {"127.9.8.7:80", "", false}, {"[::1]:80", "", false}, {"::1", "", false},
		{"10.0.0.1", "", true}, {"storage.example.com:80", "", true}, {"localhost.example.com", "", true}, {"127.0.0.1.example.com", "", true}, {"[::2]:80", "", true},
		{"storage.example.com", "127.0.0.1:80", false}, {"localhost", "10.0.0.1:80", true},
	} {
		cfg := store.Config{Hosts: []store.Address{{Name: "127.0.0.1"}, {Name: test.name, Dial: test.dial}}}
		if got := Exposed(&cfg); got != test.exposed {
			t.Errorf("%s at %q: exposed %t", test.name, test.dial, got)
		}
		cfg.TLS = true
		if Exposed(&cfg) {
			t.Errorf("%s with TLS is exposed", test.name)
		}
	}
}
