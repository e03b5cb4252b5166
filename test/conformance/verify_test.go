package conformance

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/generator"
	"warp/pkg/oplog"
)

// verified runs a verification test with both engines and the named stores.
func verified(t *testing.T, names []string, do func(t *testing.T, s *teststore.Store, engine string)) {
	for _, name := range names {
		for _, engine := range []string{"lean", "minio"} {
			t.Run(name+" "+engine, func(t *testing.T) {
				t.Parallel()
				do(t, stores.Shared(t, name), engine)
			})
		}
	}
}

var wrongByte = regexp.MustCompile(`^WrongContent: the byte at offset (\d+) of (\S+) is 0x[0-9a-f]{2} instead of 0x[0-9a-f]{2}$`)

// TestVerifyContent checks that one flipped bit among many downloads is found and reported with key
// and offset, and nothing else is, for different sizes, parts and payloads.
func TestVerifyContent(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "payload")
	check.OK(t, os.WriteFile(file, bytes.Repeat([]byte("what is in a file\n"), 5000), 0o600))
	for _, c := range []struct {
		name   string
		args   []string
		flipAt int64 // offset in the answer's body
		offset int64 // offset in the object; -1 = differs between requests
	}{
		{"whole", []string{"get", "--obj.size=300KiB"}, 262_144, 262_144},
		{"small", []string{"get", "--obj.size=1KiB"}, 1023, 1023},
		{"range", []string{"get", "--obj.size=300KiB", "--range", "--range-size=70KiB"}, 70_000, -1},
		{"fixed part", []string{"get", "--obj.size=300KiB", "--read-offset=5000", "--read-length=100KiB"}, 99_999, 104_999},
		{"tar", []string{"get", "--obj.size=300KiB", "--reader=tar"}, 150_000, 150_000},
		{"file", []string{"get", "--obj.size=300KiB", "--reader=file:" + file}, 150_000, 150_000},
		{"shaped", []string{"get", "--obj.size=300KiB", "--obj.compressible=50", "--obj.dedup=30"}, 8191, 8191},
		{"mixed", []string{"mixed", "--obj.size=200KiB"}, 8192, 8192},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			names := []string{teststore.Embedded}
			if c.name == "whole" || c.name == "mixed" {
				names = append(names, teststore.MinIO) // which is slow
			}
			verified(t, names, func(t *testing.T, s *teststore.Store, engine string) {
				b := newBed(t, s, &teststore.Fault{Match: onPool("GET"), Every: 50, Flip: true, FlipAt: c.flipAt})
				args := append(c.args, "--objects=20", "--concurrent=4", "--verify=content", "--engine="+engine)
				o, h := b.until(t, args, 60)
				if o.want(t, 3); !strings.Contains(o.out, "--verify=content") {
					t.Errorf("the report does not say what was verified: %s", o.out)
				}
				hits := 0
				for _, r := range h.of("GET") {
					if r.Err == "" {
						continue
					}
					hits++
					m := wrongByte.FindStringSubmatch(r.Err)
					if m == nil || m[2] != r.Key || c.offset >= 0 && m[1] != fmt.Sprint(c.offset) {
						t.Fatalf("%s fails with %q", r.Key, r.Err)
					}
				}
				if want := b.hitsWithin(h, "GET"); hits != want || errorsIn(h.rows) != hits {
					t.Errorf("%d downloads fail of %d rows with errors, but %d had a flipped bit", hits, errorsIn(h.rows), want)
				}
				b.clean(t)
			})
		})
	}
}

// until runs with growing durations until there are enough downloads.
func (b *bed) until(t *testing.T, args []string, downloads int) (outcome, history) {
	t.Helper()
	o, log := b.runUntil(t, args, func(h history) bool { return len(h.of("GET")) >= downloads })
	return o, readLog(t, log)
}

