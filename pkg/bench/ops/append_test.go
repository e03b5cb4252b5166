package ops_test

import (
	"sync"
	"testing"
	"time"

	"warp/internal/teststore"
	"warp/pkg/bench/ops"
	"warp/pkg/oplog"
	"warp/pkg/store"
)

// Objects have as many parts as the store allows, and no more: a store such as
// S3 Express would refuse the next.
func TestAppendBeginsNewObjects(t *testing.T) {
	t.Parallel()
	const limit = 7
	var seen perKey
	runFor(t, 3*time.Second, teststore.Start(t, teststore.Embedded, teststore.Options{}), store.Config{Engine: "lean", Region: "us-east-1"}, "append",
		&ops.Append{Sizes: sizes(t, "10"), Parts: limit}, &seen)
	full := 0
	for key, n := range seen.rows {
		if n > limit {
			t.Errorf("%s has %d parts", key, n)
		}
		if n == limit {
			full++
		}
	}
	if full < 3 {
		t.Errorf("only %d objects have all parts: %v", full, seen.rows)
	}
}

// perKey counts rows by object.
type perKey struct {
	mu   sync.Mutex
	rows map[string]int
}

func (p *perKey) Write(records []oplog.Record) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rows == nil {
		p.rows = map[string]int{}
	}
	for i := range records {
		p.rows[records[i].Key]++
	}
	return nil
}

func (p *perKey) Flush() error { return nil }
