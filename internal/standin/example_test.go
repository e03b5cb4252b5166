package standin_test

import (
	"fmt"
	"net/http"

	"github.com/minio/minio-go/v7/pkg/signer"

	"warp/internal/standin"
)

// The signature covers the address, so a changed request is refused.
func ExampleSignature_Verify() {
	r, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:9000/bucket/object", http.NoBody)
	if err != nil {
		fmt.Println(err)
		return
	}
	r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
	r = signer.SignV4(*r, "access", "secret", "", "us-east-1")
	s, err := standin.ParseSignature(r)
	fmt.Println(s.Access, s.Region, s.Service, err)
	fmt.Println("refused:", s.Verify(r, "secret") != nil)
	r.URL.Path = "/bucket/other"
	fmt.Println("refused:", s.Verify(r, "secret") != nil)
	// Output:
	// access us-east-1 s3 <nil>
	// refused: false
	// refused: true
}
