package store

import (
	"net/url"
	"strings"
	"testing"

	"warp/internal/check"
)

// A redirectTest contains a redirect of a request for /b/k.
type redirectTest struct {
	host, location string
	tls            bool
	allowed        string // --redirect-hosts
	want           string // the new address, or the error
}

// A redirect carries the credentials along, so a store may redirect only to hosts that are its own
// or allowed.
func TestRedirectsAccepted(t *testing.T) {
	t.Parallel()
	for _, test := range []redirectTest{
		{host: "s3.store.test:9000", location: "http://s3.store.test:9001/b/k?x=1", want: "http://s3.store.test:9001/b/k?x=1"},
		{host: "s3.store.test", location: "http://NODE7.Store.Test:80/b/k", want: "http://node7.store.test:80/b/k"},
		{host: "s3.store.test", location: "http://a.b.store.test/b/k", want: "http://a.b.store.test/b/k"},
		{host: "store.test", location: "http://node.store.test/b", want: "http://node.store.test/b"},
		{host: "a.ais.svc.test", location: "http://b.ais.svc.test/b", want: "http://b.ais.svc.test/b"},
		{host: "s3.store.test", location: "/other?y", want: "http://s3.store.test/other?y"},
		{host: "s3.store.test", location: "//t.store.test", want: "http://t.store.test/"},
		{host: "127.0.0.1:1", location: "http://127.0.0.1:2/b/k", want: "http://127.0.0.1:2/b/k"},
		{host: "[::1]:1", location: "http://[0:0::1]:2/b/k", want: "http://[0:0::1]:2/b/k"},
		{host: "minio:1", location: "http://minio:2/b/k", want: "http://minio:2/b/k"},
		{host: "s3.store.test", tls: true, location: "https://t.store.test/b", want: "https://t.store.test/b"},
	} {
		test.run(t)
	}
}

func TestRedirectsRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []redirectTest{
		{host: "a.ais.svc.test", location: "http://x.other.svc.test/b", want: "outside of its own domain"},
		{host: "store.test", location: "http://store.test.evil.test/b", want: "--redirect-hosts=store.test.evil.test"},
		{host: "store.test", location: "http://evilstore.test/b", want: "outside"},
		{host: "s3.store.test", location: "http://evil.test/s3.store.test", want: "outside"},
		{host: "s3.store.test", location: "http://s3.store.test@evil.test/b", want: "keys do not belong"},
		{host: "s3.store.test", location: "http://s3.store.test:80@evil.test/b", want: "keys do not belong"},
		{host: "s3.store.test", location: `http://evil.test\@s3.store.test/b`, want: "not the address"},
		{host: "s3.store.test", location: "http://evil.test#@s3.store.test/b", want: "outside"},
		{host: "s3.store.test", location: "http://evil.test?@s3.store.test/b", want: "outside"},
		{host: "s3.store.test", location: "http://127.0.0.1/b", want: "outside"},
		{host: "shop.co.uk", location: "http://other.co.uk/b", want: "outside"},
		{host: "s3.amazonaws.com", location: "http://evil.amazonaws.com/b", want: "outside"},
		{host: "s3express-use1-az4.us-east-1.amazonaws.com", location: "http://x.execute-api.us-east-1.amazonaws.com/b", want: "outside"},
		{host: "s3.eu-west-1.amazonaws.com", location: "http://x.s3.eu-west-1.amazonaws.com/b", want: "outside"},
		{host: "minio", location: "http://other/b", want: "outside"},
		{host: "minio", location: "http://x.minio/b", want: "outside"},
		{host: "127.0.0.1", location: "http://127.0.0.2/b", want: "outside"},
		{host: "127.0.0.1", location: "http://localhost/b", want: "outside"},
		{host: "127.0.0.1", location: "http://127.1/b", want: "outside"},
		{host: "127.0.0.1", location: "http://2130706433/b", want: "outside"},
		{host: "127.0.0.1", location: "http://x.127.0.0.1/b", want: "outside"},
		{host: "1.2.0.1", location: "http://9.2.0.1/b", want: "outside"},
		{host: "127.0.0.1", location: "http://[::ffff:127.0.0.1]/b", want: "http://[::ffff:127.0.0.1]/b"},
		{host: "s3.store.test", tls: true, location: "http://t.store.test/b", want: "does not change from https to http"},
		{host: "s3.store.test", location: "https://t.store.test/b", want: "does not change from http to https"},
		{host: "s3.store.test", location: "ftp://t.store.test/b", want: "does not change from http to ftp"},
		{host: "s3.store.test", location: "javascript:alert(1)", want: "not the address of a host"},
		{host: "s3.store.test", location: "http:evil", want: "not the address of a host"},
		{host: "s3.store.test", location: "http://s3.store.test/b/k", want: "that is where it was sent"},
		{host: "s3.store.test", location: "/b/k", want: "that is where it was sent"},
		{host: "s3.store.test", location: "http://S3.store.test/b/k#x", want: "that is where it was sent"},
		{host: "s3.store.test", location: "http://t.store.test:0/b", want: "1 to 65535"},
		{host: "s3.store.test", location: "http://%65vil.store.test/b", want: "not the address"},
		{host: "s3.store.test", location: "http://münchen.store.test/b", want: "cannot be in the name"},
		{host: "s3.store.test", location: "http://\x00/b", want: "not the address"},
	} {
		test.run(t)
	}
}

