package ops_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/bench"
	"warp/pkg/bench/ops"
	"warp/pkg/generator"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// What uploads carry is understood by real stores, whichever engine sends it,
// and what one engine has uploaded the other reads.
func TestEnginesSendOptionsToRealStores(t *testing.T) {
	stores.Each(t, func(t *testing.T, target *teststore.Store) { uploadWithOptions(t, target) })
	t.Run("minio TLS", func(t *testing.T) {
		uploadWithOptions(t, teststore.Start(t, teststore.MinIO, teststore.Options{TLS: true}))
	})
}

func uploadWithOptions(t *testing.T, target *teststore.Store) {
	options := map[string]store.Options{
		"MD5": {MD5: true},
		"attributes": {
			Metadata: []store.Attribute{{Key: "one", Value: "a  b"}, {Key: "Two.x", Random: 20}},
			Tags:     []store.Attribute{{Key: "a b", Value: "c=d/+"}, {Key: "e", Random: 10}},
		},
		"one connection each": {NoKeepAlive: true},
		"buffers, timeout":    {SendBuffer: 64 << 10, ReceiveBuffer: 64 << 10, Timeout: 20 * time.Second},
	}
	for _, sum := range []store.Checksum{store.ChecksumCRC32, store.ChecksumCRC32C, store.ChecksumSHA1, store.ChecksumSHA256, store.ChecksumCRC64NVME} {
		options[string(sum)] = store.Options{Checksum: sum}
	}
	if target.Name == teststore.MinIO {
		options["class"] = store.Options{StorageClass: "REDUCED_REDUNDANCY"}
	}
	if target.Name == teststore.MinIO && target.CAFile != "" {
		options["SSE-C"] = store.Options{Encryption: store.Encryption{Kind: store.SSEC, Key: [32]byte{1, 2, 3}}}
	}
	if target.Name == teststore.Embedded {
		delete(options, "attributes") // it has no tags
	}
	for name, o := range options {
		for _, unsigned := range []bool{false, true} {
			if unsigned && o.Checksum == store.NoChecksum {
				continue // nothing that the other does not have
			}
			t.Run(fmt.Sprintf("%s unsigned %t", name, unsigned), func(t *testing.T) {
				if why := storeRefuses(target, o.Checksum, unsigned); why != "" {
					t.Skip(why)
				}
				writers := []string{"lean", "minio"}
				if o.Checksum != store.NoChecksum && !unsigned && target.Name == teststore.Versitygw {
					writers = writers[:1] // minio-go ends the line of a signed trailer in a way that not all stores take
				}
				uploadBothWays(t, target, o, unsigned, writers)
			})
		}
	}
}

// storeRefuses says which checksums a store does not take.
func storeRefuses(target *teststore.Store, sum store.Checksum, unsigned bool) string {
	switch {
	case sum == store.ChecksumCRC64NVME && target.Name == teststore.Embedded:
		return "the store does not know it"
	case sum == store.ChecksumCRC64NVME && target.Name == teststore.Garage:
		return "the store keeps none, and does not complete uploads with one"
	case sum != store.NoChecksum && !unsigned && target.Name == teststore.Garage:
		return "the store wants another signature of the trailer"
	}
	return ""
}

func uploadBothWays(t *testing.T, target *teststore.Store, o store.Options, unsigned bool, writers []string) {
	ctx := context.Background()
	clients := map[string]*store.Client{}
	for _, engine := range []string{"lean", "minio"} {
		c, err := engines.New(store.Config{
			Hosts: []store.Address{{Name: target.Endpoint}}, Region: target.Region, Engine: engine, Options: o, UnsignedPayload: unsigned,
			TLS: target.CAFile != "", CAFile: target.CAFile, Concurrency: 2,
			Credentials: store.Keys{AccessKey: target.AccessKey, SecretKey: target.SecretKey},
		})
		check.OK(t, err)
		clients[engine] = c
	}
	const bucket = "engines-options"
	if exists, err := clients["lean"].BucketExists(ctx, bucket); err != nil {
		t.Fatal(err)
	} else if !exists {
		check.OK(t, clients["lean"].MakeBucket(ctx, bucket, false))
	}
	payload, err := generator.NewPayload(generator.PayloadOptions{Seed: 1})
	check.OK(t, err)
	body := payload.NewReader()
	for _, writer := range writers {
		for _, size := range []int64{0, 1000, 200_000} {
			if size == 0 && target.Name == teststore.Garage {
				continue // it stores none
			}
			ref := store.Ref{Bucket: bucket, Key: fmt.Sprintf("%s/a b+%d", writer, size)}
			body.Reset(generator.PayloadID(ref.Key), size)
			put := store.Put{Ref: ref, Body: body, Size: size, ContentType: "text/x-test"}
			w := clients[writer].Acquire()
			if _, err := w.Put(ctx, put, store.NewTrace(time.Now())); err != nil {
				t.Errorf("%s uploads %d bytes: %v", writer, size, err)
				continue
			}
			want := o.Checksum
			if target.Name == teststore.Embedded {
				want = store.NoChecksum // it checks them, and keeps none
			}
			for reader := range clients {
				readBack(t, clients[reader].Acquire(), ref, size, want)
			}
			if err := w.Delete(ctx, []store.Ref{ref}, store.NewTrace(time.Now())); err != nil {
				t.Errorf("%s deletes: %v", writer, err)
			}
		}
		uploadParts(t, clients[writer].Acquire(), store.Ref{Bucket: bucket, Key: writer + "/parts"}, body)
	}
}

