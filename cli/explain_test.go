package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/cli/target"
	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/fleet"
	"warp/pkg/store"
)

// TestFirstAnswers: what a host that is no store of S3, or that does not let
// warp in, is reported as: one line that says what to do.
func TestFirstAnswers(t *testing.T) {
	t.Parallel()
	s3Error := func(status int, code, message string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, message)
		}
	}
	text := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); fmt.Fprint(w, text) }
	}
	noCreate := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			s3Error(403, "AccessDenied", "Access Denied.")(w, r)
			return
		}
		s3Error(404, "NoSuchBucket", "none")(w, r)
	}
	elsewhere := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "http://other.example/x")
		s3Error(307, "TemporaryRedirect", "Redirect")(w, r)
	}
	moved := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "https://other.example/x")
		w.WriteHeader(http.StatusMovedPermanently)
	}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		tls     bool
		want    string
	}{
		"tls port":        {text(200, ""), true, "talks TLS, and the request was plain HTTP; try --tls"},
		"web server":      {text(200, "<html><body>hi</body></html>"), false, "there seems to be no S3 at"},
		"console":         {text(200, "<!doctype html>\n<html><body>hi</body></html>"), false, "BadAnswer: the answer is an HTML page"},
		"error page":      {text(501, "<!DOCTYPE HTML>\n<html><body>Forbidden</body></html>"), false, "HTTP501: 501 Not Implemented; there seems to be no S3 at"},
		"nothing there":   {text(404, ""), false, "there seems to be no S3 at"},
		"other language":  {text(200, "{}"), false, "there seems to be no S3 at"},
		"may not create":  {noCreate, false, "Access Denied; these keys may not create buckets (s3:CreateBucket)"},
		"unknown key":     {s3Error(403, "InvalidAccessKeyId", "No such key."), false, "No such key; check --access-key and --secret-key"},
		"wrong secret":    {s3Error(403, "SignatureDoesNotMatch", "x"), false, "check --access-key and --secret-key"},
		"wrong region":    {text(400, ""), false, "check --region"},
		"redirect":        {elsewhere, false, "the store redirects this request to http://other.example/x: that is outside of its own domain"},
		"clock":           {s3Error(403, "RequestTimeTooSkewed", "x"), false, "set the clock of the machine that sent the request"},
		"moved":           {moved, false, "the store sends this request to https://other.example/x, and warp follows status 307 and 308 only; check --host"},
		"session is over": {s3Error(400, "ExpiredToken", "x"), false, "check --"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := httptest.NewServer
			if test.tls {
				// One that closes the connection without a word, as most do.
				start = func(h http.Handler) *httptest.Server {
					s := httptest.NewUnstartedServer(h)
					s.Config.ErrorLog = nil
					s.StartTLS()
					return s
				}
			}
			server := start(test.handler)
			defer server.Close()
			_, address, _ := strings.Cut(server.URL, "://")
			put := []string{"put", "--obj.size=1KiB", "--stress"}
			for _, command := range [][]string{put, {"clean"}, append(slices.Clone(put), "--warp-client="+inProcessClient(t))} {
				if command[0] == "clean" && (name == "nothing there" || name == "may not create") {
					continue // to clean up there is nothing
				}
				began := time.Now()
				r := runWarp(t, nil, append(command, "--host="+address, "--access-key=warp", "--secret-key=warpwarp")...)
				if len(command) > len(put) { // who takes part comes first
					r.err = r.err[strings.Index(r.err, "warp: error: "):]
				}
				if strings.HasPrefix(r.err, "warp: no successful answer from ") { // a busy machine takes longer
					_, r.err, _ = strings.Cut(r.err, "\n")
				}
				if r.code != 1 || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, test.want) && !(test.tls && strings.Contains(r.err, "try --tls")) || time.Since(began) > time.Minute {
					t.Errorf("%v: code %d after %v, want %q in\n%s%s", command, r.code, time.Since(began), test.want, r.out, r.err)
				}
				if strings.Contains(r.err, ".;") || strings.Contains(r.err, "embedded") {
					t.Errorf("%v: %s", command, r.err)
				}
			}
		})
	}
}

