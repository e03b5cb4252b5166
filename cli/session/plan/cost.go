package plan

import (
	"fmt"
	"math"
	"strings"

	"warp/internal/human"
)

// perListing is the number of objects that a request lists, and deletes where the store can delete several at once.
const perListing = 1000

// A Cost is how much a run sends at most, or several runs together. Providers charge for it.
type Cost struct {
	Uploads     float64  `json:"preparation_requests"`
	UploadBytes float64  `json:"preparation_bytes"`     // 0 = unknown
	MaxUpload   float64  `json:"preparation_max_bytes"` // if all objects had the largest size; 0 = unknown
	Requests    []OfKind `json:"requests"`              // of the measurement
	Bytes       float64  `json:"bytes"`                 // of these; 0 = unknown
	MaxBytes    float64  `json:"max_bytes"`             // the same if all objects had the largest size; 0 = unknown
	Operations  float64  `json:"operations"`            // of the measurement, if the number of requests for each is not known; 0 = it is
	Expected    bool     `json:"expected"`              // sizes or requests are random: these are expected values
	// UploadsVary and RequestsVary: chance decides the number of requests.
	UploadsVary  bool    `json:"-"`
	RequestsVary bool    `json:"-"`
	Unlimited    bool    `json:"unlimited"` // no flag limits the requests of the measurement
	Attempts     int     `json:"attempts"`  // for each of these requests if all fail
	Renewals     int     `json:"renewals"`  // of markers, about
	Listings     float64 `json:"listings"`  // of the clean-up, about
}

// OfKind are the requests of a kind, or of several kinds together.
type OfKind struct {
	Kind string  `json:"kind"` // such as GET
	Max  float64 `json:"max"`
}

// Measured returns the number of requests of the measurement.
func (c *Cost) Measured() (n float64) {
	for _, r := range c.Requests {
		n += r.Max
	}
	return n
}

// Kinds names the requests of the measurement.
func (c *Cost) Kinds() string {
	var kinds []string
	for _, r := range c.Requests {
		kinds = append(kinds, r.Kind)
	}
	return strings.Join(kinds, ", ")
}

// Add adds another run.
func (c *Cost) Add(o *Cost) {
	c.Uploads, c.UploadBytes, c.MaxUpload = c.Uploads+o.Uploads, c.UploadBytes+o.UploadBytes, c.MaxUpload+o.MaxUpload
	c.Bytes, c.MaxBytes = c.Bytes+o.Bytes, c.MaxBytes+o.MaxBytes
	c.Listings, c.Renewals = c.Listings+o.Listings, c.Renewals+o.Renewals
	c.Operations, c.Expected = c.Operations+o.Operations, c.Expected || o.Expected
	c.UploadsVary, c.RequestsVary = c.UploadsVary || o.UploadsVary, c.RequestsVary || o.RequestsVary
	c.Unlimited, c.Attempts = c.Unlimited || o.Unlimited, max(c.Attempts, o.Attempts)
	for _, r := range o.Requests {
		c.addRequests(r)
	}
}

func (c *Cost) addRequests(r OfKind) {
	for i := range c.Requests {
		if c.Requests[i].Kind == r.Kind {
			c.Requests[i].Max += r.Max
			return
		}
	}
	c.Requests = append(c.Requests, r)
}

// SayUploads describes the requests of the preparation.
func (c *Cost) SayUploads() string {
	n := count(c.Uploads) + " " + human.Choose(uint64(c.Uploads), "PUT request", "PUT requests")
	return sayAmount(n, c.UploadsVary, c.UploadBytes, c.MaxUpload)
}

// SayMeasured describes the requests of the measurement, together or by kind.
func (c *Cost) SayMeasured(byKind bool) string {
	list, varies := count(c.Measured())+" "+c.Kinds(), c.RequestsVary
	if byKind {
		list, varies = c.SayRequests(), varies || len(c.Requests) > 1
	}
	return sayAmount(list+" requests", varies, c.Bytes, c.MaxBytes)
}

// sayAmount describes a number of requests, their payload, and the maximum of the payload. If the number varies, chance decides it.
func sayAmount(requests string, varies bool, bytes, most float64) string {
	payload := ""
	if bytes > 0 {
		payload = ", " + human.Bytes(bytes)
	}
	largest := ""
	if most > bytes {
		largest = fmt.Sprintf(" and at most %s", human.Bytes(most))
	}
	switch {
	case varies:
		return "about " + requests + payload + largest
	case largest != "":
		return fmt.Sprintf("%s at most, about %s%s", requests, human.Bytes(bytes), largest)
	}
	return requests + payload + " at most"
}

// SayOperations describes operations of an unknown number of requests. limit names the flag that limits them.
func (c *Cost) SayOperations(limit string) string {
	return fmt.Sprintf("%s at most%s; the sizes of the objects decide how many %s requests these take",
		human.PluralGrouped(uint64(c.Operations), "operation"), limit, c.Kinds())
}

// SayRetries describes retries, to follow a number of requests.
func (c *Cost) SayRetries() string {
	if c.Attempts <= 1 {
		return ""
	}
	return fmt.Sprintf(", up to %d times as many if all of them fail (--retries)", c.Attempts)
}

// SayRequests lists the requests of the measurement by kind.
func (c *Cost) SayRequests() string {
	var parts []string
	for _, r := range c.Requests {
		parts = append(parts, count(r.Max)+" "+r.Kind)
	}
	return strings.Join(parts, ", ")
}

// Remove sets the cost of removing n objects.
func (c *Cost) Remove(n float64) { c.Listings = math.Ceil(n / perListing) }

// SayRemoval describes the requests of the clean-up.
func (c *Cost) SayRemoval() string {
	return fmt.Sprintf("%s %s of %d objects each, and as many deletions, or one for each object where the store cannot delete several at once",
		count(c.Listings), human.Choose(int64(c.Listings), "listing", "listings"), perListing)
}

// count formats a number of requests.
func count(n float64) string { return human.Grouped(uint64(math.Min(n, 1e18))) }
