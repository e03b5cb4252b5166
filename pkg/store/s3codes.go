package store

// Codes of S3 that warp acts on. Errors of other stores that mean the same have them, too.
const (
	CodeDenied       = "AccessDenied"
	CodeNoKey        = "NoSuchKey"
	CodeNoBucket     = "NoSuchBucket"
	CodeNoUpload     = "NoSuchUpload"
	CodePrecondition = "PreconditionFailed"
	CodeConflict     = "Conflict"     // of Google Cloud Storage and AIStore
	CodeUnauthorized = "Unauthorized" // missing or invalid authorization
)