// TestVerifyFindsNothing checks that no kind of verification reports errors of a correct store,
// even during uploads and deletions.
func TestVerifyFindsNothing(t *testing.T) {
	t.Parallel()
	verified(t, []string{teststore.Embedded, teststore.MinIO}, func(t *testing.T, s *teststore.Store, engine string) {
		for _, how := range []string{"etag", "content", "none"} {
			b := newBed(t, s)
			o, _ := b.run("mixed", "--objects=30", "--obj.size=0-100KiB", "--concurrent=8", "--duration=500ms", "--get-distrib=40",
				"--put-distrib=30", "--delete-distrib=30", "--verify="+how, "--engine="+engine)
			o.want(t, 0)
			if said := strings.Contains(o.out, "--verify="+how); said != (how != "etag") {
				t.Errorf("--verify=%s: the report says so: %v", how, said)
			}
			b.clean(t)
		}
	})
}

// TestVerifyKeepsOtherErrors checks that a wrong length is reported as such, not as a wrong byte.
// Only --verify=none accepts a wrong ETag or length.
func TestVerifyKeepsOtherErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, code string
		fault      teststore.Fault
		none       bool // an error even with --verify=none
	}{
		{"short", "ShortRead", teststore.Fault{Truncate: 100}, true},
		{"long", "WrongLength", teststore.Fault{ExtraLength: 100}, false},
		{"etag", "WrongETag", teststore.Fault{ETag: `"00000000000000000000000000000000"`}, false},
		{"corrupt", "WrongContent", teststore.Fault{Corrupt: true, ETag: `"00000000000000000000000000000000"`}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, how := range []string{"content", "none"} {
				for _, engine := range []string{"lean", "minio"} {
					f := c.fault
					f.Match = onPool("GET")
					f.Every = 5
					b := newBed(t, stores.Shared(t, teststore.Embedded), &f)
					o, h := b.until(t, []string{"get", "--objects=10", "--obj.size=40KiB", "--concurrent=2", "--verify=" + how, "--engine=" + engine}, 10)
					if how == "none" && !c.none {
						o.want(t, 0)
						continue
					}
					o.want(t, 3)
					for _, r := range h.of("GET") {
						if r.Err != "" && r.Code() != c.code {
							t.Fatalf("--verify=%s: %q instead of %s", how, r.Err, c.code)
						}
					}
				}
			}
		})
	}
}

// TestVerifyEarlierRun checks that the objects of an earlier run are verified by its seed, and that
// foreign objects are rejected.
func TestVerifyEarlierRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, flags string }{
		{"plain", ""}, {"prefix", "--prefix=a/b"}, {"noprefix", "--noprefix"}, {"tar", "--reader=tar"}, {"shaped", "--obj.dedup=40"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, stores.Shared(t, teststore.Embedded))
			upload := []string{"put", "--obj.size=3KiB-90KiB", "--concurrent=3", "--duration=200ms", "--seed=4711", "--keep-data"}
			existing := []string{"get", "--list-existing", "--objects=0", "--concurrent=3", "--duration=200ms", "--verify=content"}
			if c.flags != "" {
				upload = append(upload, c.flags)
				if !strings.Contains(c.flags, "prefix") { // all prefixes of the bucket
					existing = append(existing, c.flags)
				}
			}
			o, _ := b.run(upload...)
			o.want(t, 0)
			o, _ = b.run(append(existing, "--seed=4711")...)
			o.want(t, 0)
			o, _ = b.run(append(existing, "--seed=4711", "--range")...)
			o.want(t, 0)
			o, _ = b.run(append(existing, "--seed=4712")...)
			o.want(t, 1).says(t, "was not uploaded with --seed=4712", "--prefix")
			o, _ = b.run(existing...)
			o.want(t, 2).says(t, "add --seed=N")
			b.put(t, "foreign.bin", "somebody else's", minio.PutObjectOptions{})
			o, _ = b.run(append(existing, "--seed=4711")...)
			o.want(t, 1).says(t, "foreign.bin was not uploaded with --seed=4711")
		})
	}
}

func (b *bed) put(t *testing.T, key, body string, opts minio.PutObjectOptions) {
	t.Helper()
	client := b.client
	if opts.Checksum.IsSet() {
		var err error
		client, err = minio.New(b.store.Endpoint, &minio.Options{
			Creds: credentials.NewStaticV4(b.store.AccessKey, b.store.SecretKey, ""), Region: b.store.Region, TrailingHeaders: true,
		})
		check.OK(t, err)
	}
	_, err := client.PutObject(t.Context(), b.bucket, key, strings.NewReader(body), int64(len(body)), opts)
	check.OK(t, err)
}

