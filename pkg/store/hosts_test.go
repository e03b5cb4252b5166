package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warp/internal/check"
)

func TestParseHosts(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string][]string{
		"127.0.0.1:9000":         {"127.0.0.1:9000"},
		"play.example.com":       {"play.example.com"},
		"a:1,b:2":                {"a:1", "b:2"},
		" a:1 , b:2 ":            {"a:1", "b:2"},
		"s3-server{1...3}:9000":  {"s3-server1:9000", "s3-server2:9000", "s3-server3:9000"},
		"10.0.0.{9...11}":        {"10.0.0.9", "10.0.0.10", "10.0.0.11"},
		"h:900{0...2}":           {"h:9000", "h:9001", "h:9002"},
		"r{1...2}n{1...2}:80":    {"r1n1:80", "r1n2:80", "r2n1:80", "r2n2:80"},
		"h{08...10}":             {"h08", "h09", "h10"},
		"h{001...002}":           {"h001", "h002"},
		"h{0...1},x":             {"h0", "h1", "x"},
		"{5...5}":                {"5"},
		"[::1]:9000":             {"[::1]:9000"},
		"[fe80::1%eth0]:9000":    {"[fe80::1%eth0]:9000"},
		"[::{1...2}]:9000":       {"[::1]:9000", "[::2]:9000"},
		"my_host.docker-1:65535": {"my_host.docker-1:65535"},
		"a:1,b:1,a:1":            {"a:1", "b:1"},
		"h{1...3},h{2...4}":      {"h1", "h2", "h3", "h4"},
	} {
		got, err := ParseHosts(spec)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("ParseHosts(%q) = %q, %v, want %q", spec, got, err, want)
		}
	}
}

func TestParseEndpoints(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]struct {
		scheme string
		hosts  []Address
		err    string
	}{
		"h:1":                           {hosts: []Address{{Name: "h:1"}}},
		"http://h:51080/s3":             {"http", []Address{{Name: "h:51080", Path: "/s3"}}, ""},
		"HTTPS://h/s3/":                 {"https", []Address{{Name: "h", Path: "/s3"}}, ""},
		"http://h/":                     {"http", []Address{{Name: "h"}}, ""},
		"h:9000/s3":                     {hosts: []Address{{Name: "h:9000", Path: "/s3"}}},
		"http://h{1...2}:1/a/b":         {"http", []Address{{Name: "h1:1", Path: "/a/b"}, {Name: "h2:1", Path: "/a/b"}}, ""},
		"h/p{1...2},h/p1":               {hosts: []Address{{Name: "h", Path: "/p1"}, {Name: "h", Path: "/p2"}}},
		"[::1]:9000/s3":                 {hosts: []Address{{Name: "[::1]:9000", Path: "/s3"}}},
		"http://h/a//b":                 {err: "a part that is empty"},
		"http://h//":                    {err: "a part that is empty"},
		"http://h/a/../b":               {err: `empty, "." or ".."`},
		"http://h/a?x=1":                {err: "'?' cannot be in the path"},
		"http://h/a#b":                  {err: "'#' cannot be in the path"},
		"http://h/a%20b":                {err: "'%' cannot be in the path"},
		"http://u:p@h/a":                {err: "must not contain keys"},
		"http:///a":                     {err: "no name"},
		"http://h,https://h":            {err: "some hosts are URLs of http"},
		"ftp://h":                       {err: "warp supports http and https"},
		"h/" + strings.Repeat("a", 300): {err: "has 301 characters"},
	} {
		hosts, scheme, err := ParseEndpoints(spec)
		if want.err != "" {
			if err == nil || !strings.Contains(err.Error(), want.err) {
				t.Errorf("%s: error %v, want one with %q", spec, err, want.err)
			}
			continue
		}
		if got := Addresses(hosts); err != nil || scheme != want.scheme || !slices.Equal(got, want.hosts) {
			t.Errorf("%s: %v %q, %v; want %v %q", spec, got, scheme, err, want.hosts, want.scheme)
		}
	}
}

