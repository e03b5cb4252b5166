package s3mem

// The null store answers Azure Blob Storage as well, where objects have the same requests as with S3. Batches and lists of
// blocks it does not answer.

// azureListing is a listing of a container.
const azureListing = `<?xml version="1.0" encoding="utf-8"?><EnumerationResults><Blobs></Blobs><NextMarker></NextMarker></EnumerationResults>`