// TestVerifyChecksum checks that warp computes every type of checksum that a store keeps of a whole
// object, and detects a flipped bit.
func TestVerifyChecksum(t *testing.T) {
	t.Parallel()
	for _, name := range []string{teststore.MinIO, teststore.Versitygw} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verifiesChecksums(t, stores.Shared(t, name))
		})
	}
}

func verifiesChecksums(t *testing.T, s *teststore.Store) {
	body := strings.Repeat("what is in an object\n", 20_000)
	for _, kind := range []minio.ChecksumType{minio.ChecksumCRC32, minio.ChecksumCRC32C, minio.ChecksumCRC64NVME, minio.ChecksumSHA1, minio.ChecksumSHA256} {
		for _, engine := range []string{"lean", "minio"} {
			t.Run(kind.String()+" "+engine, func(t *testing.T) {
				t.Parallel()
				b := newBed(t, s, &teststore.Fault{Match: onPool("GET"), Every: 20, Flip: true, FlipAt: 222_222})
				check.OK(t, b.client.MakeBucket(t.Context(), b.bucket, minio.MakeBucketOptions{}))
				for i := range 5 {
					b.putChecked(t, fmt.Sprintf("object%d", i), body, kind)
				}
				o, h := b.until(t, []string{"get", "--list-existing", "--concurrent=3", "--verify=checksum", "--engine=" + engine}, 30)
				if o.want(t, 3); !strings.Contains(o.out, "--verify=checksum") {
					t.Errorf("the report does not say what was verified: %s", o.out)
				}
				failed := 0
				for _, r := range h.of("GET") {
					if r.Err == "" {
						continue
					}
					failed++
					if r.Code() != "WrongChecksum" || !strings.Contains(r.Err, kind.String()) || !strings.Contains(r.Err, r.Key) {
						t.Fatalf("%s fails with %q", r.Key, r.Err)
					}
				}
				if want := b.hitsWithin(h, "GET"); failed != want || failed == 0 {
					t.Errorf("%d downloads fail, %d had a flipped bit", failed, want)
				}
			})
		}
	}
}

// putChecked uploads with a checksum in a header. minio-go sends it after the payload, which not
// all stores support.
func (b *bed) putChecked(t *testing.T, key, body string, kind minio.ChecksumType) {
	t.Helper()
	header := http.Header{kind.KeyCapitalized(): {kind.EncodeToString([]byte(body))}}
	u, err := b.client.PresignHeader(t.Context(), http.MethodPut, b.bucket, key, time.Minute, nil, header)
	check.OK(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, u.String(), strings.NewReader(body))
	check.OK(t, err)
	req.Header = header
	resp, err := http.DefaultClient.Do(req)
	check.OK(t, err)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("upload of %s: %s", key, resp.Status)
	}
}

// TestVerifyNoChecksum checks that a run whose objects have no checksum of the whole object ends
// before it begins. A single such object is an error of its own.
func TestVerifyNoChecksum(t *testing.T) {
	t.Parallel()
	s := stores.Shared(t, teststore.MinIO)
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"none":      {[]string{"get", "--obj.size=10KiB", "--objects=20"}, "the store keeps no checksum"},
		"composite": {[]string{"get", "--list-existing"}, "of the parts' checksums only"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, s)
			if name == "composite" {
				check.OK(t, b.client.MakeBucket(t.Context(), b.bucket, minio.MakeBucketOptions{}))
				b.put(t, "parts", strings.Repeat("0123456789abcdef", 400_000), minio.PutObjectOptions{Checksum: minio.ChecksumCRC32C, PartSize: 5 << 20})
			}
			o, log := b.run(append(c.args, "--verify=checksum", "--duration=300ms", "--concurrent=2")...)
			o.want(t, 1).says(t, c.says, "NoChecksum", "upload with --checksum")
			if strings.Contains(o.out+o.err, "was computed") {
				t.Error("it says that checksums were computed")
			}
			if _, err := os.Stat(log); err == nil && len(readLog(t, log).of("GET")) > 0 {
				t.Error("downloads were measured")
			}
		})
	}
	t.Run("one of several", func(t *testing.T) {
		t.Parallel()
		b := newBed(t, s)
		check.OK(t, b.client.MakeBucket(t.Context(), b.bucket, minio.MakeBucketOptions{}))
		b.put(t, "a", "first", minio.PutObjectOptions{Checksum: minio.ChecksumCRC32C})
		b.put(t, "b", "second", minio.PutObjectOptions{DisableContentSha256: true})
		o, h := b.until(t, []string{"get", "--list-existing", "--concurrent=2", "--verify=checksum"}, 10)
		o.want(t, 3)
		for _, r := range h.of("GET") {
			if code := r.Code(); (code == "NoChecksum") != (r.Key == "b") {
				t.Fatalf("%s has %q", r.Key, r.Err)
			}
		}
	})
}

