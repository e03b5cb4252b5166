package fleet

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
)

// The description of a store for another machine contains no file name of this one, and no keys that expire.
func TestDescribeStore(t *testing.T) {
	t.Parallel()
	ca := filepath.Join(t.TempDir(), "ca")
	check.OK(t, os.WriteFile(ca, []byte("the certificates"), 0o644))
	static := store.Keys{AccessKey: "a", SecretKey: "b", SessionToken: "c"}
	s, err := DescribeStore(store.Config{CAFile: ca, Credentials: static, Others: []store.Credentials{static}})
	check.OK(t, err)
	if s.Config.CAFile != "" || string(s.Config.CAPEM) != "the certificates" || len(s.Keys) != 2 || s.Keys[0].SecretKey != "b" || s.Keys[1].SessionToken != "c" {
		t.Errorf("%+v", s)
	}
	if _, err := DescribeStore(store.Config{Credentials: store.Keys{AccessKey: "a", SecretKey: "b", Expires: time.Now().Add(time.Hour)}}); err == nil {
		t.Error("keys that expire were accepted")
	}
	if _, err := DescribeStore(store.Config{Credentials: static, Options: store.Options{ClientCert: ca, ClientKey: ca + "no"}}); err == nil {
		t.Error("a key that is not there was left out in silence")
	}
	if _, err := DescribeStore(store.Config{Credentials: static, CAFile: ca + "no"}); err == nil {
		t.Error("a CA file that is not there was left out in silence")
	}
}
