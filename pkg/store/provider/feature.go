package provider

// A Feature is a function that not every store has, as named in messages. [Provider.Lacks] lists
// the features that a store lacks.
type Feature string

// The features.
const (
	Versions      Feature = "versions of objects"
	ObjectLock    Feature = "S3's object lock"
	Tags          Feature = "tags of objects"
	Appends       Feature = "appends to objects"
	ZIPFiles      Feature = "downloads of files in a ZIP (an extension of MinIO)"
	Unpacking     Feature = "unpacking of uploaded TARs (an extension of MinIO)"
	FanOuts       Feature = "fan-out uploads (an extension of MinIO)"
	Forms         Feature = "uploads by a form (POST) of S3"
	Copies        Feature = "copies of objects"
	UploadParts   Feature = "uploads in parts"
	PartDownloads Feature = "downloads of single parts"
	PartCopies    Feature = "copies of ranges as parts"
	ListMetadata  Feature = "metadata in listings (an extension of MinIO)"
	Profiles      Feature = "profiles of itself (an extension of MinIO)"
	CustomerKeys  Feature = "encryption under a key of the client (SSE-C)"
	StoreKeys     Feature = "encryption that an upload asks for (SSE-S3)"
	ServiceKeys   Feature = "encryption under a key of the store's key service (SSE-KMS)"
	Classes       Feature = "storage classes of objects"
	ObjectData    Feature = "metadata of objects"
	HostBuckets   Feature = "bucket names in host names"
	HTTP2         Feature = "an engine with HTTP/2"
	Signatures    Feature = "signatures of S3"
	MinioEngine   Feature = "the API of S3"
	BearerTokens  Feature = "bearer tokens"
	Regions       Feature = "regions of buckets"
	Identities    Feature = "several pairs of keys"
)
