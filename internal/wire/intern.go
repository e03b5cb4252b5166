package wire

// An Interner returns the same string for equal bytes. It drops all its strings when
// there are more than in any real input, so that hostile input cannot fill the memory.
// The zero value is ready for use.
type Interner struct {
	last  string
	known map[string]string
}

const (
	maxInterned     = 1024
	maxInternedSize = 4096 // bytes of a string; longer ones are not kept
)

// Last returns the string that Get returned last and keeps, or "" after Forget.
func (n *Interner) Last() string { return n.last }

// Forget makes Last return "".
func (n *Interner) Forget() { n.last = "" }

// Get returns b as a string.
func (n *Interner) Get(b []byte) string {
	if string(b) == n.last {
		return n.last
	}
	s, ok := n.known[string(b)]
	if !ok {
		s = string(b)
		if len(b) > maxInternedSize {
			return s
		}
		if n.known == nil || len(n.known) >= maxInterned {
			n.known = make(map[string]string)
		}
		n.known[s] = s
	}
	n.last = s
	return s
}