func readBack(t *testing.T, h *store.Host, ref store.Ref, size int64, want store.Checksum) {
	t.Helper()
	var kept store.StoredChecksum
	get := store.Get{Ref: ref, Checksum: func(c store.StoredChecksum) { kept = c }}
	sum := &matching{}
	get.Into = sum
	d, err := h.Get(context.Background(), get, store.NewTrace(time.Now()))
	if err != nil || d.Bytes != size || sum.n != size {
		t.Errorf("%s: %d bytes, %v", ref.Key, d.Bytes, err)
	}
	if want != store.NoChecksum && kept.Algorithm != string(want) {
		t.Errorf("%s: the store keeps the checksum %+v, want %s", ref.Key, kept, want)
	}
	if o, err := h.Stat(context.Background(), ref, store.NewTrace(time.Now())); err != nil || o.Size != size {
		t.Errorf("%s: %+v, %v", ref.Key, o, err)
	}
}

type matching struct{ n int64 }

func (m *matching) Write(b []byte) (int, error) { m.n += int64(len(b)); return len(b), nil }

// uploadParts uploads two parts, reads the second one of them, and lists.
func uploadParts(t *testing.T, h *store.Host, ref store.Ref, body *generator.Reader) {
	t.Helper()
	ctx, tr := context.Background(), store.NewTrace(time.Now())
	u, err := h.StartUpload(ctx, store.Put{Ref: ref}, tr)
	if err != nil {
		t.Error(err)
		return
	}
	var parts []store.Part
	for i, size := range []int64{5 << 20, 70_000} {
		body.Reset(generator.PayloadID(ref.Key), size)
		p, err := h.PutPart(ctx, store.PutPart{Upload: u, Number: i + 1, Body: body, Size: size}, tr)
		if err != nil {
			t.Errorf("part %d: %v", i+1, err)
			return
		}
		if tr.LastByte() == 0 || tr.Status() != 200 {
			t.Errorf("part %d: %+v", i+1, tr)
		}
		parts = append(parts, p)
	}
	if _, err := h.CompleteUpload(ctx, u, parts, tr); err != nil {
		t.Error(err)
		return
	}
	d, err := h.Get(ctx, store.Get{Ref: ref, Into: io.Discard}, tr)
	if err != nil || d.Bytes != 5<<20+70_000 {
		t.Errorf("%d bytes, %v", d.Bytes, err)
	}
	found := 0
	err = h.List(ctx, store.List{Bucket: ref.Bucket, Prefix: ref.Key}, func(o store.Object) bool {
		if o.Key == ref.Key && o.Size == d.Bytes {
			found++
		}
		return true
	}, tr)
	if err != nil || found != 1 {
		t.Errorf("listed %d times, %v", found, err)
	}
	if err := h.Delete(ctx, []store.Ref{ref}, tr); err != nil {
		t.Error(err)
	}
}

// What a form carries arrives: a store shows it afterwards.
func TestFormsCarryOptions(t *testing.T) {
	t.Parallel()
	target := teststore.Start(t, teststore.MinIO, teststore.Options{})
	keys := store.Keys{AccessKey: target.AccessKey, SecretKey: target.SecretKey}
	c, err := engines.New(store.Config{
		Hosts: []store.Address{{Name: target.Endpoint}}, Region: target.Region, Credentials: keys,
		Options: store.Options{
			Encryption: store.Encryption{Kind: store.SSES3}, StorageClass: "REDUCED_REDUNDANCY",
			Metadata: []store.Attribute{{Key: "Two.x", Value: `a"\<b`}, {Key: "n", Random: 20}},
			Tags:     []store.Attribute{{Key: "a b", Value: "c=d/+"}, {Key: "e", Random: 10}},
		},
	})
	check.OK(t, err)
	const bucket = "forms"
	check.OK(t, c.MakeBucket(t.Context(), bucket, false))
	payload, err := generator.NewPayload(generator.PayloadOptions{Seed: 1})
	check.OK(t, err)
	body, h := payload.NewReader(), c.Acquire()
	body.Reset(1, 1000)
	if _, err := h.Post(t.Context(), store.Put{Ref: store.Ref{Bucket: bucket, Key: "post"}, Body: body, Size: 1000}, store.NewTrace(time.Now())); err != nil {
		t.Fatal(err)
	}
	body.Reset(1, 1000)
	if _, err := h.FanOut(t.Context(), store.FanOut{Bucket: bucket, Keys: []string{"one", "two"}, Body: body, Size: 1000}, store.NewTrace(time.Now())); err != nil {
		t.Fatal(err)
	}
	plain, err := minio.New(target.Endpoint, &minio.Options{Creds: credentials.NewStaticV4(target.AccessKey, target.SecretKey, "")})
	check.OK(t, err)
	seen := map[string]bool{}
	for _, key := range []string{"post", "one", "two"} {
		o, err := plain.StatObject(t.Context(), bucket, key, minio.StatObjectOptions{})
		check.OK(t, err)
		random := o.Metadata.Get("X-Amz-Meta-N")
		if len(random) != 20 || seen[random] {
			t.Errorf("%s: random metadata is %q", key, random)
		}
		seen[random] = true
		if o.Metadata.Get("X-Amz-Meta-Two.x") != `a"\<b` || o.Metadata.Get("X-Amz-Server-Side-Encryption") != "AES256" {
			t.Errorf("%s has %v", key, o.Metadata)
		}
		if class := o.Metadata.Get("X-Amz-Storage-Class"); key == "post" && class != "REDUCED_REDUNDANCY" {
			t.Errorf("%s is of class %q", key, class)
		}
		tags, err := plain.GetObjectTagging(t.Context(), bucket, key, minio.GetObjectTaggingOptions{})
		if err != nil || tags.ToMap()["a b"] != "c=d/+" || len(tags.ToMap()["e"]) != 10 {
			t.Errorf("%s has the tags %v, %v", key, tags, err)
		}
	}
}

