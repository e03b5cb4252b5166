package cli

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"warp/cli/exit"
	"warp/internal/check"
	"warp/internal/standin"
	"warp/pkg/s3mem"
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
				"--concurrent=2", "--duration=1s", "--quiet", "--benchdata="+log)
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

// The S3 interface of AIStore is a store below a path that redirects requests about objects, and reports versions that it does
// not list. Benchmarks with both engines run there and leave what they found.
func TestAIStoreS3(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"lean", "minio"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			mem, err := s3mem.Start(s3mem.EmbeddedOptions{})
			check.OK(t, err)
			t.Cleanup(func() { _ = mem.Close() })
			a := standin.StartAIStoreS3(t, mem)
			askEmbedded(t, mem, http.MethodPut, "/bench", "")
			askEmbedded(t, mem, http.MethodPut, "/bench/foreign", "stays")
			for _, line := range []string{
				"get --objects=20", "get --range --objects=20", "put", "put --obj.size=300KiB", "delete --objects=40 --batch=5", "list --objects=20", "stat --objects=20",
				"mixed --objects=20", "multipart --parts=3 --part.size=5MiB", "multipart-put --parts=2 --part.size=5MiB --concurrent=1",
			} {
				log := filepath.Join(t.TempDir(), "log")
				args := append(strings.Fields(line), "--provider=s3", "--host="+a.Proxy.URL, "--bucket=bench", "--region=us-east-1", "--access-key="+a.Proxy.Key.Access,
					"--secret-key="+a.Proxy.Key.Secret, "--engine="+engine, "--duration=1s", "--quiet", "--benchdata="+log)
				if !strings.Contains(line, "concurrent") {
					args = append(args, "--concurrent=2")
				}
				if !strings.Contains(line, "size") {
					args = append(args, "--obj.size=1KiB")
				}
				r := runWarp(t, nil, args...)
				if r.code != exit.OK {
					t.Fatalf("%s: exit code %d: %s", line, r.code, r.err)
				}
				for _, row := range rowsIn(t, log+".csv.zst") {
					hops := 2
					if row.Op == "LIST" || row.Op == "DELETE" && row.Objects > 1 {
						hops = 1 // it is about the bucket
					}
					if row.Endpoint != a.Proxy.URL || row.Err != "" || int(row.Requests)%hops != 0 || int(row.Requests) < hops {
						t.Fatalf("%s: %s: endpoint %s, %d requests, error %q", line, row.Op, row.Endpoint, row.Requests, row.Err)
					}
				}
			}
			askedForVersions := false
			for _, g := range []*standin.Gateway{a.Proxy, a.Target} {
				seen, problems := g.Seen()
				if len(problems) > 0 {
					t.Error(problems)
				}
				for _, r := range seen {
					askedForVersions = askedForVersions || strings.Contains(r.Query, "versions")
				}
			}
			if !askedForVersions {
				t.Error("the store was not asked for versions, so this test does not show what its answer does")
			}
			listing := askEmbedded(t, mem, http.MethodGet, "/bench?list-type=2", "")
			if strings.Count(listing, "<Key>") != 1 || !strings.Contains(listing, "<Key>foreign</Key>") {
				t.Errorf("left are %s", listing)
			}
		})
	}
}

// askEmbedded sends a request to the embedded store past warp, and returns the answer.
func askEmbedded(t *testing.T, mem *s3mem.Embedded, method, target, body string) string {
	t.Helper()
	answer := httptest.NewRecorder()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	mem.ServeHTTP(answer, r)
	if answer.Code != http.StatusOK {
		t.Fatalf("%s %s: status %d: %s", method, target, answer.Code, answer.Body)
	}
	return answer.Body.String()
}

// The clients of a fleet have the token too.
func TestAIStoreFleet(t *testing.T) {
	t.Parallel()
	a := standin.StartAIStore(t, standin.AIStoreOptions{Token: "secret"})
	log := filepath.Join(t.TempDir(), "log")
	r := runWarp(t, map[string]string{"AIS_AUTHN_TOKEN": "secret"}, "put", "--bucket=ais://fleet", "--host="+a.URL, "--obj.size=1KiB", "--concurrent=2",
		"--duration=6s", "--quiet", "--warp-client="+twoClients(t), "--warp-client-wait=60s", "--benchdata="+log)
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
	r := runWarp(t, env, "put", "--bucket=ais://new", "--obj.size=1KiB", "--concurrent=2", "--duration=1s", "--keep-data", "--benchdata="+t.TempDir()+"/log")
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

// A script says where the credentials of a store with its own kind are from.
func TestAIStoreScript(t *testing.T) {
	t.Parallel()
	a := standin.StartAIStore(t, standin.AIStoreOptions{Token: "secret"})
	r := runWarp(t, nil, "script", "--bucket=ais://bench", "--host="+a.URL, "--access-token=secret", "--benchdata="+filepath.Join(t.TempDir(), "log"),
		"PUT 2 OBJECTS OF SIZE 1 K; DELETE")
	if r.code != exit.OK || !strings.Contains(r.out, "  access key     : from --access-token\n") {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
	}
}
