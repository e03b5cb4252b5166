package kubetest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"go.yaml.in/yaml/v3"

	"warp/internal/check"
	"warp/internal/teststore"
)

// The log of all clients is uploaded to a bucket of another store, over TLS with a private
// certificate, and with separate keys. If that fails, the Job fails, and the log is in the claim.
func TestUpload(t *testing.T) {
	t.Parallel()
	store := teststore.Start(t, teststore.Embedded, teststore.Options{})
	shelf := teststore.Start(t, teststore.MinIO, teststore.Options{TLS: true})
	client := shelfClient(t, shelf)
	ca, err := os.ReadFile(shelf.CAFile)
	check.OK(t, err)
	there, err := yaml.Marshal(map[string]any{"kind": "Secret", "metadata": map[string]any{"name": "shelf"}, "stringData": map[string]any{
		"access-key": shelf.AccessKey, "secret-key": shelf.SecretKey, "ca.crt": string(ca)}})
	check.OK(t, err)
	set := []string{"--set-json", few, "--set", two + "benchmark=get,store.host=" + store.Endpoint,
		"--set", "results.uploadSecret=shelf,results.uploadCA.secret=shelf,results.upload=https://" + shelf.Endpoint + "/results/nightly"}

	code, out, folder := install(t, string(there), set...).run()
	if code != 1 || logs(folder) != 0 || !strings.Contains(out, "there is no bucket results") {
		t.Fatalf("exit code %d, %d logs\n%s", code, logs(folder), out)
	}
	check.OK(t, client.MakeBucket(t.Context(), "results", minio.MakeBucketOptions{}))
	code, out, folder = install(t, string(there), set...).run()
	if code != 0 || logs(folder) != 1 {
		t.Fatalf("exit code %d, %d logs\n%s", code, logs(folder), out)
	}
	files, _ := filepath.Glob(folder + "/*.csv.zst")
	info, err := os.Stat(files[0])
	check.OK(t, err)
	keys := list(t.Context(), client)
	if size, ok := keys["nightly/"+filepath.Base(files[0])]; len(keys) != 1 || !ok || size != info.Size() {
		t.Errorf("%v is in the bucket, and %s of %d bytes in the claim", keys, files[0], info.Size())
	}
}

func shelfClient(t *testing.T, s *teststore.Store) *minio.Client {
	t.Helper()
	client, err := minio.New(s.Endpoint, &minio.Options{Creds: credentials.NewStaticV4(s.AccessKey, s.SecretKey, ""), Secure: true,
		Region: s.Region, Transport: trusting(t, s.CAFile)})
	check.OK(t, err)
	return client
}

func trusting(t *testing.T, caFile string) *http.Transport {
	t.Helper()
	pem, err := os.ReadFile(caFile)
	check.OK(t, err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
}

// list returns the objects in the bucket, with sizes.
func list(ctx context.Context, client *minio.Client) map[string]int64 {
	all := map[string]int64{}
	for o := range client.ListObjectsIter(ctx, "results", minio.ListObjectsOptions{Recursive: true}) {
		all[o.Key] = o.Size
	}
	return all
}
