package redact

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
)

const secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCY"

func TestArgs(t *testing.T) {
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
		{"get --host=https://a.blob.core.windows.net/?sv=1&sig=wJalr%2BUtnFEMI%3D&sp=rw", "get --host=https://a.blob.core.windows.net/?sv=1&sig=***&sp=rw"},
		{"get --host https://a.blob.core.windows.net/c?sig=wJalr%2BUtnFEMI%3D", "get --host https://a.blob.core.windows.net/c?sig=***"},
		{"get --base-uri=a.blob.core.windows.net/?sv=1&sig=wJalr+UtnFEMI=,b", "get --base-uri=a.blob.core.windows.net/?sv=1&sig=***,b"},
		{"get --bucket=sv=1&sig=wJalr+UtnFEMI= wJalr%2BUtnFEMI%3D", "get --bucket=sv=1&sig=*** ***"},
		{"get AccountName=a;AccountKey=wJalrUtnFEMI/K7MDENG==;x=y", "get AccountName=a;AccountKey=***;x=y"},
		{"get --secret-key=" + secret + " --prefix=x" + secret, "get --secret-key=*** --prefix=x***"},
		{"get --secret-key=get --prefix=gets", "get --secret-key=*** --prefix=gets"},
		{"get --secret-key=benchmark --bucket=warp-benchmark-bucket", "get --secret-key=*** --bucket=warp-benchmark-bucket"},
		{"get --secret-key=benchmark --bucket=benchmark", "get --secret-key=*** --bucket=***"},
		{"get --prefix=a@b --host=h", "get --prefix=a@b --host=h"},
		{"get -- --secret-key " + secret, "get -- --secret-key ***"},
		{"get --secret-key", "get --secret-key"},
		{"get --credentials-file=keys.txt --token-file shared", "get --credentials-file=keys.txt --token-file shared"},
		{"aisloader -tokenfile=ais.token", "aisloader -tokenfile=ais.token"},
		{"get --credentials=" + secret, "get --credentials=***"},
		{"get --serve=x --access-log=y", "get --serve=x --access-log=y"},
	} {
		got := strings.Join(Args(strings.Fields(test.args)), " ")
		if got != test.want {
			t.Errorf("%s\n gives %s\n  want %s", test.args, got, test.want)
		}
	}
}

// TestRedactorText: a secret is hidden where it is one, and what only looks
// like it stays.
func TestRedactorText(t *testing.T) {
	t.Parallel()
	r := New([]string{"--access-key=warp", "--secret-key=" + secret, "--pushgateway=http://me:pw/x@gate:9091"},
		func(name string) (string, bool) {
			v, ok := map[string]string{"WARP_ACCESS_KEY": "no such host", "WARP_SESSION_TOKEN": "benchmark"}[name]
			return v, ok
		})
	r.Add("ab", "s", "no")
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
		if got := r.Text(in); got != want {
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
	r := &Redactor{}
	r.Add(secret, "12345678")
	r.Strings(&v)
	if v.Notes[0] != "***" || v.Notes[1] != "a" || v.Params[secret] != "x ***" || v.Inner.Text != "***" || v.Any.(*inner).Text != "***" || v.N != 12345678 {
		t.Errorf("got %+v", v)
	}
}

// A receiver that echoes the header of Basic authentication does not reveal the password.
func TestBase64(t *testing.T) {
	t.Parallel()
	args := []string{"put", "--pushgateway=http://user:p%40ssw0rd-1@127.0.0.1:9091"}
	r := New(args, func(string) (string, bool) { return "", false })
	for _, user := range []string{"user:p@ssw0rd-1", "user:p%40ssw0rd-1"} {
		sent := base64.StdEncoding.EncodeToString([]byte(user))
		for _, text := range []string{"the receiver says: Basic " + sent, `{"authorization":"` + sent + `"}`, url.QueryEscape(sent)} {
			if got := r.Text(text); strings.Contains(got, sent) || strings.Contains(got, url.QueryEscape(sent)) || !strings.Contains(got, Mark) {
				t.Errorf("%q became %q", text, got)
			}
		}
	}
	r.Add("a secret key of S3")
	if sent := base64.StdEncoding.EncodeToString([]byte("a secret key of S3")); strings.Contains(r.Text("key "+sent), sent) {
		t.Error("Base64 of a secret key is not hidden")
	}
}

// A store or a receiver that echoes a request does not reveal what signs it.
func TestSignatures(t *testing.T) {
	t.Parallel()
	const hexadecimal = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
	r := New([]string{"get", "--secret-key=pass word+with/all:8"}, func(string) (string, bool) { return "", false })
	for in, want := range map[string]string{
		"GET /b/o?X-Amz-Expires=900&X-Amz-Signature=" + hexadecimal + "&x=1": "GET /b/o?X-Amz-Expires=900&X-Amz-Signature=***&x=1",
		"<Query>a=1&amp;sig=wJalr%2BUtnFEMIxyzxyzxyzxyz%3D&amp;se=2</Query>": "<Query>a=1&amp;sig=***&amp;se=2</Query>",
		"url%3Fsv%3D1%26sig%3DwJalrUtnFEMIxyzxyzxyzxyz":                      "url%3Fsv%3D1%26sig%3D***",
		"AWS4-HMAC-SHA256 SignedHeaders=host, Signature=" + hexadecimal:      "AWS4-HMAC-SHA256 SignedHeaders=host, Signature=***",
		`"X-Amz-Signature": "` + hexadecimal + `"`:                           `"X-Amz-Signature": "***"`,
		"Authorization: SharedKey account:d0phbHJVdG5GRU1J":                  "Authorization: SharedKey account:***",
		`{"Authorization":["Basic dXNlcjpwYXNz"]}`:                           `{"Authorization":["Basic ***"]}`,
		"authorization: bearer abc.def.ghi":                                  "authorization: bearer ***",
		"pass%20word%2Bwith%2Fall%3A8, pass+word%2Bwith%2Fall%3A8":           "***, ***",
		"--signature=S3V4 and --signature=IAM":                               "--signature=S3V4 and --signature=IAM",
		"SignatureDoesNotMatch: the signature: 12 bytes":                     "SignatureDoesNotMatch: the signature: 12 bytes",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}
