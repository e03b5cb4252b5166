package workload

// Version is the version of the format of profiles.
const Version = 1

// Kind tells profiles from other JSON documents.
const Kind = "workload"

// A Profile describes a load.
//
// Units: names end in the unit, _s is seconds; bytes are bytes. Shares are from 0 to 1. Lists of sizes and distances are in
// ascending order.
type Profile struct {
	Version   int      `json:"version"` // 1
	Kind      string   `json:"kind"`    // "workload"
	Formats   []string `json:"formats"` // of the logs, sorted
	Notes     []string `json:"notes"`   // what is uncertain; may be empty
	Lines     Lines    `json:"lines"`
	DurationS float64  `json:"duration_s"` // from the first arrival to the last
	Requests  uint64   `json:"requests"`   // including failed ones
	Errors    uint64   `json:"errors"`     // failed requests

	Operations []Operation `json:"operations"` // by number of requests, largest first
	Ranges     *Ranges     `json:"ranges,omitempty"`
	Popularity *Popularity `json:"popularity,omitempty"` // missing if nothing was read
	Arrivals   Arrivals    `json:"arrivals"`
	Reuse      *Reuse      `json:"reuse,omitempty"` // missing if nothing was downloaded
}

// Lines counts the lines of the logs.
type Lines struct {
	Read       uint64 `json:"read"`       // including unreadable and left out ones
	Unreadable uint64 `json:"unreadable"` // neither a request nor anything else that the format has
	LeftOut    uint64 `json:"left_out"`   // not about a request of a client, or about the requests of an earlier line
}

// An Operation is one kind of request.
type Operation struct {
	Op       Op       `json:"op"`
	Requests uint64   `json:"requests"` // including failed ones
	Share    float64  `json:"share"`    // of all requests
	Objects  uint64   `json:"objects"`  // of all requests; more than these if one may be about several objects
	Errors   uint64   `json:"errors"`   // failed requests
	Statuses []Status `json:"errors_by_status,omitempty"`
	Sizes    Sizes    `json:"sizes,omitempty"` // payload of successful requests without ranges; empty if there is none
}

// A Status counts the failed requests with an HTTP status.
type Status struct {
	Status   int    `json:"status"` // 0 = there was no answer, or the log does not say
	Requests uint64 `json:"requests"`
}

// Sizes is a histogram. As long as the sizes in a bucket are equal, the bucket is exact. Otherwise it is at most 1/128 of its
// smallest size wide.
type Sizes []SizeBucket

// A SizeBucket counts the sizes from Min to Max.
type SizeBucket struct {
	Min      int64  `json:"min"`
	Max      int64  `json:"max"`
	Requests uint64 `json:"requests"`
}

// Requests returns the number of all sizes.
func (s Sizes) Requests() (n uint64) {
	for _, b := range s {
		n += b.Requests
	}
	return n
}

// Mean returns the mean size, 0 if there are none. It is within 1/256 of the true one.
func (s Sizes) Mean() float64 {
	n := s.Requests()
	if n == 0 {
		return 0
	}
	mean := 0.0
	for _, b := range s {
		mean += (float64(b.Min) + float64(b.Max)) / 2 * float64(b.Requests) / float64(n)
	}
	return mean
}

// Quantile returns the size that at least the share q of all sizes do not exceed, 0 if there are none. Sizes in a bucket count
// as evenly spread.
func (s Sizes) Quantile(q float64) float64 {
	left := q * float64(s.Requests())
	for i, b := range s {
		n := float64(b.Requests)
		if left <= n || i == len(s)-1 {
			return float64(b.Min) + float64(b.Max-b.Min)*min(max(left/n, 0), 1)
		}
		left -= n
	}
	return 0
}

// Ranges describes the downloads of parts of objects.
type Ranges struct {
	Requests uint64  `json:"requests"`
	Share    float64 `json:"share"`             // of the successful GETs
	Sizes    Sizes   `json:"sizes"`             // of the parts
	Objects  Sizes   `json:"objects,omitempty"` // sizes of the whole objects, as far as the log says
}

