package kubetest

import (
	"encoding/base64"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/internal/teststore"
)

// In a cluster, each upgrade of a release is another run. The token stays, and so does the claim
// when the release is uninstalled. No pod starts, because there is only the API server.
func TestRelease(t *testing.T) {
	t.Parallel()
	k := teststore.StartKubernetes(t)
	config := k.Config(t)
	helm := func(args ...string) string {
		t.Helper()
		out, err := helmAt(t, config, append(args, "--namespace=load")...)
		if err != nil {
			t.Fatalf("helm %q: %v\n%s", args, err, out)
		}
		return out
	}
	there := func(path string) bool {
		var any struct{}
		return k.Get(t.Context(), path, &any) == nil
	}
	token := func() string {
		t.Helper()
		var secret struct{ Data struct{ Token string } }
		check.OK(t, k.Get(t.Context(), "/api/v1/namespaces/load/secrets/warp-token", &secret))
		plain, err := base64.StdEncoding.DecodeString(secret.Data.Token)
		if err != nil || len(plain) < 32 {
			t.Errorf("the token is %q: %v", plain, err)
		}
		return string(plain)
	}
	const jobs = "/apis/batch/v1/namespaces/load/jobs/"
	const claim = "/api/v1/namespaces/load/persistentvolumeclaims/warp-results"
	values := []string{"--set=store.accessKey=key,store.secretKey=secretsecret"}

	if out := helm(append(values, "install", "warp", chart, "--create-namespace")...); !strings.Contains(out, "kubectl -n load logs -f job/warp-1") {
		t.Errorf("how to follow the run is not said:\n%s", out)
	}
	first := token()
	if !there(jobs+"warp-1") || !there(claim) {
		t.Error("there is no Job, or no claim")
	}
	helm(append(values, "upgrade", "warp", chart)...)
	if !there(jobs+"warp-2") || there(jobs+"warp-1") {
		t.Error("the upgrade is not another run")
	}
	if again := token(); again != first {
		t.Errorf("the token was %s and is %s", first, again)
	}
	// A name is used for only one run.
	named := append(values, "--set=run=nightly", "upgrade", "warp", chart)
	helm(named...)
	if out, err := helmAt(t, config, append(named, "--namespace=load", "--set=benchmark=put")...); err == nil || !strings.Contains(out, "run nightly has been there already") {
		t.Errorf("%v\n%s", err, out)
	}
	helm("uninstall", "warp")
	if there(jobs+"warp-nightly") || !there(claim) {
		t.Error("the release did not go, or the claim did")
	}
	// It may be installed again, with its claim.
	helm(append(values, "install", "warp", chart)...)
	if token() == first {
		t.Error("two releases have one token")
	}
}
