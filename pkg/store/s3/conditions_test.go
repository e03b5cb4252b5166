package s3_test

import (
	"errors"
	"testing"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/s3"
)

func TestOutcome(t *testing.T) {
	t.Parallel()
	contract := s3.Contract()
	sent := store.NewTrace(time.Now())
	sent.Requested()
	for _, test := range []struct {
		err  error
		tr   *store.Trace
		want store.Outcome
	}{
		{nil, sent, store.Won},
		{store.Errorf("PreconditionFailed", 412, ""), sent, store.Lost},
		{store.Errorf("HTTP412", 412, ""), sent, store.Lost},
		{store.Errorf("ConditionalRequestConflict", 409, ""), sent, store.Lost},
		{store.Errorf("Conflict", 409, ""), sent, store.Lost},
		{store.Errorf("NoSuchKey", 404, ""), sent, store.Lost},
		{store.Errorf("PreconditionFailed", 200, ""), sent, store.Lost}, // of CompleteMultipartUpload
		{store.Errorf("InternalError", 200, ""), sent, store.Unknown},   // likewise
		{store.Errorf("NoSuchUpload", 404, ""), sent, store.Unknown},
		{store.Errorf("NoSuchBucket", 404, ""), sent, store.Failed},
		{store.Errorf("SlowDown", 503, ""), sent, store.Refused},
		{store.Errorf("HTTP429", 429, ""), sent, store.Refused},
		{store.Errorf("HTTP503", 503, ""), sent, store.Unknown},
		{store.Errorf("InternalError", 500, ""), sent, store.Unknown},
		{store.Errorf("NotImplemented", 501, ""), sent, store.NotSupported},
		{store.Errorf("HTTP405", 405, ""), sent, store.NotSupported},
		{store.Errorf("InvalidArgument", 400, ""), sent, store.NotSupported},
		{store.ErrUnsupported, store.NewTrace(time.Now()), store.NotSupported},
		{store.Errorf("AccessDenied", 403, ""), sent, store.Failed},
		{store.Errorf(store.CodeReset, 0, ""), sent, store.Unknown},
		{store.Errorf(store.CodeClosed, 0, ""), sent, store.Unknown},
		{store.Errorf(store.CodeAnswerTimeout, 0, ""), sent, store.Unknown},
		{store.Errorf(store.CodeCanceled, 0, ""), sent, store.Unknown},
		{store.Errorf(store.CodeTLS, 0, ""), sent, store.Unknown}, // perhaps after the request
		{store.Errorf(store.CodeTLS, 0, ""), store.NewTrace(time.Now()), store.Failed},
		{store.Errorf(store.CodeRefused, 0, ""), sent, store.Failed},
		{errors.New("?"), sent, store.Unknown},
	} {
		if got := contract.Outcome(test.err, test.tr); got != test.want {
			t.Errorf("%v after %d requests: %v, want %v", test.err, test.tr.Requests(), got, test.want)
		}
	}
}
