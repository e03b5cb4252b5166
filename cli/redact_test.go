package cli

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warp/pkg/oplog"
)

const secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCY"

func TestRedactArgs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ args, want string }{
		{"get --secret-key=" + secret, "get --secret-key=***"},
		{"get --secret-key " + secret, "get --secret-key ***"},
		{"get -secret-key " + secret + " --tls", "get -secret-key *** --tls"},
		{"get --secret-k " + secret, "get --secret-k ***"},
		{"get --sec=" + secret, "get --sec=***"},
		{"get --secretkey=" + secret, "get --secretkey=***"},
		{"get --secret_key=" + secret, "get --secret_key=***"},
		{"get --Secret-Key=" + secret, "get --Secret-Key=***"},
		{"get --sceret-key=" + secret, "get --sceret-key=***"},
		{"get --secret-key" + secret, "get --secret-key***"},
		{"get --access-key=abc --session-token=def", "get --access-key=abc --session-token=***"},
		{"get --s3-access-key=minioadmin --s3-secret-key=abc", "get --s3-access-key=minioadmin --s3-secret-key=***"},
		{"get --pushgateway=http://me:pa/ss@gate:9091", "get --pushgateway=http://***@gate:9091"},
		{"get --host http://me:pw@store:9000", "get --host http://***@store:9000"},
		{"get --sts-web-token def", "get --sts-web-token ***"},
		{"get --influxdb=http://to/k+en==@db:8086/b/o?t=v", "get --influxdb=http://***@db:8086/b/o?t=v"},
		{"get --influxdb to/k+en==@db:8086/b/o", "get --influxdb ***"},
		{"get --host=http://user:pass@store:9000", "get --host=http://***@store:9000"},
		{"get --secret-key=" + secret + " --prefix=x" + secret, "get --secret-key=*** --prefix=x***"},
		{"get --secret-key=get --prefix=gets", "get --secret-key=*** --prefix=gets"},
		{"get --secret-key=benchmark --bucket=warp-benchmark-bucket", "get --secret-key=*** --bucket=warp-benchmark-bucket"},
		{"get --secret-key=benchmark --bucket=benchmark", "get --secret-key=*** --bucket=***"},
		{"get --prefix=a@b --host=h", "get --prefix=a@b --host=h"},
		{"get -- --secret-key " + secret, "get -- --secret-key ***"},
		{"get --secret-key", "get --secret-key"},
		{"get --credentials-file=keys.txt --token-file shared", "get --credentials-file=keys.txt --token-file shared"},
		{"get --credentials=" + secret, "get --credentials=***"},
		{"get --serve=x --access-log=y", "get --serve=x --access-log=y"},
	} {
		got := strings.Join(redactArgs(strings.Fields(test.args)), " ")
		if got != test.want {
			t.Errorf("%s\n gives %s\n  want %s", test.args, got, test.want)
		}
	}
}

