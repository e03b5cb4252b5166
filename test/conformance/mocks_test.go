package conformance

import (
	"testing"

	"warp/internal/teststore"
)

// TestMocks runs every operation against mocks of S3. They are no stores for benchmarks, but many tests use them, and they
// differ from other stores: moto and S3Mock 3 do not say whether a bucket has versions. If asked to delete tags, S3Mock 3 deletes
// the object; S3Mock 5 then answers a question for tags without a document.
func TestMocks(t *testing.T) {
	t.Parallel()
	for _, store := range []string{teststore.Moto, teststore.S3Mock, teststore.OldS3Mock} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			s := stores.Shared(t, store)
			for _, f := range features() {
				if f.name == "versioned" {
					if store == teststore.S3Mock {
						// S3Mock loses versions, whichever engine asks: if the only version of a key is deleted while another one is
						// uploaded, it answers both requests with success, but later with NoSuchKey for the new version (in 132
						// of 300 attempts with nothing but these requests, and never if one followed the other).
						continue
					}
					f.word = "does not say whether bucket"
				}
				for _, engine := range engineNames() {
					t.Run(f.name+"/"+engine, func(t *testing.T) {
						if became := f.run(t, s, engine); (became == works) != f.can(s) {
							t.Errorf("it is %q", became)
						}
					})
				}
			}
		})
	}
}
