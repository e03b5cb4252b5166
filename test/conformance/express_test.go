package conformance

import (
	"fmt"
	"slices"
	"testing"

	"github.com/minio/minio-go/v7"

	"warp/internal/check"
	"warp/internal/standin"
	"warp/internal/teststore"
	"warp/pkg/s3mem"
)

// expressName is the name of the stand-in in the matrix.
const expressName = "S3 Express (stand-in)"

// newExpressBed returns a bed in a directory bucket of a separate stand-in, whose objects are
// inspected directly.
func newExpressBed(t *testing.T) *bed {
	t.Helper()
	mem, err := s3mem.Start(s3mem.EmbeddedOptions{})
	check.OK(t, err)
	t.Cleanup(func() { _ = mem.Close() })
	e := standin.NewExpress(mem)
	e.Start(t, false)
	t.Cleanup(func() {
		_, problems := e.Seen()
		for _, p := range problems {
			t.Error(p)
		}
	})
	b := newBed(t, &teststore.Store{Name: expressName, Endpoint: e.Addr, AccessKey: e.User.Access, SecretKey: e.User.Secret, Region: e.Region})
	b.bucket = fmt.Sprintf("conformance-%d--use1-az4--x-s3", buckets.Add(1))
	if b.client, err = minio.New(mem.Addr(), &minio.Options{}); err != nil {
		t.Fatal(err)
	}
	return b
}

// onExpress runs a row of the matrix, and returns the result. The stand-in does not support part
// numbers.
func (f feature) onExpress(t *testing.T, engine string) string {
	args := append(f.args[:len(f.args):len(f.args)], "--engine="+engine, "--provider=s3express")
	lacking := []string{"put --post", "versioned", "retention", "zip", "snowball", "fanout", "tagging"}
	if slices.Contains(lacking, f.name) {
		b := newExpressBed(t)
		o, _ := b.run(append(args, "--duration=1s")...)
		line := o.want(t, 2).says(t, "which S3 Express One Zone lacks")
		if n := len(b.proxy.Requests(nil)); n > 0 {
			t.Errorf("%d requests were sent", n)
		}
		return b.anonymous(line)
	}
	switch f.name {
	case "multipart":
		return untested
	case "append":
		f.ops, f.check = []string{"APPEND"}, func(*testing.T, *bed, history) {}
	}
	return f.proven(t, args, func() *bed { return newExpressBed(t) })
}