func TestRedirectHosts(t *testing.T) {
	t.Parallel()
	for _, test := range []redirectTest{
		{host: "h", allowed: "other", location: "http://other:7/b", want: "http://other:7/b"},
		{host: "h", allowed: "other:7", location: "http://other:7/b", want: "http://other:7/b"},
		{host: "h", allowed: "other:7", location: "http://other:8/b", want: "outside"},
		{host: "h", allowed: "other:80", location: "http://other/b", want: "http://other/b"},
		{host: "h", allowed: "other", location: "http://x.other/b", want: "outside"},
		{host: "h", allowed: "10.0.0.{1...3}", location: "http://10.0.0.2:9/b", want: "http://10.0.0.2:9/b"},
		{host: "h", allowed: "10.0.0.{1...3}", location: "http://10.0.0.4:9/b", want: "outside"},
		{host: "h", allowed: "*.store.test", location: "http://a.b.store.test/b", want: "http://a.b.store.test/b"},
		{host: "h", allowed: "*.store.test", location: "http://store.test/b", want: "outside"},
		{host: "h", allowed: "*.store.test", location: "http://xstore.test/b", want: "outside"},
	} {
		test.run(t)
	}
}

func (test *redirectTest) run(t *testing.T) {
	t.Helper()
	cfg := Config{TLS: test.tls}
	if test.allowed != "" {
		var err error
		if cfg.RedirectHosts, err = ParseRedirectHosts(test.allowed); err != nil {
			t.Fatal(err)
		}
	}
	a := Address{Name: test.host}
	from, err := url.Parse(a.URL(test.tls) + "/b/k")
	check.OK(t, err)
	to, err := NewRedirects(&cfg, &a).Target(from, test.location, 307)
	got := ""
	if err != nil {
		got = err.Error()
	} else {
		got = to.String()
	}
	if strings.HasPrefix(test.want, "http") != (err == nil) || !strings.Contains(got, test.want) || err == nil && got != test.want {
		t.Errorf("%s -> %q (allowed %q): %s, want %s", test.host, test.location, test.allowed, got, test.want)
	}
	if err != nil && CodeOf(err) != CodeRedirect {
		t.Errorf("%s -> %q: code %s", test.host, test.location, CodeOf(err))
	}
}

func TestParseRedirectHosts(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"a,,b": "empty", "*": "cannot be in the name", "*.com": "a name of its own", "*.co.uk": "a name of its own", "*.10.0.0.1": "a name of its own",
		"*.a.test:80": "a name of its own", "http://a": "is a URL", "a/b": "cannot be in the name", "*.": "empty", "*.localhost": "a name of its own",
	} {
		if _, err := ParseRedirectHosts(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", spec, err, want)
		}
	}
}

// Messages leave out keys and signatures in a location.
func TestRedirectMessage(t *testing.T) {
	t.Parallel()
	a := Address{Name: "s3.store.test"}
	from := &url.URL{Scheme: "http", Host: a.Name, Path: "/b/k"}
	_, err := NewRedirects(&Config{}, &a).Target(from, "http://user:secret@evil.test/b?sig=secret", 307)
	if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "user") {
		t.Error(err)
	}
}
