package standin

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// NVIDIA's client and warp work with the same cluster and read each other's objects, so both follow
// its protocol.
func TestAIStorePython(t *testing.T) {
	t.Parallel()
	python, err := teststore.Ensure(t.Context(), teststore.AIStorePython)
	if teststore.MaySkip(err) {
		t.Skip(err)
	}
	check.OK(t, err)
	a, guarded := StartAIStore(t, AIStoreOptions{Polls: 1}), StartAIStore(t, AIStoreOptions{Token: "secret"})
	client, err := engines.New(store.Config{Provider: "ais", Hosts: []store.Address{{Name: a.Host()}}, AppVersion: "1", Concurrency: 1})
	check.OK(t, err)
	t.Cleanup(client.Close)
	check.OK(t, client.MakeBucket(t.Context(), "warps", false))
	names := []string{"warp/1", "warp/a b+ü", "warp/deep/2"}
	for _, name := range names {
		data := bytes.Repeat([]byte(name), 100)
		err := client.Use(func(h *store.Host) error {
			_, err := h.Put(t.Context(), store.Put{Ref: store.Ref{Bucket: "warps", Key: name}, Body: bytes.NewReader(data), Size: int64(len(data))}, store.NewTrace(time.Now()))
			return err
		})
		check.OK(t, err)
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/aistore_client.py", a.URL, "warps", guarded.URL, "secret")
	out, err := cmd.Output()
	if err != nil {
		var stderr []byte
		if exit, ok := err.(*exec.ExitError); ok {
			stderr = exit.Stderr
		}
		t.Fatalf("%v\n%s", err, stderr)
	}
	if read := strings.Split(strings.TrimSpace(string(out)), "\n"); !slices.Equal(read, names) {
		t.Errorf("the Python client read %q, want %q", read, names)
	}
	data, err := client.ReadSmall(t.Context(), store.Ref{Bucket: "python", Key: "dir/by python ü"})
	if err != nil || len(data) != 256000 || data[257] != 1 {
		t.Errorf("warp read %d bytes of what the Python client wrote, %v", len(data), err)
	}
}
