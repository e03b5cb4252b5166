package engines_test

import (
	"fmt"

	"warp/pkg/store/engines"
	"warp/pkg/store/provider"
)

// The scheme of a bucket or the name of a host says which kind of store it is.
func Example() {
	p, bucket, err := engines.ProviderOfBucket("gs://photos")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Name, bucket)
	fmt.Println(engines.ProviderOfHost("account.blob.core.windows.net").Title)
	fmt.Println(p.Check("warp zip", provider.ZIPFiles))
	// Output:
	// gcs photos
	// Azure Blob Storage
	// warp zip needs downloads of files in a ZIP (an extension of MinIO), which Google Cloud Storage lacks
}