func TestParseHostsErrors(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"":                          "empty",
		"a,,b":                      "empty",
		"a,":                        "empty",
		"http://a:9000":             "write a:9000",
		"https://a:9000/":           "is a URL: write a:9000",
		"a:9000/bucket":             "not a number from 1 to 65535",
		"a/bucket":                  "'/' cannot be in the name",
		"user@a:9000":               "'@' cannot be in the name",
		"münchen:1":                 "'ü' cannot be in the name",
		"a b:1":                     "' ' cannot",
		"a:0":                       "1 to 65535",
		"a:65536":                   "1 to 65535",
		"a:-1":                      "1 to 65535",
		"a:http":                    "1 to 65535",
		"a:6553{5...6}":             "1 to 65535",
		"a:":                        "no port after",
		":9000":                     "no name",
		"::1":                       "brackets",
		"[::1":                      "brackets",
		"[]:9000":                   "brackets",
		"[a]:9000":                  "brackets",
		"[::x]:9000":                "not an IPv6 address",
		"[::1]9000":                 "follows the address",
		"h{1..3}":                   "not a range",
		"h{1...}":                   "not a range",
		"h{a...c}":                  "not a range",
		"h{-1...3}":                 "not a range",
		"h{}":                       "not a range",
		"h{{1...2}}":                "not a range",
		"h{1...3":                   "no }",
		"h1...3}":                   "'}' cannot",
		"h{8...1}":                  "backwards",
		"h{1...010}":                "leading zeros",
		"h{01...100}":               "leading zeros",
		"h{1...1000000}":            "more than 100000",
		"h{1...9999999999999}":      "not a range",
		"{1...999}.{1...999}":       "more than 100000",
		"a{1...60000},b{1...60000}": "more than 100000",
		"a:1,file:x":                "given alone",
		"file:/no/such/file":        "list of hosts",
	} {
		_, err := ParseHosts(spec)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseHosts(%q): error %v, want one with %q", spec, err, want)
		}
	}
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hosts, of the test")
	check.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestParseHostsFile(t *testing.T) {
	t.Parallel()
	path := writeFile(t, "\ufeff# all nodes\r\n\r\nnode{1...2}:9000\r\n  c:1,d:2 # two more\nnode1:9000\nlast")
	got, err := ParseHosts("file:" + path)
	if want := []string{"node1:9000", "node2:9000", "c:1", "d:2", "last"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestParseHostsFileErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                    "no host in it",
		"# nothing\n\n":       "no host in it",
		"a:1\n\nb:x\n":        "line 3",
		"a\n" + "h{2...1}":    "line 2",
		"a\nfile:other":       "line 2",
		"a\nb\x00c":           "line 2",
		"https://example.com": "is a URL: write example.com",
	} {
		path := writeFile(t, text)
		_, err := ParseHosts("file:" + path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("file %q: error %v, want one with %q and the file", text, err, want)
		}
	}
}

func FuzzParseHosts(f *testing.F) {
	for _, seed := range []string{"", "a:1,b", "h{1...8}:9000", "{01...10}", "[::1]:9000", "{1...2}{3...4}:{80...81}", "http://a", "a:65536", "[::{1...2}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		if strings.HasPrefix(strings.TrimSpace(spec), "file:") {
			return
		}
		hosts, err := ParseHosts(spec)
		if err == nil && (len(hosts) == 0 || len(hosts) > maxHosts) {
			t.Fatalf("%q: %d hosts", spec, len(hosts))
		}
		for _, host := range hosts[:min(10, len(hosts))] {
			if again, err := ParseHosts(host); err != nil || len(again) != 1 || again[0] != host {
				t.Fatalf("%q has host %q, which is read as %q, %v", spec, host, again, err)
			}
		}
	})
}

func TestResolveHosts(t *testing.T) {
	t.Parallel()
	lookup := func(_ context.Context, name string) ([]string, error) {
		switch name {
		case "many":
			return []string{"10.0.0.1", "10.0.0.2", "fd00::1", "10.0.0.1"}, nil
		case "none":
			return nil, nil
		}
		return nil, errors.New("no such host")
	}
	got, err := ResolveHosts(t.Context(), []string{"many:9000", "many/s3", "192.0.2.1:80", "[::1]:81"}, "443", lookup)
	want := []Address{
		{Name: "many:9000", Dial: "10.0.0.1:9000"}, {Name: "many:9000", Dial: "10.0.0.2:9000"}, {Name: "many:9000", Dial: "[fd00::1]:9000"},
		{Name: "many", Dial: "10.0.0.1:443", Path: "/s3"}, {Name: "many", Dial: "10.0.0.2:443", Path: "/s3"}, {Name: "many", Dial: "[fd00::1]:443", Path: "/s3"},
		{Name: "192.0.2.1:80", Dial: "192.0.2.1:80"}, {Name: "[::1]:81", Dial: "[::1]:81"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	for _, name := range []string{"none", "unknown:1", "a:b:c"} {
		if _, err := ResolveHosts(t.Context(), []string{name}, "80", lookup); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v does not name it", name, err)
		}
	}
	if got := Addresses([]string{"a", "b:1"}); !slices.Equal(got, []Address{{Name: "a"}, {Name: "b:1"}}) {
		t.Errorf("addresses %v", got)
	}
}
