package ais

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/standin"
	"warp/pkg/store"
)

// Downloads go through a transformation between its start and its end.
func TestTransform(t *testing.T) {
	t.Parallel()
	a := standin.StartAIStore(t, standin.AIStoreOptions{Kubernetes: true})
	a.Put("b", "k", []byte("content"))
	engine, admin := open(t, a, store.Config{Settings: store.EncodeSettings(Settings{ETL: "warp-md5"})})
	get := func() (string, store.Download, error) {
		var into bytes.Buffer
		d, err := engine.Get(t.Context(), store.Get{Ref: store.Ref{Bucket: "b", Key: "k"}, Into: &into}, store.NewTrace(time.Now()))
		return into.String(), d, err
	}
	if _, _, err := get(); err == nil {
		t.Error("a transformation before it was started")
	}
	spec, ok := BuiltInSpec("md5")
	if !ok {
		t.Fatal("no md5")
	}
	check.OK(t, admin.StartTransform(t.Context(), store.Transformation{Name: "warp-md5", Spec: spec}))
	if got, d, err := get(); got != "9a0364b9e99bb480dd25e1f0284c8555" || d.ETag != "" || d.Bytes != 32 {
		t.Errorf("transformed: %q, %+v, %v", got, d, err)
	}
	check.OK(t, admin.StopTransform(t.Context(), "warp-md5"))
	check.OK(t, admin.StopTransform(t.Context(), "warp-md5"))
	if _, _, err := get(); err == nil {
		t.Error("a transformation after it was removed")
	}
	if _, ok := BuiltInSpec("other"); ok {
		t.Error("a transformation that nobody publishes")
	}
}

// The pod can set how it receives objects.
func TestCommunication(t *testing.T) {
	t.Parallel()
	builtIn, _ := BuiltInSpec("echo")
	for spec, want := range map[string]string{
		string(builtIn): "hpush://", "kind: Pod": "hpush://", "metadata:\n  annotations:\n    communication_type: 'hpull://'\n": "hpull://",
		"    communication_type: hrev://\n    wait_timeout: 5m": "hrev://",
	} {
		if got := communicationOf([]byte(spec)); got != want {
			t.Errorf("%q: %s, want %s", spec, got, want)
		}
	}
}

// The error for a cluster without Kubernetes is one line.
func TestNoTransform(t *testing.T) {
	t.Parallel()
	_, admin := open(t, standin.StartAIStore(t, standin.AIStoreOptions{}), store.Config{})
	spec, _ := BuiltInSpec("echo")
	err := admin.StartTransform(t.Context(), store.Transformation{Name: "warp-echo", Spec: spec})
	if err == nil || !strings.Contains(err.Error(), "only if it runs on Kubernetes, and this cluster does not") {
		t.Errorf("the error is %v", err)
	}
}