// What a store does not do ends the run before any request of it is made.
func TestRefusedOptionsEndTheRun(t *testing.T) {
	t.Parallel()
	target := teststore.Start(t, teststore.MinIO, teststore.Options{})
	for says, o := range map[string]store.Options{
		"key nope): kms:KeyNotFound":         {Encryption: store.Encryption{Kind: store.SSEKMS, KeyID: "nope"}},
		"class GLACIER: InvalidStorageClass": {StorageClass: "GLACIER"},
		"checksum XXH64: InvalidArgument":    {Checksum: store.ChecksumXXH64},
		"metadata, tags: ":                   {}, // nothing is asked, and nothing refused
	} {
		for _, op := range []bench.Op{&ops.Put{Sizes: sizes(t, "1KiB")}, &ops.MultipartPut{Parts: 1, PartSize: 1000, AtOnce: 1}} {
			client, err := engines.New(store.Config{Hosts: []store.Address{{Name: target.Endpoint}}, Region: target.Region, Options: o,
				Credentials: store.Keys{AccessKey: target.AccessKey, SecretKey: target.SecretKey}})
			check.OK(t, err)
			r := &bench.Runner{Client: client, Op: op, Options: bench.Options{
				Benchmark: "put", RunID: "run" + says[:8], ClientID: "client", Seed: 1, Bucket: "refused", Concurrency: 1,
				Duration: 500 * time.Millisecond, Drain: 10 * time.Second, Lease: time.Minute, Payload: generator.PayloadOptions{Seed: 1},
			}}
			check.OK(t, r.Open(t.Context()))
			out := r.Run(t.Context())
			if err := r.Cleanup(t.Context()); err != nil {
				t.Error(err)
			}
			asked := o.Encryption.Kind != "" || o.StorageClass != "" || o.Checksum != ""
			switch {
			case !asked && (out.Fatal != nil || out.Sent == 0):
				t.Errorf("%T: %v, %d requests", op, out.Fatal, out.Sent)
			case asked && (out.Fatal == nil || out.Sent > 0 || !strings.Contains(out.Fatal.Error(), says)):
				t.Errorf("%T: %v after %d requests, want %s", op, out.Fatal, out.Sent, says)
			}
		}
	}
}

// Signatures of version 2 are taken by a store that still knows them.
func TestSignatureV2(t *testing.T) {
	t.Parallel()
	target := teststore.Start(t, teststore.MinIO, teststore.Options{})
	c, err := engines.New(store.Config{Hosts: []store.Address{{Name: target.Endpoint}}, Region: target.Region,
		Credentials: store.Keys{AccessKey: target.AccessKey, SecretKey: target.SecretKey, Signature: "S3V2"}})
	check.OK(t, err)
	check.OK(t, c.MakeBucket(t.Context(), "signed-v2", false))
	payload, err := generator.NewPayload(generator.PayloadOptions{Seed: 1})
	check.OK(t, err)
	body, h, ref := payload.NewReader(), c.Acquire(), store.Ref{Bucket: "signed-v2", Key: "a b+c"}
	body.Reset(1, 1000)
	if _, err := h.Put(t.Context(), store.Put{Ref: ref, Body: body, Size: 1000}, store.NewTrace(time.Now())); err != nil {
		t.Fatal(err)
	}
	readBack(t, h, ref, 1000, store.NoChecksum)
	uploadParts(t, h, store.Ref{Bucket: "signed-v2", Key: "parts"}, body)
}
