package conformance

import (
	"mime"
	"testing"

	"warp/internal/teststore"
)

// A feature is a row of the matrix, or a variant of one. Some stores do not support it: they reject
// it, or pretend to do it.
type feature struct {
	name string
	args []string
	ops  []string // operations that its log must contain
	can  func(s *teststore.Store) bool
	word string // in the error
	// check compares the requests on the wire with the rows.
	check func(t *testing.T, b *bed, h history)
}

// features returns the rows of the matrix: every operation once, with small objects.
func features() []feature {
	pool := []string{"--obj.size=4KiB", "--objects=40", "--concurrent=4", "--json"}
	small := []string{"--obj.size=4KiB", "--concurrent=3", "--json"}
	withPool := func(args ...string) []string { return append(args, pool...) }
	with := func(args ...string) []string { return append(args, small...) }
	return []feature{
		{"get", withPool("get"), []string{"PUT", "GET"}, everyStore, "", agrees(nil)},
		{"put", with("put"), []string{"PUT"}, everyStore, "", agrees(nil)},
		{"put --post", with("put", "--post"), []string{"POST"}, func(s *teststore.Store) bool { return s.Name != teststore.OldS3Mock }, "uploads by a form", forms(1, 1)},
		{"delete", withPool("delete", "--batch=7"), []string{"PUT", "DELETE"}, everyStore, "", agrees(deletesAll)},
		{"list", withPool("list"), []string{"PUT", "LIST"}, everyStore, "", agrees(nil)},
		{"stat", withPool("stat"), []string{"PUT", "STAT"}, everyStore, "", agrees(nil)},
		{"mixed", withPool("mixed"), []string{"DELETE", "GET", "PUT", "STAT"}, everyStore, "", agrees(nil)},
		{"versioned", with("versioned", "--objects=10"), []string{"GET", "STAT", "PUT", "DELETE"},
			func(s *teststore.Store) bool { return s.Name != teststore.Versitygw && s.Can.Versioning }, "versions", versionsOnWire(10)},
		{"retention", with("retention", "--objects=10", "--versions=3"), []string{"PUT", "RETENTION"}, locks, "object lock", locksOnWire(30)},
		{"multipart", []string{"multipart", "--parts=3", "--concurrent=2", "--json"}, []string{"PUT", "GET"}, sendsParts, "single parts",
			rowsAre(map[string]int{"GET": 1})},
		{"multipart-put", []string{"multipart-put", "--parts=3", "--part.concurrent=2", "--concurrent=2", "--json"}, []string{"UPLOAD", "PUTPART"},
			everyStore, "", rowsAre(map[string]int{"UPLOAD": 2, "PUTPART": 1})},
		{"append", with("append"), []string{"APPEND"}, func(s *teststore.Store) bool { return s.Name == teststore.Embedded }, "appends",
			rowsAre(map[string]int{"APPEND": 1})},
		{"zip", with("zip", "--files=300"), []string{"GET"}, extracts, "files in a ZIP", readsArchive},
		{"snowball", with("snowball", "--objs.per=9"), []string{"PUT"}, unpacks, "unpacking of uploaded TARs", unpacked(9)},
		{"fanout", with("fanout", "--copies=7"), []string{"POST"}, func(s *teststore.Store) bool { return s.Can.Fanout }, "fan-out uploads", forms(7, 1)},
		{"copy", with("copy", "--objects=5"), []string{"COPY"}, everyStore, "copies", rowsAre(map[string]int{"COPY": 1})},
		{"tagging", with("tagging", "--objects=20"), []string{"PUTTAGS", "GETTAGS", "DELETETAGS"}, func(s *teststore.Store) bool { return s.Can.Tags }, "object tags",
			rowsAre(map[string]int{"PUTTAGS": 1, "GETTAGS": 1, "DELETETAGS": 1})},
	}
}

// variants returns other ways to run an operation that stores or engines may treat differently.
func variants() []feature {
	small := []string{"--obj.size=4KiB", "--concurrent=3", "--json"}
	with := func(args ...string) []string { return append(args, small...) }
	return []feature{
		{"put post, large", with("put", "--post", "--obj.size=20MiB"), []string{"POST"}, everyStore, "uploads by a form", forms(1, 1)},
		{"copy in parts", []string{"copy", "--objects=2", "--obj.size=11MiB", "--part.size=5MiB", "--concurrent=2", "--json"}, []string{"COPY", "COPYPART"}, everyStore, "copies",
			rowsAre(map[string]int{"COPY": 2, "COPYPART": 1})},
		{"snowball, large", with("snowball", "--objs.per=20", "--obj.size=1MiB"), []string{"PUT"}, unpacks, "unpacking of uploaded TARs", unpacked(20)},
		{"snowball compressed", with("snowball", "--objs.per=9", "--compress"), []string{"PUT"}, unpacks, "unpacking of uploaded TARs", unpacked(9)},
		{"zip, verified", with("zip", "--files=300", "--obj.size=1:1,200KiB:1", "--verify=content"), []string{"GET"}, extracts, "files in a ZIP", readsArchive},
		{"get in ranges", []string{"get", "--split.size=5MiB", "--split.concurrent=3", "--objects=3", "--obj.size=11MiB", "--concurrent=2", "--verify=content", "--json"},
			[]string{"DOWNLOAD", "GETPART"}, everyStore, "", rangesOnWire(3)},
		{"versioned without deletions", with("versioned", "--objects=10", "--delete-distrib=0"), []string{"GET", "STAT", "PUT"},
			func(s *teststore.Store) bool { return s.Can.Versioning }, "versions", versionsOnWire(10)},
	}
}

