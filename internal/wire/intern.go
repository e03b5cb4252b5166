package wire

// An Interner makes one string of equal texts. It forgets everything when it
// has more different ones than any real input, so that hostile input cannot
// fill the memory through it. The zero value is ready to use.
type Interner struct {
	last  string
	known map[string]string
}

const (
	maxInterned     = 1024
	maxInternedSize = 4096 // of one text; longer ones are not worth keeping
)

// Last is the text that Get returned last and keeps, "" after Forget.
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
