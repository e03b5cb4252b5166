package bench

import "testing"

func TestErrorLimit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		limit        ErrorLimit
		failed, sent int64
		exceeded     bool
		allows       bool
	}{
		{ErrorLimit{}, 1, 10, false, false},
		{ErrorLimit{}, 0, 10, false, true},
		{ErrorLimit{Set: true, Count: 5}, 5, 10, false, true},
		{ErrorLimit{Set: true, Count: 5}, 6, 10, true, false},
		{ErrorLimit{Set: true, Count: 0}, 1, 1, true, false},
		{ErrorLimit{Set: true, IsPct: true, Percent: 10}, 10, 100, false, true},
		{ErrorLimit{Set: true, IsPct: true, Percent: 10}, 11, 100, true, false},
		{ErrorLimit{Set: true, IsPct: true, Percent: 10}, 9, 10, false, false}, // too few to judge
	}
	for _, test := range tests {
		if got := test.limit.Exceeded(test.failed, test.sent); got != test.exceeded {
			t.Errorf("%+v exceeded by %d of %d: %v", test.limit, test.failed, test.sent, got)
		}
		if got := test.limit.Allows(test.failed, test.sent); got != test.allows {
			t.Errorf("%+v allows %d of %d: %v", test.limit, test.failed, test.sent, got)
		}
	}
}
