package doctest

import (
	"strings"
	"testing"

	"warp/pkg/store/engines"
)

// The table of stores has a row for each kind, with the scheme of its buckets.
func TestStoresAreDocumented(t *testing.T) {
	t.Parallel()
	doc := read(t, "docs/target.md")
	var documented, real []string
	for _, row := range doc.in(t, "Stores")[0].rows {
		scheme, _, _ := strings.Cut(row[3], "://")
		if scheme == row[3] {
			scheme = "" // its buckets have none
		}
		documented = append(documented, strings.Trim(row[0], "`")+" "+strings.Trim(scheme, "`"))
	}
	for _, p := range engines.Providers() {
		real = append(real, p.Name+" "+p.Scheme)
	}
	same(t, "stores and their schemes", documented, real)
}
