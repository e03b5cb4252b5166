package session

import (
	"crypto/rand"
	"encoding/binary"
	"math"
	"strconv"

	"warp/cli/exit"
)

// NewSeed has 53 bits, so that every reader of JSON or of a spreadsheet
// keeps them.
func NewSeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:]) >> 11
}

func ParseSeed(s string) (uint64, error) {
	seed, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, exit.Usagef("--seed: %q is not a whole number from 0 to %d", s, uint64(math.MaxUint64))
	}
	return seed, nil
}

// NewID returns four letters and digits that identify a run or a client.
func NewID() string {
	const letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
	text := rand.Text()
	var id [4]byte
	for i := range id {
		id[i] = letters[(int(text[2*i])*31+int(text[2*i+1]))%len(letters)]
	}
	return string(id[:])
}