// TestReadPart checks that the same part of every object is requested, and only existing ones.
func TestReadPart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags  []string
		header string
		bytes  int64
	}{
		{[]string{"--read-offset=1000", "--read-length=2KiB"}, "bytes=1000-3047", 2048},
		{[]string{"--read-offset=1000"}, "bytes=1000-9999", 9000},
		{[]string{"--read-length=1"}, "bytes=0-0", 1},
		{[]string{"--read-offset=9999", "--read-length=1MiB"}, "bytes=9999-9999", 1},
	} {
		t.Run(strings.Join(c.flags, " "), func(t *testing.T) {
			t.Parallel()
			b := newBed(t, stores.Shared(t, teststore.Embedded))
			o, h := b.until(t, append([]string{"get", "--obj.size=10000", "--objects=5", "--concurrent=2"}, c.flags...), 5)
			o.want(t, 0)
			for _, r := range h.of("GET") {
				if r.Bytes != c.bytes || r.Status != 206 {
					t.Fatalf("a row has %d bytes and status %d", r.Bytes, r.Status)
				}
			}
			for _, s := range b.proxy.Requests(func(s *teststore.Seen) bool { op, _ := measuredOp(s); return op == "GET" }) {
				if got := s.Header.Get("Range"); got != c.header {
					t.Fatalf("it asks for %q, want %q", got, c.header)
				}
			}
			b.clean(t)
		})
	}
}

// TestPayloadIsWhatItShouldBe checks that objects in the store have the generator's content for
// their name, size and seed.
func TestPayloadIsWhatItShouldBe(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "payload")
	check.OK(t, os.WriteFile(file, []byte("short"), 0o600))
	for reader, o := range map[string]generator.PayloadOptions{
		"rand": {Seed: 5}, "tar": {Seed: 5, Tar: true}, "file:" + file: {Seed: 5, File: []byte("short")},
	} {
		for _, engine := range []string{"lean", "minio"} {
			t.Run(filepath.Base(reader)+" "+engine, func(t *testing.T) {
				t.Parallel()
				b := newBed(t, stores.Shared(t, teststore.Embedded))
				out, log := b.run("put", "--min-size=2KiB", "--max-size=200KiB", "--concurrent=2", "--duration=100ms", "--seed=5", "--keep-data",
					"--reader="+reader, "--engine="+engine)
				out.want(t, 0)
				payload, err := generator.NewPayload(o)
				check.OK(t, err)
				rows := readLog(t, log).of("PUT")
				for _, r := range rows[:min(len(rows), 10)] {
					b.holds(t, r, payload)
				}
			})
		}
	}
}

func (b *bed) holds(t *testing.T, r oplog.Record, payload *generator.Payload) {
	t.Helper()
	obj, err := b.client.GetObject(t.Context(), b.bucket, r.Key, minio.GetObjectOptions{})
	check.OK(t, err)
	defer obj.Close()
	var got bytes.Buffer
	if _, err := got.ReadFrom(obj); err != nil {
		t.Fatal(err)
	}
	want := make([]byte, r.Bytes)
	payload.ObjectAt(generator.PayloadID(r.Key), r.Bytes, 0, want)
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s of %d bytes is something else", r.Key, r.Bytes)
	}
}
