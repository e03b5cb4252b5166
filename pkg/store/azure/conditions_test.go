package azure

import (
	"testing"
	"time"

	"warp/pkg/store"
)

func TestOutcome(t *testing.T) {
	t.Parallel()
	sent := store.NewTrace(time.Now())
	sent.Requested()
	for _, contract := range []store.Contract{Contract(), LakeContract()} {
		for _, test := range []struct {
			status int
			code   string
			want   store.Outcome
		}{
			{409, "BlobAlreadyExists", store.Lost},
			{409, "PathAlreadyExists", store.Lost},
			{412, "ConditionNotMet", store.Lost},
			{412, "", store.Lost},
			{404, "BlobNotFound", store.Lost},
			{404, "ContainerNotFound", store.Failed},
			{503, "ServerBusy", store.Refused},
			{503, "", store.Unknown},
			{500, "OperationTimedOut", store.Unknown},
			{500, "FeatureNotSupported", store.NotSupported}, // of Azurite
			{400, "UnsupportedHeader", store.NotSupported},
			{403, "AuthorizationFailure", store.Failed},
		} {
			if got := contract.Outcome(refusalOf(test.status, test.code, nil), sent); got != test.want {
				t.Errorf("%d %s: %v, want %v", test.status, test.code, got, test.want)
			}
		}
	}
}