func everyStore(*teststore.Store) bool { return true }

func locks(s *teststore.Store) bool      { return s.Can.Lock }
func sendsParts(s *teststore.Store) bool { return s.Can.PartNumber }
func extracts(s *teststore.Store) bool   { return s.Can.Zip }
func unpacks(s *teststore.Store) bool    { return s.Can.Snowball }

// agrees checks that log and wire agree, and calls also.
func agrees(also func(*testing.T, history)) func(*testing.T, *bed, history) {
	return func(t *testing.T, b *bed, h history) {
		t.Helper()
		agree(t, b.proxy, h)
		if also != nil {
			also(t, h)
		}
	}
}

// engineNames returns all values of --engine except auto.
func engineNames() []string { return []string{"lean", "minio"} }

// TestMatrix runs every operation against every store with every engine. Either it works, and a row
// is as documented, or it is rejected with one line, and nothing is left behind.
// docs/compatibility.md says which; run with -update after a change.
func TestMatrix(t *testing.T) {
	t.Parallel()
	m := matrix{cells: map[cell]string{}}
	t.Run("on", func(t *testing.T) {
		for _, own := range ownAPIs() {
			t.Run(own.store, func(t *testing.T) {
				t.Parallel()
				if own.bed == nil {
					stores.Shared(t, own.store) // it skips all rows if there is none
				}
				for _, f := range features() {
					t.Run(f.name, func(t *testing.T) {
						became := f.onOwnAPI(t, own)
						for _, engine := range engineNames() { // they are only for S3
							m.note(t, cell{f.name, own.store, engine}, became)
						}
					})
				}
			})
		}
		t.Run(expressName, func(t *testing.T) {
			t.Parallel()
			for _, f := range features() {
				for _, engine := range engineNames() {
					t.Run(f.name+"/"+engine, func(t *testing.T) { m.note(t, cell{f.name, expressName, engine}, f.onExpress(t, engine)) })
				}
			}
		})
		stores.Each(t, func(t *testing.T, s *teststore.Store) {
			t.Parallel()
			for _, f := range features() {
				for _, engine := range engineNames() {
					t.Run(f.name+"/"+engine, func(t *testing.T) { m.note(t, cell{f.name, s.Name, engine}, f.run(t, s, engine)) })
				}
			}
		})
	})
	m.documented(t)
}

func TestVariants(t *testing.T) {
	t.Parallel()
	stores.Each(t, func(t *testing.T, s *teststore.Store) {
		t.Parallel()
		for _, f := range variants() {
			for _, engine := range engineNames() {
				t.Run(f.name+"/"+engine, func(t *testing.T) { f.run(t, s, engine) })
			}
		}
	})
}

// run returns the result in the words of the matrix.
func (f feature) run(t *testing.T, s *teststore.Store, engine string) string {
	args := append(f.args[:len(f.args):len(f.args)], "--engine="+engine)
	if f.name == "versioned" && s.Name == teststore.Versitygw {
		hidesVersions(t, s, args)
		return inPart
	}
	if !f.can(s) {
		return f.refused(t, newBed(t, s), args)
	}
	return f.proven(t, args, func() *bed { return newBed(t, s) })
}

// proven runs a row that works, each time in a separate bed, until its log has enough rows.
func (f feature) proven(t *testing.T, args []string, newBed func() *bed) string {
	j := job{args: args, ops: f.ops}
	var b *bed
	var o outcome
	var log string
	for _, d := range durations {
		if f.name == "delete" {
			d = "--duration=2m" // it ends when nothing is left
		}
		b = newBed()
		if o, log = b.run(append(j.args, d)...); o.code != 0 || j.enough(readLog(t, log), false) {
			break
		}
		b.clean(t)
	}
	o.want(t, 0).sameAsAnalyze(t, log, "--json")
	h := readLog(t, log)
	j.check(t, o, h)
	f.check(t, b, h)
	b.clean(t)
	t.Logf("works: %s", summary(h))
	return works
}

func (f feature) refused(t *testing.T, b *bed, args []string) string {
	t.Helper()
	o, _ := b.run(append(args, "--duration=1s")...)
	if o.code != 1 {
		t.Errorf("exit %d, want 1: %s", o.code, o)
	}
	line := o.says(t, f.word)
	if exists, err := b.client.BucketExists(t.Context(), b.bucket); err != nil || exists { // the run may not even have made the bucket
		b.clean(t)
	}
	t.Logf("refused: %s", line)
	return b.anonymous(line)
}

// forms expects one form with a length for each row, and as many before the run to try the store.
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
