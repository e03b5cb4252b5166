package xmlscan_test

import (
	"fmt"

	"warp/pkg/store/s3/xmlscan"
)

// Next goes through a listing, and Parent says what the text belongs to.
func ExampleScanner() {
	var x xmlscan.Scanner
	x.Scan([]byte(`<ListBucketResult><Name>photos</Name>
		<Contents><Key>cat &amp; dog</Key><Size>5</Size></Contents>
		<Contents><Key>horse</Key><Size>7</Size></Contents></ListBucketResult>`))
	for {
		kind, err := x.Next()
		if err != nil {
			fmt.Println(err)
			return
		}
		if kind == xmlscan.Done {
			break
		}
		if kind == xmlscan.End && string(x.Parent()) == "Contents" {
			fmt.Printf("%s: %s\n", x.Name, x.Text)
		}
	}
	// Output:
	// Key: cat & dog
	// Size: 5
	// Key: horse
	// Size: 7
}
