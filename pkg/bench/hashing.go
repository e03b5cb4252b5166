package bench

import (
	"crypto/sha256"
	"fmt"
	"time"
)

// hashingLimit is the share of the CPU time that is worth a note.
const hashingLimit = 0.25

// hashingNote says how much of the client's CPU time went into hashing that many bytes of payload; "" if it is little.
func hashingNote(hashed int64, cpuSeconds float64) string {
	if hashed < 64<<20 || cpuSeconds <= 0 {
		return ""
	}
	if share := float64(hashed) * hashingCost() / cpuSeconds; share >= hashingLimit {
		return fmt.Sprintf("about %.0f %% of the client's CPU time went into hashing payload for the signatures of uploads; "+
			"--disable-sha256-payload leaves it unsigned, as it is over TLS", 100*min(share, 0.95))
	}
	return ""
}

// hashingCost returns the seconds that hashing a byte takes: the best of several tries, since it was not interrupted.
func hashingCost() float64 {
	data := make([]byte, 256<<10)
	best := time.Hour
	for range 5 {
		start := time.Now()
		sha256.Sum256(data)
		best = min(best, time.Since(start))
	}
	return best.Seconds() / float64(len(data))
}