// What a store says to requests without keys, and about the name of a bucket, has a hint of its own.
func TestFirstAnswersToOtherMistakes(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusBadRequest
		if r.Header.Get("Authorization") == "" {
			status = http.StatusForbidden
		}
		w.WriteHeader(status)
	}))
	defer server.Close()
	_, address, _ := strings.Cut(server.URL, "://")
	nowhere := filepath.Join(t.TempDir(), "none")
	env := map[string]string{"AWS_SHARED_CREDENTIALS_FILE": nowhere, "AWS_CONFIG_FILE": nowhere}
	keys := []string{"--access-key=warp", "--secret-key=warpwarp"}
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "; requests are anonymous: give --access-key and --secret-key\n"},
		{append(keys, "--bucket=My_Bucket"), "; check --region, and --bucket: most stores want lower-case letters, digits, dots and hyphens\n"},
		{append(keys, "--bucket=my-bucket"), "; check --region\n"},
	} {
		r := runWarp(t, env, append([]string{"put", "--stress", "--host=" + address}, test.args...)...)
		if r.code != 1 || !strings.HasSuffix(r.err, test.want) {
			t.Errorf("%v: code %d, %s instead of %s", test.args, r.code, r.err, test.want)
		}
	}
}

// TestAnswersToClients: what a client of a fleet was answered has the hint that one machine gives. Of its error only text
// and code arrive.
func TestAnswersToClients(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, code, want string }{
		{"create bucket b: AccessDenied: Access Denied", "AccessDenied", "these keys may not create buckets"},
		{"check bucket b: AccessDenied: Access Denied", "AccessDenied", "check --access-key and --secret-key"},
		{"create bucket b: HTTP501: <html> no", "HTTP501", "there seems to be no S3 at"},
		{"check bucket b: plain HTTP", store.CodeNeedsTLS, "try --tls"},
	} {
		client := &fleet.Error{Client: "10.0.0.1:7761", Err: fmt.Errorf("%s%w", test.text, &store.Error{Code: test.code})}
		if got := (&target.Flags{}).ExplainClient(client).Error(); !strings.HasPrefix(got, "client 10.0.0.1:7761: ") || !strings.Contains(got, test.want) {
			t.Errorf("%q does not say %q", got, test.want)
		}
	}
}

// inProcessClient is the address of a `warp client` that lasts as long as the test.
func inProcessClient(t *testing.T) string {
	t.Helper()
	errw := &teststore.Output{}
	signals := make(chan os.Signal, 1)
	a := &app{in: strings.NewReader(""), out: io.Discard, errw: errw, env: noEnv, signals: signals, exit: func(int) {}}
	ended := make(chan int, 1)
	go func() { ended <- a.main(context.WithoutCancel(t.Context()), []string{"client", "127.0.0.1:0"}) }()
	t.Cleanup(func() {
		signals <- os.Interrupt
		if code := <-ended; code != 0 {
			t.Errorf("the client ended with %d:\n%s", code, errw)
		}
	})
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(time.Millisecond) {
		if _, after, ok := strings.Cut(errw.String(), " listens at "); ok {
			address, _, _ := strings.Cut(after, " ")
			return address
		}
	}
	t.Fatalf("the client does not listen:\n%s", errw)
	return ""
}

// TestSilentHost: after a moment warp says what it waits for.
func TestSilentHost(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	ctx, end := context.WithCancel(t.Context())
	errw := &teststore.Output{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a := &app{in: strings.NewReader(""), out: io.Discard, errw: errw, env: noEnv, exit: func(int) {}}
		a.main(ctx, []string{"put", "--host=" + l.Addr().String(), "--stress", "--access-key=warp", "--secret-key=warpwarp"})
	}()
	check.Eventually(t, "line about what it waits for", func() bool { return strings.Contains(errw.String(), "\n") })
	if want := "warp: no successful answer from " + l.Addr().String() + " for 3s; the timeout of a request is 45s (Ctrl-C ends this)\n"; !strings.HasPrefix(errw.String(), want) {
		t.Errorf("want %q at the start of\n%s", want, errw)
	}
	l.Close()
	end()
	<-ended
}
