package s3

import (
	"slices"

	"warp/pkg/store"
)

// WithCondition adds the header of a condition to the headers of a request.
func WithCondition(headers []store.Header, c store.Condition) []store.Header {
	if !c.Given() {
		return headers
	}
	return append(slices.Clone(headers), c.Header())
}

// Contract returns what Amazon documents for buckets of S3. Stores with the same API are held to it.
func Contract() store.Contract { return store.Contract{Answers: answers()} }

// ExpressContract returns what Amazon documents for directory buckets.
func ExpressContract() store.Contract {
	return store.Contract{Answers: answers(), Unordered: true}
}

// answers lists what answers of S3 mean for a write. A CompleteMultipartUpload may answer 200 first
// and then send a document with an error.
func answers() []store.Answer {
	return []store.Answer{
		{Code: "PreconditionFailed", Outcome: store.Lost},
		{Code: "ConditionalRequestConflict", Outcome: store.Lost},
		{Status: 404, Code: "NoSuchKey", Outcome: store.Lost},       // If-Match, and there is no object
		{Status: 404, Code: "NoSuchUpload", Outcome: store.Unknown}, // somebody on the way may have completed it
		{Status: 400, Code: "InvalidPart", Outcome: store.Unknown},  // likewise
		{Code: "SlowDown", Outcome: store.Refused},
		{Code: "SlowDownRead", Outcome: store.Refused}, // of MinIO
		{Code: "SlowDownWrite", Outcome: store.Refused},
		{Status: 503, Code: "ServiceUnavailable", Outcome: store.Refused},
		{Status: 400, Code: "RequestTimeout", Outcome: store.Unknown},
		{Status: 400, Code: "BadDigest", Outcome: store.Failed},
		{Status: 400, Code: "IncompleteBody", Outcome: store.Failed},
		{Status: 400, Code: "EntityTooSmall", Outcome: store.Failed},
		{Status: 400, Outcome: store.NotSupported},
	}
}
