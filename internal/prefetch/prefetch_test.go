package prefetch

import "testing"

// Asking is no reading: it may be for memory that is not there, such as that behind the last row of all.
func TestNothingIsRead(t *testing.T) {
	t.Parallel()
	Row(nil)
	Line(nil)
	b := []byte{1}
	Row(&b[0])
	Line(&b[0])
	if b[0] != 1 {
		t.Errorf("%v", b)
	}
}
