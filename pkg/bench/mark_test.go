package bench

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"warp/pkg/bench/recording"
	"warp/pkg/oplog"
)

// A markWitness holds rows against the marks that came before them.
type markWitness struct {
	witness
	marks []oplog.Mark
}

func (s *markWitness) AddMark(m oplog.Mark) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rows {
		if end := r.Start + int64(r.Duration); end > m.At {
			s.t.Errorf("a row that ended at %d came before mark %q at %d", end, m.Text, m.At)
			break
		}
	}
	s.marks = append(s.marks, m)
	return nil
}

// Under load no row that ended after a mark comes before it, and every mark that
// was taken arrives, in order of time.
func TestMarksAreInOrderWithTheRows(t *testing.T) {
	t.Parallel()
	for _, slow := range []time.Duration{0, 100 * time.Microsecond} {
		r := emptyRunner(t, 16)
		if _, err := r.Mark("too early"); !errors.Is(err, ErrNotMeasuring) {
			t.Errorf("a mark before the run: %v", err)
		}
		var set, refused atomic.Int64
		r.Op = &scenario{do: func(ctx context.Context, w *Worker, n int64) error {
			if n > 2000 {
				return ErrDone
			}
			if n%15 == 0 {
				switch _, err := r.Mark("disk pulled"); {
				case err == nil:
					set.Add(1)
				case errors.Is(err, recording.ErrTooManyMarks):
					refused.Add(1)
				default:
					t.Error(err)
				}
			}
			return takes(ctx, w, time.Duration(n%50)*time.Microsecond)
		}}
		s := &markWitness{witness: witness{t: t, slow: slow}}
		r.Run(t.Context(), s)
		if set.Load() != oplog.MaxMarks || refused.Load() != 2000/15-oplog.MaxMarks || len(s.marks) != oplog.MaxMarks {
			t.Errorf("%d marks were set, %d refused, and %d arrived", set.Load(), refused.Load(), len(s.marks))
		}
		for i, m := range s.marks {
			if i > 0 && m.At <= s.marks[i-1].At {
				t.Errorf("mark %d at %d follows one at %d", i, m.At, s.marks[i-1].At)
			}
		}
		if _, err := r.Mark("too late"); err == nil {
			t.Error("a mark after the run was taken")
		}
	}
}
