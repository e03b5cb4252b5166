package safety

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/generator"
)

// uploadsOf returns the names of the incomplete uploads in parts.
func (b *bucket) uploadsOf(key string) (ids []string) {
	b.t.Helper()
	page, err := b.core.ListMultipartUploads(b.t.Context(), b.name, key, "", "", "", 0)
	b.must(err)
	for _, u := range page.Uploads {
		if u.Key == key {
			ids = append(ids, u.UploadID)
		}
	}
	return ids
}

// warp does not abort a foreign upload in parts that a well-formed forged marker names.
func TestForgedMarkerAbortsNoUpload(t *testing.T) {
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b := made(t, s, false)
		b.unfinished("video.mp4")
		theirs := b.uploadsOf("video.mp4")
		b.put(".warp/Forged99.json", fmt.Sprintf(`{"run":"Forged99","prefix":%q,"seed":"99","lease_s":0.5,"claimed":true,"fixed":{"key":"video.mp4","upload":%q}}`,
			generator.RunPrefix(99), theirs[0]))
		time.Sleep(expiry)
		b.warp("clean").want(0).warns("video.mp4", "stays")
		if now := b.uploadsOf("video.mp4"); !slices.Equal(now, theirs) {
			t.Errorf("uploads were %q, are %q", theirs, now)
		}
	})
}

// Nobody may end a foreign upload in progress under the object's name. Some stores do so when the
// object is written or removed.
func TestUploadInProgressIsLeftAlone(t *testing.T) {
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b := made(t, s, false)
		small := []string{"multipart", "--parts=2", "--part.size=5MiB", "--duration=1s", "--concurrent=1", "--lease=10s"}
		b.unfinished("video.mp4")
		theirs := b.uploadsOf("video.mp4")
		b.warp(append(small, "--obj.name=video.mp4")...).want(1).says("a multipart upload of video.mp4", "--obj.name")
		b.unfinished("warp-multipart.bin")
		b.warp(small...).want(0).warns("somebody uploads warp-multipart.bin", "the object of this run is warp-multipart.bin.")
		// Started while the run lasts.
		p := b.warp("multipart", "--parts=2", "--part.size=5MiB", "--duration=6s", "--concurrent=1", "--lease=10s", "--obj.name=later.bin")
		await(t, check.Limit, func() bool {
			_, err := b.core.StatObject(t.Context(), b.name, "later.bin", minio.StatObjectOptions{})
			return err == nil
		}, "the object")
		b.unfinished("later.bin")
		p.want(1).says("clean up: ", "a multipart upload of later.bin")
		if now := b.uploadsOf("video.mp4"); !slices.Equal(now, theirs) || len(b.uploadsOf("later.bin")) != 1 || len(b.uploadsOf("warp-multipart.bin")) != 1 {
			t.Errorf("uploads were %q, are %q, %q and %q", theirs, now, b.uploadsOf("later.bin"), b.uploadsOf("warp-multipart.bin"))
		}
	})
}

// A run recognizes an object encrypted with its own key, and so does a later run without the key.
func TestEncryptedObjectIsRecognised(t *testing.T) {
	needSignals(t)
	t.Parallel()
	s := teststore.Start(t, teststore.MinIO, teststore.Options{TLS: true})
	at := []string{"--tls", "--ca-file=" + s.CAFile}
	run := func(args ...string) *process {
		return start(t, slices.Concat(args, at, in(s, s.Endpoint, "encrypted"))...)
	}
	small := []string{"multipart", "--parts=2", "--part.size=5MiB", "--concurrent=1", "--lease=10s"}
	quiet := func(p *process) {
		t.Helper()
		if p.want(0); strings.Contains(p.stderr(), "warning: run") || strings.Contains(p.stderr(), " remain: ") {
			t.Errorf("%s", p)
		}
	}
	quiet(run(append(small, "--encrypt", "--duration=1s")...))
	quiet(run(append(small, "--encrypt", "--duration=1s", "--obj.name=warp-multipart.bin")...)) // the name is free again
	killed := run(append(small, "--encrypt", "--duration=60s", "--tag=a=b")...)
	killed.awaitOutput("Preparing: uploading parts: ")
	time.Sleep(500 * time.Millisecond)
	killed.kill()
	killed.wait()
	time.Sleep(expiry)
	p := run("clean").want(0)
	if !strings.Contains(p.stdout(), "1 object removed") {
		t.Errorf("%s", p)
	}
	quiet(run(append(small, "--duration=1s", "--obj.name=warp-multipart.bin")...))
}

// A later run aborts the encrypted upload in parts of a killed run, without its key. An upload that
// a forged marker names stays.
func TestEncryptedUploadIsAborted(t *testing.T) {
	needSignals(t)
	t.Parallel()
	s := teststore.Start(t, teststore.MinIO, teststore.Options{TLS: true})
	pem, err := os.ReadFile(s.CAFile)
	check.OK(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	core, err := minio.NewCore(s.Endpoint, &minio.Options{Secure: true, Region: s.Region, Creds: credentials.NewStaticV4(s.AccessKey, s.SecretKey, ""),
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}})
	check.OK(t, err)
	b := &bucket{t: t, name: "encrypted", store: s, core: core}
	run := func(args ...string) *process {
		return start(t, slices.Concat(args, []string{"--tls", "--ca-file=" + s.CAFile}, b.args())...)
	}
	killed := run("multipart", "--encrypt", "--parts=1000", "--part.size=5MiB", "--concurrent=1", "--lease=10s", "--rps-limit=5", "--duration=60s")
	await(t, check.Limit, func() bool {
		page, _ := core.ListMultipartUploads(t.Context(), b.name, "warp-multipart.bin", "", "", "", 0)
		if len(page.Uploads) == 0 {
			return false
		}
		parts, err := core.ListObjectParts(t.Context(), b.name, "warp-multipart.bin", page.Uploads[0].UploadID, 0, 0)
		return err == nil && slices.ContainsFunc(parts.ObjectParts, func(p minio.ObjectPart) bool { return p.PartNumber == 10000 })
	}, "the part that says whose the upload is")
	killed.kill()
	killed.wait()
	b.unfinished("video.mp4")
	theirs := b.uploadsOf("video.mp4")
	b.put(".warp/Forged99.json", fmt.Sprintf(`{"run":"Forged99","prefix":%q,"seed":"99","lease_s":0.5,"claimed":true,"fixed":{"key":"video.mp4","upload":%q,"encrypted":true}}`,
		generator.RunPrefix(99), theirs[0]))
	time.Sleep(expiry)
	run("clean").want(0).warns("video.mp4", "stays")
	if left := b.uploadsOf("warp-multipart.bin"); len(left) > 0 {
		t.Errorf("uploads that are left: %q", left)
	}
	if now := b.uploadsOf("video.mp4"); !slices.Equal(now, theirs) {
		t.Errorf("uploads were %q, are %q", theirs, now)
	}
}
