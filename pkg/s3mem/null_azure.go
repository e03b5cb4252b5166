package s3mem

import "strings"

// The null store also answers Azure Blob Storage, whose requests for objects are the same as in S3.
// It does not answer batches and lists of blocks.

// azureListing is a listing of a container.
const azureListing = `<?xml version="1.0" encoding="utf-8"?><EnumerationResults><Blobs></Blobs><NextMarker></NextMarker></EnumerationResults>`

// azureHeader returns the header line that distinguishes the properties of a container from the
// answer of another server.
func azureHeader(target string) string {
	if _, query, _ := strings.Cut(target, "?"); hasParameter(query, "restype") {
		return "X-Ms-Version: 2021-12-02\r\n"
	}
	return ""
}