// Popularity says how requests spread over objects. It counts successful GETs and STATs.
type Popularity struct {
	Requests uint64  `json:"requests"`
	Keys     uint64  `json:"keys"`    // objects that were read
	Sampled  float64 `json:"sampled"` // share of the objects that were counted; 1 = all, so that the figures are exact

	// Exponent is the exponent of the Zipf distribution that fits best; missing if there are too few requests. Objects is the number
	// of objects that this distribution chooses from, whether they were read or not.
	Exponent      *float64 `json:"exponent,omitempty"`
	ExponentError float64  `json:"exponent_error,omitempty"` // half of the 95 % interval
	Objects       uint64   `json:"objects,omitempty"`

	Hottest      float64 `json:"hottest"`                 // share of the requests that the most popular 1 % of the keys got
	HottestError float64 `json:"hottest_error,omitempty"` // half of the 95 % interval; 0 = exact
}

// Arrivals says when requests were sent.
type Arrivals struct {
	// ResolutionS is the resolution of the times. Requests were spread evenly within this time if it is a second.
	ResolutionS float64 `json:"resolution_s"`

	IntervalS float64  `json:"interval_s"` // length of the intervals
	Requests  []uint64 `json:"requests"`   // in each interval, from the first request on

	Gaps       Gaps         `json:"gaps"`
	Dispersion []Dispersion `json:"dispersion"` // of 1 s, 10 s and 60 s, as far as the log is long enough
}

// PerS returns the mean rate in requests per second, 0 if the duration is.
func (p *Profile) PerS() float64 {
	if p.DurationS <= 0 {
		return 0
	}
	return float64(p.Requests) / p.DurationS
}

// Rates returns the requests per second in each interval.
func (a *Arrivals) Rates() (all []float64) {
	for _, n := range a.Requests {
		all = append(all, float64(n)/a.IntervalS)
	}
	return all
}

// Gaps says how regular arrivals are.
type Gaps string

// The kinds of gaps.
const (
	EvenGaps    Gaps = "even"    // more regular than at random, as from a few clients that wait for answers
	PoissonGaps Gaps = "poisson" // at random, as from many independent users
	BurstyGaps  Gaps = "bursty"  // in bursts
	UnknownGaps Gaps = "unknown" // the log is too short or has too few requests
)

// A Dispersion is the index of dispersion of the number of requests in intervals: its variance, divided by its mean. It is 0
// for even arrivals, 1 for a Poisson process, and more for bursts. Intervals are compared with others within the same 60
// intervals, so slow changes of the rate, such as day and night, do not count.
type Dispersion struct {
	IntervalS float64 `json:"interval_s"`
	Index     float64 `json:"index"`
	Intervals uint64  `json:"intervals"` // that were compared
}

// Reuse says how much data lies between two downloads of an object: which share of the downloads a cache that evicts the least
// recently used object (LRU) could have served, for any size of the cache.
type Reuse struct {
	Requests uint64  `json:"requests"` // successful downloads
	Bytes    uint64  `json:"bytes"`    // that they transferred
	Objects  uint64  `json:"objects"`  // downloaded or uploaded
	Sampled  float64 `json:"sampled"`  // share of the objects that were counted; 1 = all, so that the figures are exact

	// FirstRequests and FirstBytes are downloads that no cache could have served: of objects that appear for the first time.
	FirstRequests uint64 `json:"first_requests"`
	FirstBytes    uint64 `json:"first_bytes"`

	Caches []Cache `json:"caches"`
}

// A Cache says what a cache of one size could have served.
type Cache struct {
	Size          int64   `json:"size"`           // bytes
	Requests      float64 `json:"requests"`       // share of the downloads
	RequestsError float64 `json:"requests_error"` // half of the 95 % interval; 0 = exact
	Bytes         float64 `json:"bytes"`          // share of the bytes
	BytesError    float64 `json:"bytes_error"`
}
