package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"warp/cli/exit"
	"warp/internal/standin"
)

// Every benchmark that AIStore can do runs on a cluster of it, leaves nothing behind but the bucket and what somebody else
// has in it, and says in its log where its requests went.
func TestAIStore(t *testing.T) {
	t.Parallel()
	a := standin.StartAIStore(t, standin.AIStoreOptions{Token: "secret", Polls: 1})
	a.Put("bench", "foreign/object", []byte("stays"))
	for _, line := range []string{"get", "put", "stat", "list", "delete --batch=5", "mixed", "get --range", "get --verify=checksum", "put --checksum=CRC32C"} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			log := filepath.Join(t.TempDir(), "log")
			args := append(strings.Fields(line), "--bucket=ais://bench", "--host="+a.URL, "--access-token=secret", "--obj.size=1KiB",
				"--concurrent=2", "--duration=300ms", "--quiet", "--benchdata="+log)
			if strings.Fields(line)[0] != "put" {
				args = append(args, "--objects=40")
			}
			r := runWarp(t, nil, args...)
			if r.code != exit.OK {
				t.Fatalf("exit code %d: %s", r.code, r.err)
			}
			rows := rowsIn(t, log+".csv.zst")
			if len(rows) == 0 {
				t.Fatal("no requests")
			}
			for _, row := range rows {
				if hops := row.Op != "LIST"; row.Endpoint != a.URL || row.Err != "" || hops && row.Requests < 2 {
					t.Fatalf("%s: endpoint %s, %d requests, error %q", row.Op, row.Endpoint, row.Requests, row.Err)
				}
			}
		})
	}
	t.Cleanup(func() {
		if left := strings.Join(a.Keys("bench"), " "); left != "foreign/object" {
			t.Errorf("left are %s", left)
		}
	})
}

// The clients of a fleet have the token too.
func TestAIStoreFleet(t *testing.T) {
	t.Parallel()
	a := standin.StartAIStore(t, standin.AIStoreOptions{Token: "secret"})
	log := filepath.Join(t.TempDir(), "log")
	r := runWarp(t, map[string]string{"AIS_AUTHN_TOKEN": "secret"}, "put", "--bucket=ais://fleet", "--host="+a.URL, "--obj.size=1KiB", "--concurrent=2",
		"--duration=300ms", "--quiet", "--warp-client="+twoClients(t), "--warp-client-wait=60s", "--benchdata="+log)
	if r.code != exit.OK {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	for _, row := range rowsIn(t, log+".csv.zst") {
		if row.Err != "" || row.Requests < 2 {
			t.Fatalf("%s: %d requests, error %q", row.Op, row.Requests, row.Err)
		}
	}
}

// A bucket that is missing is made, and marked. What a kept run leaves, clean removes.
func TestAIStoreClean(t *testing.T) {
	t.Parallel()
	a := standin.StartAIStore(t, standin.AIStoreOptions{})
	env := map[string]string{"AIS_ENDPOINT": a.URL}
	r := runWarp(t, env, "put", "--bucket=ais://new", "--obj.size=1KiB", "--concurrent=2", "--duration=200ms", "--keep-data", "--benchdata="+t.TempDir()+"/log")
	if r.code != exit.OK || len(a.Keys("new")) < 3 {
		t.Fatalf("exit code %d, left are %v\n%s", r.code, a.Keys("new"), r.err)
	}
	run := ""
	for _, key := range a.Keys("new") {
		if name, ok := strings.CutSuffix(key, ".json"); ok {
			run = strings.TrimPrefix(name, ".warp/")
		}
	}
	if r = runWarp(t, env, "clean", "--bucket=ais://new", "--run="+run); r.code != exit.OK {
		t.Errorf("clean: exit code %d\n%s", r.code, r.err)
	}
	if left := strings.Join(a.Keys("new"), " "); left != ".warp/made-by-warp" {
		t.Errorf("left are %s", left)
	}
}