// TestRedactorText: a secret is hidden where it is one, and what only looks
// like it stays.
func TestRedactorText(t *testing.T) {
	t.Parallel()
	r := newRedactor([]string{"--access-key=warp", "--secret-key=" + secret, "--pushgateway=http://me:pw/x@gate:9091"},
		mapEnvironment(map[string]string{"WARP_ACCESS_KEY": "no such host", "WARP_SESSION_TOKEN": "benchmark"}))
	r.add("ab", "s", "no")
	for in, want := range map[string]string{
		"key " + secret + " is bad":                       "key *** is bad",
		"key x" + secret + "y is bad":                     "key x***y is bad",
		"?X=wJalrXUtnFEMI%2FK7MDENG%2BbPxRfiCY&y":         "?X=***&y",
		"warp: seed 1110":                                 "warp: seed 1110",
		"lookup x: no such host":                          "lookup x: no such host",
		"12 MiB/s, ab and abc":                            "12 MiB/s, ab and abc",
		"bucket warp-benchmark-bucket, benchmark.json":    "bucket warp-benchmark-bucket, benchmark.json",
		"token benchmark.":                                "token ***.",
		`"benchmark": "/benchmark/"`:                      `"***": "/***/"`,
		"WARP_SESSION_TOKEN=ab":                           "WARP_SESSION_TOKEN=***",
		"--secret-key ab --x":                             "--secret-key *** --x",
		`{"X-Amz-Security-Token": "ab"}`:                  `{"X-Amz-Security-Token": "***"}`,
		"Authorization: Bearer ab":                        "Authorization: Bearer ***",
		"pushing to http://me:pw/x@gate:9091/metrics":     "pushing to http://***@gate:9091/metrics",
		"Get \"http://h:9000/bucket/a@b\": EOF":           "Get \"http://h:9000/bucket/a@b\": EOF",
		"Get \"https://me:pw@h:9000/bucket\": no answer.": "Get \"https://***@h:9000/bucket\": no answer.",
	} {
		if got := r.text(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

func TestRedactorStrings(t *testing.T) {
	t.Parallel()
	type inner struct{ Text string }
	v := struct {
		Notes  []string
		Params map[string]string
		Inner  *inner
		Any    any
		N      int
	}{[]string{secret, "a"}, map[string]string{secret: "x " + secret}, &inner{secret}, &inner{secret}, 12345678}
	r := &redactor{}
	r.add(secret, "12345678")
	r.strings(&v)
	if v.Notes[0] != "***" || v.Notes[1] != "a" || v.Params[secret] != "x ***" || v.Inner.Text != "***" || v.Any.(*inner).Text != "***" || v.N != 12345678 {
		t.Errorf("got %+v", v)
	}
}

// TestNoSecretEver runs command lines that fail in every way there is and looks
// for the secret in all that they write.
func TestNoSecretEver(t *testing.T) {
	t.Parallel()
	env := map[string]string{"WARP_SESSION_TOKEN": "envtoken-" + secret, "AWS_SECRET_ACCESS_KEY": "aws-" + secret}
	for _, tail := range [][]string{
		{"--secret-key=" + secret, "--host=fails"},
		{"--secret-key", secret, "--access-key", "AKIA" + secret, "--host=fails", "--debug"},
		{"--secret-key=" + secret, "--host=params", "--add=" + secret, "--debug"},
		{"--host=params", "--add=envtoken-" + secret, "--add=aws-" + secret},
		{"--secret-key=" + secret, "--duration=" + secret},
		{"--secret-key=" + secret, "--obj.size=" + secret},
		{"--secret-key=" + secret, "--host-select=" + secret},
		{"--secret-ky=" + secret},
		{"--secret-key" + secret},
		{"--secret", secret},
		{"--influxdb=http://" + secret + "@h"},
		{"--secret-key=" + secret, "--duration"},
		{"--secret-key=" + secret, secret},
		{"--secret-key=" + secret, "--quiet=" + secret, "--nonsense-" + secret},
	} {
		r := runWarp(t, env, append([]string{"fake"}, tail...)...)
		for _, text := range []string{r.out, r.err} {
			if strings.Contains(text, secret) || strings.Contains(text, strings.ReplaceAll(secret, "/", `\/`)) {
				t.Errorf("%q shows the secret:\n%s", tail, text)
			}
		}
		if slices.Contains(tail, "--host=fails") && !strings.Contains(r.err, "cannot reach http://***@store: ***") {
			t.Errorf("%q: %s", tail, r.err)
		}
	}
}

// TestPasswordOfAGateway: one that answers an unexpected status is reported
// without the password that it was given, on the terminal, in the report and
// in the log.
func TestPasswordOfAGateway(t *testing.T) {
	t.Parallel()
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	defer gateway.Close()
	address := strings.Replace(gateway.URL, "://", "://me:pw0rd@", 1)
	for _, format := range []string{"--json", "--no-color"} {
		log := filepath.Join(t.TempDir(), "run")
		r := runWarp(t, nil, "put", "--host=embedded", "--obj.size=1KiB", "--max-objects=3", "--concurrent=1",
			"--access-key=warp", "--secret-key=s", "--pushgateway="+address, "--benchdata="+log, format)
		if notes := notesIn(t, log+".csv.zst"); len(notes) == 0 || strings.Contains(strings.Join(notes, ""), "pw0rd") {
			t.Errorf("the log notes %q", notes)
		}
		analyzed := runWarp(t, nil, "analyze", log+".csv.zst", format)
		for _, text := range []string{r.out + r.err, analyzed.out + analyzed.err} {
			if !strings.Contains(text, "pushes to the Pushgateway failed") || strings.Contains(text, "pw0rd") {
				t.Errorf("want a failure, and no password in\n%s", text)
			}
			if strings.Contains(text, "/***") && !strings.Contains(text, "://***@") {
				t.Errorf("more is hidden than the password:\n%s", text)
			}
		}
		if !strings.Contains(r.err, "warp: seed ") || strings.Contains(r.out, "MiB/***") {
			t.Errorf("more is hidden than the password:\n%s%s", r.out, r.err)
		}
		if format == "--json" && (!strings.Contains(analyzed.out, `"bucket": "warp-benchmark-bucket"`) || !strings.Contains(analyzed.out, `"access-key": "warp"`)) {
			t.Errorf("the log hides what is no secret:\n%s", analyzed.out)
		}
	}
}

func notesIn(t *testing.T, path string) []string {
	t.Helper()
	r, err := oplog.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Each(t.Context(), func([]oplog.Record) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return r.Trailer().Notes
}
