package s3mem

import "strings"

// The null store answers Azure Blob Storage as well, where objects have the same requests as with S3. Batches and lists of
// blocks it does not answer.

// azureListing is a listing of a container.
const azureListing = `<?xml version="1.0" encoding="utf-8"?><EnumerationResults><Blobs></Blobs><NextMarker></NextMarker></EnumerationResults>`

// azureHeader returns the header line by which a client knows the properties of a container from the answer of another server.
func azureHeader(target string) string {
	if _, query, _ := strings.Cut(target, "?"); hasParameter(query, "restype") {
		return "X-Ms-Version: 2021-12-02\r\n"
	}
	return ""
}
