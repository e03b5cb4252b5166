package gcs

import (
	"net/http"
	"testing"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

func TestOutcome(t *testing.T) {
	t.Parallel()
	contract, sent := Contract(), store.NewTrace(time.Now())
	sent.Requested()
	for _, test := range []struct {
		status int
		doc    string
		want   store.Outcome
	}{
		{412, `{"error":{"message":"At least one of the pre-conditions you specified did not hold.","errors":[{"reason":"conditionNotMet"}]}}`, store.Lost},
		{404, `{"error":{"message":"No such object: b/k"}}`, store.Lost},
		{404, `{"error":{"message":"The specified bucket does not exist."}}`, store.Failed},
		{429, `{"error":{"message":"The object exceeded the rate limit","errors":[{"reason":"rateLimitExceeded"}]}}`, store.Refused},
		{503, `{"error":{"errors":[{"reason":"backendError"}]}}`, store.Refused},
		{500, "", store.Unknown},
		{408, "", store.Unknown},
		{400, `{"error":{"errors":[{"reason":"invalid"}]}}`, store.NotSupported},
		{403, "", store.Failed},
	} {
		if got := contract.Outcome(refusal(test.status, []byte(test.doc), "k"), sent); got != test.want {
			t.Errorf("%d %s: %v, want %v", test.status, test.doc, got, test.want)
		}
	}
	q := request{httpclient.NewRequest(http.MethodPost, "/o")}
	defer q.End()
	q.condition(store.Condition{Absent: true})
	if got, _ := q.Target(); string(got) != "/o?ifGenerationMatch=0" {
		t.Errorf("an object that does not exist: %s", got)
	}
}
