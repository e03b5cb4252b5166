package oplog

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// The text of a row does not depend on the rows before it, however many kinds these are of.
func TestKindTexts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 4))
	records := oddRecords(rng, 2000, "", "c")
	var f rowFormatter
	f.kinds.statements = true
	var table kindTable
	for i := range 6000 {
		r := records[rng.IntN(1+rng.IntN(len(records)))]
		if i%50 == 7 {
			r.Err = strings.Repeat("long", 3000)
		}
		fresh := rowFormatter{index: f.index, kinds: kindTexts{statements: true}}
		want := string(fresh.append(nil, &r, fresh.kinds.find(&r), r.Thread))
		k := f.kinds.find(&r)
		if rng.IntN(2) == 0 && table.find(&r) {
			k = f.kinds.findKnown(table.kinds[table.last])
		}
		if got := string(f.append(nil, &r, k, r.Thread)); got != want {
			t.Fatalf("%q instead of %q", got, want)
		}
	}
	for i := range f.kinds.slots {
		if k := &f.kinds.slots[i]; len(k.head)+len(k.endpoint)+len(k.err)+len(k.tail) > 3*maxKindText {
			t.Errorf("slot %d keeps %d bytes", i, len(k.err))
		}
	}
}
