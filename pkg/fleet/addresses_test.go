package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/fleet/agent"
	"warp/pkg/fleet/transport"
)

func TestParseMembers(t *testing.T) {
	t.Parallel()
	pin := strings.Repeat("ab", 32)
	list := filepath.Join(t.TempDir(), "list")
	check.OK(t, os.WriteFile(list, []byte("# ours\nx-{1...2} # two\n\ny:1#sha256="+pin+"\t# pinned\n"), 0o644))
	lookup := func(_ context.Context, host string) ([]string, error) {
		if host != "svc" {
			return nil, errors.New("no such host")
		}
		return []string{"10.0.0.1", "fd00::1"}, nil
	}
	for spec, want := range map[string]string{
		"a,b:7761,c-{1...3}":        "a:7761 b:7761 c-1:7761 c-2:7761 c-3:7761",
		"[::1]:1,[::2]":             "[::1]:1 [::2]:7761",
		"a:{1...2}":                 "a:1 a:2",
		"dns:svc:9,z":               "10.0.0.1:9 [fd00::1]:9 z:7761",
		"dns:svc":                   "10.0.0.1:7761 [fd00::1]:7761",
		"file:" + list + ",z":       "x-1:7761 x-2:7761 y:1 z:7761",
		"a,a":                       "! a:7761 is named twice",
		"a,a:7761":                  "! a:7761 is named twice",
		"a-{1...3},a-2":             "! named twice",
		"file:" + list + "no":       "! list of clients",
		"dns:nobody:1":              "! no such host",
		"a#sha256=12":               "! 64 hexadecimal digits",
		"":                          "! empty",
		"a,,b":                      "! empty",
		"a:0":                       "! port",
		"http://a":                  "! URL",
		"https://a:7761/":           `! client "https://a:7761/" is a URL: write a:7761; it is always TLS, and a fingerprint after it (#sha256=…) or --warp-ca checks the certificate`,
		"a-{1...99999}":             "! more than",
		"file:" + os.DevNull:        "! no client in it",
		"a b":                       "! cannot be in the name",
		"a#sha256=" + pin + ",b:55": "a:7761 b:55",
	} {
		members, err := ParseMembers(t.Context(), spec, lookup)
		var got []string
		for _, m := range members {
			got = append(got, m.Addr)
		}
		text := strings.Join(got, " ")
		if err != nil {
			text = "! " + err.Error()
		}
		if part, wrong := strings.CutPrefix(want, "! "); wrong != (err != nil) || !strings.Contains(text, part) || !wrong && text != want {
			t.Errorf("%q: %s, want %s", spec, text, want)
		}
	}
	members, err := ParseMembers(t.Context(), "file:"+list, lookup)
	check.OK(t, err)
	if members[1].Pin != nil || fmt.Sprintf("%x", members[2].Pin) != pin {
		t.Errorf("%+v", members)
	}
}

// The coordinator talks to the machine with the pinned certificate and to no other. Without a pin the token decides.
func TestPinnedCertificate(t *testing.T) {
	t.Parallel()
	serve := func() (string, string) {
		config, fingerprint, err := transport.SelfSigned()
		check.OK(t, err)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		check.OK(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = agent.New(agent.Options{Warp: "test", Token: testToken}).Serve(ctx, l, config)
		}()
		t.Cleanup(func() { cancel(); <-done })
		return l.Addr().String(), fingerprint
	}
	addr, right := serve()
	_, wrong := serve()
	for spec, want := range map[string]string{addr + pinMark + right: "", addr + pinMark + wrong: "does not have the fingerprint in the list of clients", addr: ""} {
		members, err := ParseMembers(t.Context(), spec, nil)
		check.OK(t, err)
		f := lead(t, func(o *Options) { o.Members = members; o.ConnectTimeout = 20 * time.Second })
		err = f.Connect(t.Context())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", spec, err)
		}
		_ = f.Abort(t.Context(), errors.New("enough"))
	}
}
