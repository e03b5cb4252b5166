package conformance

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
)

// An issuer issues tokens, as companies do. A MinIO trusts it.
type issuer struct {
	url string
	key *rsa.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	check.OK(t, err)
	i := &issuer{key: key}
	mux := http.NewServeMux()
	answer := func(path string, what func() any) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(what())
		})
	}
	answer("/.well-known/openid-configuration", func() any {
		return map[string]any{"issuer": i.url, "jwks_uri": i.url + "/keys", "response_types_supported": []string{"id_token"},
			"subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"RS256"},
			"authorization_endpoint": i.url + "/authorize", "token_endpoint": i.url + "/token"}
	})
	answer("/keys", func() any {
		return map[string]any{"keys": []any{map[string]string{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "the-key",
			"n": encode(key.N.Bytes()), "e": encode(big.NewInt(int64(key.E)).Bytes())}}}
	})
	server := httptest.NewUnstartedServer(mux)
	i.url = "http://" + server.Listener.Addr().String() // before the first request
	server.Start()
	t.Cleanup(server.Close)
	return i
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// token returns a token that allows all object operations.
func (i *issuer) token(t *testing.T, expires time.Time) string {
	t.Helper()
	part := func(v any) string {
		text, err := json.Marshal(v)
		check.OK(t, err)
		return encode(text)
	}
	text := part(map[string]string{"alg": "RS256", "typ": "JWT", "kid": "the-key"}) + "." + part(map[string]any{
		"iss": i.url, "aud": "warp", "azp": "warp", "sub": "somebody", "policy": "readwrite",
		"iat": time.Now().Add(-time.Hour).Unix(), "exp": expires.Unix()})
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(nil, i.key, crypto.SHA256, digest[:])
	check.OK(t, err)
	return text + "." + encode(signature)
}

// TestWebToken exchanges a token for credentials at a store that trusts its issuer, and checks that
// neither is ever shown.
func TestWebToken(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	s := teststore.Start(t, teststore.MinIO, teststore.Options{Env: []string{
		"MINIO_IDENTITY_OPENID_CONFIG_URL=" + i.url + "/.well-known/openid-configuration",
		"MINIO_IDENTITY_OPENID_CLIENT_ID=warp", "MINIO_IDENTITY_OPENID_CLAIM_NAME=policy",
	}})
	good, old := i.token(t, time.Now().Add(time.Hour)), i.token(t, time.Now().Add(-time.Minute))
	file := filepath.Join(t.TempDir(), "token")
	check.OK(t, os.WriteFile(file, []byte(good+"\n"), 0o600))
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }))
	defer empty.Close()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<!DOCTYPE html><html><br>Welcome</html>"))
	}))
	defer page.Close()
	other := stores.Shared(t, teststore.Versitygw)
	for _, c := range []struct {
		name, token string
		env         []string
		flags       []string
		says        []string // nil = it works
	}{
		{"by flag", good, nil, []string{"--sts-web-token=" + good}, nil},
		{"by variable", good, []string{"WARP_STS_WEB_TOKEN=" + good}, nil, nil},
		{"from a file", good, nil, []string{"--sts-web-token=file:" + file}, nil},
		{"beside keys, which do not count", good, []string{"AWS_ACCESS_KEY_ID=nobody", "AWS_SECRET_ACCESS_KEY=nothing1"}, []string{"--sts-web-token=" + good}, nil},
		{"expired", old, nil, []string{"--sts-web-token=" + old}, []string{"expired"}},
		{"no token of it", "a.wrong.token-of-somebody", nil, []string{"--sts-web-token=a.wrong.token-of-somebody"}, []string{s.Endpoint}},
		{"a store that exchanges none", good, nil, []string{"--sts-web-token=" + good, "--host=" + other.Endpoint}, []string{other.Endpoint, "not allowed"}},
		{"a server that says nothing", good, []string{"AWS_ENDPOINT_URL_STS=" + empty.URL}, []string{"--sts-web-token=" + good}, []string{empty.URL, "does not answer like a token service"}},
		{"a server of pages", good, []string{"AWS_ENDPOINT_URL_STS=" + page.URL}, []string{"--sts-web-token=" + good}, []string{page.URL, "does not answer like a token service"}},
		{"nobody", good, []string{"AWS_ENDPOINT_URL_STS=http://127.0.0.1:1"}, []string{"--sts-web-token=" + good}, []string{"127.0.0.1:1", "refused"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			args := append(short("get"), "--host="+s.Endpoint, "--bucket=web-token", "--signature=STS_WEB_TOKEN", "--debug", "--benchdata="+filepath.Join(dir, "run"))
			var o outcome
			check.Eventually(t, "the store to be ready for tokens", func() bool {
				o = measured(func() outcome { return warpProcess(t, c.env, append(args, c.flags...)...) })
				return !strings.Contains(o.err, "being initialized")
			})
			leaks(t, c.token, dir, o)
			if c.says != nil {
				line := o.want(t, 1).says(t, append(c.says, "web token")...)
				if strings.Contains(line, "EOF") {
					t.Errorf("it says %q", line)
				}
				return
			}
			o.want(t, 0)
			if errorsIn(readLog(t, filepath.Join(dir, "run.csv.zst")).rows) != 0 {
				t.Errorf("requests failed: %s", o)
			}
		})
	}
}
