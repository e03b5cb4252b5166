package bench

import (
	"strings"
	"testing"

	"warp/pkg/store"
)

// An error that no repetition mends is reported as it is, and one that remains with the number of attempts.
func TestMustSaysHowOften(t *testing.T) {
	t.Parallel()
	w := &Worker{}
	for _, c := range []struct {
		err  error
		want string
	}{
		{store.Errorf("NoSuchBucket", 404, "gone"), "prepare: upload x: NoSuchBucket: gone"},
		{store.Errorf(store.CodeRefused, 0, "refused"), "prepare: upload x, tried 8 times: ConnectionRefused: refused"},
	} {
		err := w.Retry(t.Context(), "upload x", func() error { return c.err })
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
