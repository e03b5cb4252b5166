package script

import (
	"time"
)

// A Verb says what a statement does.
type Verb string

// The verbs.
const (
	Put    Verb = "PUT"
	Reuse  Verb = "REUSE"
	Get    Verb = "GET"
	Delete Verb = "DELETE"
)

// A Strategy says how objects are named.
type Strategy string

// The strategies. Random prefixes spread objects over the key space of a store.
const (
	ConstantPrefix Strategy = "CONSTANT PREFIX"
	RandomPrefix   Strategy = "RANDOM PREFIX"
)

// Defaults of clauses that are left out.
const (
	defaultContext = "default"
	defaultSize    = 1_000_000
)

// A Statement is one step of a script.
type Statement struct {
	Verb     Verb
	Text     string // as it was written, on one line and without comments
	Line     int    // where it begins, from 1
	Column   int
	Objects  int // 0 = not given
	Strategy Strategy
	Seed     string  // "" = not given
	Rate     float64 // requests per second; 0 = as fast as possible
	Warmup   time.Duration
	Max      int           // concurrent requests; 0 = as many as needed
	Runtime  time.Duration // 0 = not given
	Context  string
	Size     int64
}
