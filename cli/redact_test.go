package cli

import (
	"slices"
	"strings"
	"testing"
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
		{"get --access-key=abc --session-token=def", "get --access-key=*** --session-token=***"},
		{"get --sts-web-token def", "get --sts-web-token ***"},
		{"get --influxdb=http://to/k+en==@db:8086/b/o?t=v", "get --influxdb=http://***@db:8086/b/o?t=v"},
		{"get --influxdb to/k+en==@db:8086/b/o", "get --influxdb ***"},
		{"get --host=http://user:pass@store:9000", "get --host=http://***@store:9000"},
		{"get --secret-key=" + secret + " --prefix=x" + secret, "get --secret-key=*** --prefix=x***"},
		{"get --secret-key=get --prefix=gets", "*** --secret-key=*** --prefix=gets"},
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

func TestRedactorEscaped(t *testing.T) {
	t.Parallel()
	r := &redactor{}
	r.add(secret, "ab", "s")
	for in, want := range map[string]string{
		"key " + secret + " is bad":                       "key *** is bad",
		"?X=wJalrXUtnFEMI%2FK7MDENG%2BbPxRfiCY&y":         "?X=***&y",
		"about ab, cab and abc":                           "about ***, cab and abc",
		"Access abab ab/ab=ab":                            "Access abab ***/***=***",
		"Get \"http://h:9000/bucket/a@b\": EOF":           "Get \"http://h:9000/bucket/a@b\": EOF",
		"Get \"https://me:pw@h:9000/bucket\": no answer.": "Get \"https://***@h:9000/bucket\": no answer.",
	} {
		if got := r.text(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
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
