package consistency

import (
	"slices"
	"strconv"
	"strings"
)

// A Listing is what a listing of a folder had. Objects of a folder are numbered.
type Listing struct {
	Numbers  []uint64
	Foreign  []string // names that no workload makes
	Unsorted bool     // names were not in the order of their bytes
	Twice    bool     // a name was there twice
}

// Add adds the next name and its number.
func (l *Listing) Add(n uint64) {
	if slices.Contains(l.Numbers, n) {
		l.Twice = true
		return
	}
	l.Numbers = append(l.Numbers, n)
}

// Marks that follow the numbers of a listing.
const (
	markUnsorted = "unsorted"
	markTwice    = "twice"
	markForeign  = "foreign="
)

// String returns the listing as the op log has it, such as 0-4,7,9;unsorted.
func (l *Listing) String() string {
	sorted := slices.Sorted(slices.Values(l.Numbers))
	var b []byte
	for i := 0; i < len(sorted); {
		from := i
		for i++; i < len(sorted) && sorted[i] == sorted[i-1]+1; i++ {
		}
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, sorted[from], 10)
		if i-from > 1 {
			b = strconv.AppendUint(append(b, '-'), sorted[i-1], 10)
		}
	}
	text := string(b)
	if l.Unsorted {
		text += ";" + markUnsorted
	}
	if l.Twice {
		text += ";" + markTwice
	}
	if len(l.Foreign) > 0 {
		text += ";" + markForeign + strings.NewReplacer(";", "_", "\t", " ").Replace(l.Foreign[0])
	}
	return text
}

// maxListed bounds what a damaged log can ask for.
const maxListed = 1 << 20

// ParseListing undoes [Listing.String].
func ParseListing(text string) (l Listing, ok bool) {
	parts := strings.Split(text, ";")
	for _, mark := range parts[1:] {
		name, isForeign := strings.CutPrefix(mark, markForeign)
		switch {
		case isForeign:
			l.Foreign = append(l.Foreign, name)
		case mark == markUnsorted:
			l.Unsorted = true
		case mark == markTwice:
			l.Twice = true
		default:
			return l, false
		}
	}
	if parts[0] == "" {
		return l, true
	}
	for _, item := range strings.Split(parts[0], ",") {
		first, last, isRange := strings.Cut(item, "-")
		from, err := strconv.ParseUint(first, 10, 64)
		to := from
		if err == nil && isRange {
			to, err = strconv.ParseUint(last, 10, 64)
		}
		if err != nil || to < from || to-from > maxListed || len(l.Numbers) > maxListed {
			return l, false
		}
		for n := from; ; n++ {
			l.Numbers = append(l.Numbers, n)
			if n == to {
				break
			}
		}
	}
	return l, true
}

// NumberOf returns the number of an object of a folder, from the name that the generator gave it: <folder>/<number>.<check>.rnd.
func NumberOf(key string) (n uint64, ok bool) {
	name := key[strings.LastIndexByte(key, '/')+1:]
	digits, _, _ := strings.Cut(name, ".")
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}

// FolderOf returns the folder of a key, with the "/" at its end.
func FolderOf(key string) string { return key[:strings.LastIndexByte(key, '/')+1] }
