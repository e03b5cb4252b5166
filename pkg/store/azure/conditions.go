package azure

import "warp/pkg/store"

// condition adds the header of a condition.
func (q request) condition(c store.Condition) {
	if c.Given() {
		h := c.Header()
		q.Header(h.Name, h.Value)
	}
}

// Contract returns what Microsoft documents for Blob Storage.
func Contract() store.Contract { return store.Contract{Answers: answers()} }

// LakeContract returns what Microsoft documents for the dfs endpoint of Data Lake Storage.
func LakeContract() store.Contract {
	const why = "an upload is several requests, and the first one empties the file"
	return store.Contract{Answers: answers(), Unordered: true, Breaks: map[store.Promise]string{
		store.Updates: why, store.ReadsAfterWrite: why, store.WholeReads: why, store.Completions: "there are no uploads in parts",
	}}
}

func answers() []store.Answer {
	return []store.Answer{
		{Code: store.CodePrecondition, Outcome: store.Lost},
		{Status: 409, Code: "BlobAlreadyExists", Outcome: store.Lost},
		{Status: 409, Code: "PathAlreadyExists", Outcome: store.Lost},
		{Status: 404, Code: store.CodeNoKey, Outcome: store.Lost},       // If-Match, and there is no blob
		{Status: 404, Code: store.CodeNoUpload, Outcome: store.Unknown}, // somebody on the way may have committed the blocks
		{Status: 503, Code: "ServerBusy", Outcome: store.Refused},
		{Status: 400, Outcome: store.NotSupported},
		{Code: "NotImplemented", Outcome: store.NotSupported}, // Azurite says so with status 500
	}
}
