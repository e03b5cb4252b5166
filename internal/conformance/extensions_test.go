package conformance

import (
	"mime"
	"testing"

	"warp/internal/teststore"
)

// An extension is an operation that only some stores do. The others refuse it, or pretend to do it.
type extension struct {
	name string
	args []string
	ops  []string
	can  func(s *teststore.Store) bool
	word string // of the refusal
	// check holds what came over the wire against the rows.
	check func(t *testing.T, b *bed, h history)
}

func extensions() []extension {
	small := []string{"--obj.size=4KiB", "--concurrent=3", "--json"}
	with := func(args ...string) []string { return append(args, small...) }
	return []extension{
		{"put post", with("put", "--post"), []string{"POST"}, takesForms, "uploads by a form", forms(1, 1)},
		{"put post, large", with("put", "--post", "--obj.size=20MiB"), []string{"POST"}, takesForms, "uploads by a form", forms(1, 1)},
		{"fanout", with("fanout", "--copies=7"), []string{"POST"}, func(s *teststore.Store) bool { return s.Can.Fanout }, "fan-out uploads", forms(7, 1)},
		{"multipart", []string{"multipart", "--parts=3", "--concurrent=2", "--json"}, []string{"PUT", "GET"}, func(s *teststore.Store) bool { return s.Can.PartNumber }, "single parts",
			rowsAre(map[string]int{"GET": 1})},
		{"multipart-put", []string{"multipart-put", "--parts=3", "--part.concurrent=2", "--concurrent=2", "--json"}, []string{"UPLOAD", "PUTPART"}, everyStore, "",
			rowsAre(map[string]int{"UPLOAD": 2, "PUTPART": 1})},
		{"copy", with("copy", "--objects=5"), []string{"COPY"}, copies, "copies", rowsAre(map[string]int{"COPY": 1})},
		{"copy in parts", []string{"copy", "--objects=2", "--obj.size=11MiB", "--part.size=5MiB", "--concurrent=2", "--json"}, []string{"COPY", "COPYPART"}, copies, "copies",
			rowsAre(map[string]int{"COPY": 2, "COPYPART": 1})},
		{"append", with("append"), nil, func(*teststore.Store) bool { return false }, "appends", nil}, // see TestAppend
		{"tagging", with("tagging", "--objects=20"), []string{"PUTTAGS", "GETTAGS", "DELETETAGS"}, func(s *teststore.Store) bool { return s.Can.Tags }, "object tags",
			rowsAre(map[string]int{"PUTTAGS": 1, "GETTAGS": 1, "DELETETAGS": 1})},
		{"snowball", with("snowball", "--objs.per=9"), []string{"PUT"}, func(s *teststore.Store) bool { return s.Can.Snowball }, "unpacking of uploaded TARs", unpacked(9)},
		{"snowball, large", with("snowball", "--objs.per=20", "--obj.size=1MiB"), []string{"PUT"}, func(s *teststore.Store) bool { return s.Can.Snowball },
			"unpacking of uploaded TARs", unpacked(20)},
		{"snowball compressed", with("snowball", "--objs.per=9", "--compress"), []string{"PUT"}, func(s *teststore.Store) bool { return s.Can.Snowball },
			"unpacking of uploaded TARs", unpacked(9)},
		{"zip", with("zip", "--files=300"), []string{"GET"}, func(s *teststore.Store) bool { return s.Can.Zip }, "files in a ZIP", readsArchive},
		{"zip, verified", with("zip", "--files=300", "--obj.size=1:1,200KiB:1", "--verify=content"), []string{"GET"}, func(s *teststore.Store) bool { return s.Can.Zip },
			"files in a ZIP", readsArchive},
		{"retention", with("retention", "--objects=10", "--versions=3"), []string{"PUT", "RETENTION"}, func(s *teststore.Store) bool { return s.Can.Lock }, "object lock",
			locksOnWire(30)},
		{"versioned", with("versioned", "--objects=10"), []string{"GET", "STAT", "PUT", "DELETE"},
			func(s *teststore.Store) bool { return s.Name == teststore.MinIO }, "versions", versionsOnWire(10)},
		{"versioned without deletions", with("versioned", "--objects=10", "--delete-distrib=0"), []string{"GET", "STAT", "PUT"},
			func(s *teststore.Store) bool { return s.Can.Versioning }, "versions", versionsOnWire(10)},
	}
}

// takesForms is what all stores do but the one of warp itself.
func takesForms(s *teststore.Store) bool { return s.Name != teststore.Embedded }

func everyStore(*teststore.Store) bool { return true }

func copies(s *teststore.Store) bool { return s.Name != teststore.Embedded }

// TestExtensions runs them against every store with both engines: they work, and a row is what the documentation
// says; or the store is refused with one line, and nothing is left behind.
func TestExtensions(t *testing.T) {
	t.Parallel()
	stores.Each(t, func(t *testing.T, s *teststore.Store) {
		t.Parallel()
		for _, x := range extensions() {
			for _, engine := range []string{"lean", "minio"} {
				t.Run(x.name+"/"+engine, func(t *testing.T) { x.run(t, s, "--engine="+engine) })
			}
		}
	})
}

func (x extension) run(t *testing.T, s *teststore.Store, engine string) {
	if x.name == "versioned" && s.Name == teststore.Versitygw {
		hidesVersions(t, s, append(x.args, engine))
		return
	}
	if !x.can(s) {
		b := newBed(t, s)
		o, _ := b.run(append(x.args[:len(x.args):len(x.args)], engine, "--duration=1s")...)
		if o.code != 1 {
			t.Errorf("exit %d, want 1: %s", o.code, o)
		}
		if exists, err := b.client.BucketExists(t.Context(), b.bucket); err == nil && !exists {
			t.Logf("refused: %s", o.says(t, x.word)) // it would not even make the bucket
			return
		}
		refused(t, b, o, x.word)
		return
	}
	j := job{args: append(x.args[:len(x.args):len(x.args)], engine), ops: x.ops}
	var b *bed
	var o outcome
	var log string
	for _, d := range durations {
		b = newBed(t, s)
		if o, log = b.run(append(j.args, d)...); o.code != 0 || j.enough(readLog(t, log), false) {
			break
		}
		b.clean(t)
	}
	o.want(t, 0).sameAsAnalyze(t, log, "--json")
	h := readLog(t, log)
	j.check(t, o, h)
	x.check(t, b, h)
	b.clean(t)
	t.Logf("works: %s", summary(h))
}

// forms wants a form with a length for each row, and as many before the run to try the store.
func forms(objects, tries int) func(*testing.T, *bed, history) {
	return func(t *testing.T, b *bed, h history) {
		sent := 0
		for _, s := range b.proxy.Requests(nil) {
			kind, _, _ := mime.ParseMediaType(s.Header.Get("Content-Type"))
			if s.Method != "POST" || kind != "multipart/form-data" {
				continue
			}
			sent++
			if s.Header.Get("Content-Length") == "" {
				t.Error("a form has no length")
			}
		}
		rows, requests := h.of("POST"), 0
		for _, r := range rows {
			requests += int(r.Requests)
			if r.Objects != objects || r.Bytes%int64(objects) != 0 || r.Bytes == 0 || r.FirstByte != 0 || r.LastByte == 0 {
				t.Fatalf("a row is %+v", r)
			}
		}
		if sent != requests+tries || requests != len(rows) {
			t.Errorf("%d forms sent, of which %d tried the store; %d rows with %d requests", sent, tries, len(rows), requests)
		}
	}
}
