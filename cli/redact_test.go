package cli

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warp/internal/testlog"
)

const secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCY"

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
			t.Errorf("the log hides text that is not secret:\n%s", analyzed.out)
		}
	}
}

func notesIn(t *testing.T, path string) []string {
	t.Helper()
	r, _ := testlog.ReadFile(t, path)
	return r.Trailer().Notes
}
