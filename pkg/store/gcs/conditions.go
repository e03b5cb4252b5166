package gcs

import "warp/pkg/store"

// condition adds a condition to a request: the generation that the object must have. 0 is the generation of an object
// that does not exist.
func (q request) condition(c store.Condition) {
	switch {
	case c.Absent:
		q.Param("ifGenerationMatch", "0")
	case c.Given():
		q.Param("ifGenerationMatch", c.Is)
	}
}

// Contract returns what Google documents.
func Contract() store.Contract {
	return store.Contract{Answers: []store.Answer{
		{Code: store.CodePrecondition, Outcome: store.Lost},
		{Status: 404, Code: store.CodeNoKey, Outcome: store.Lost},       // a generation, and there is no object
		{Status: 404, Code: store.CodeNoUpload, Outcome: store.Unknown}, // somebody on the way may have composed the object
		{Status: 503, Outcome: store.Refused},
		{Status: 400, Outcome: store.NotSupported},
	}}
}
