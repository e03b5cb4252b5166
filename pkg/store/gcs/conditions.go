package gcs

import "warp/pkg/store"

// generationMatch returns the generation that an object must have for a condition to hold; "0" is that
// of an object that does not exist, and "" holds for any.
func generationMatch(c store.Condition) string {
	if c.Absent {
		return "0"
	}
	return c.Is
}

// condition adds a condition to a request.
func (q request) condition(c store.Condition) {
	if match := generationMatch(c); match != "" {
		q.Param("ifGenerationMatch", match)
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
