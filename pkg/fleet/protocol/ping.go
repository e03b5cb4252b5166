package protocol

import (
	"encoding/binary"
	"fmt"

	"warp/pkg/fleet/clock"
)

// A ping is the coordinator's time, and a byte more if it is one of many in a
// row. It is not JSON, to take as little time as possible.
const (
	pingSize  = 8
	burstSize = pingSize + 1
	pongSize  = 3 * pingSize
)

// Ping returns the body of a [KindPing] that is sent at the given time. A burst
// of pings measures the difference of the clocks.
func Ping(sent int64, burst bool) []byte {
	body := binary.BigEndian.AppendUint64(make([]byte, 0, burstSize), uint64(sent))
	if burst {
		body = append(body, 1)
	}
	return body
}

// ReadPing checks a ping, and reports whether it is part of a burst.
func ReadPing(body []byte) (burst bool, err error) {
	if len(body) != pingSize && len(body) != burstSize {
		return false, fmt.Errorf("a message cannot be read: %d bytes of a ping", len(body))
	}
	return len(body) == burstSize, nil
}

// Pong returns the body of the answer to a ping that [ReadPing] has checked.
func Pong(ping []byte, arrived, answered int64) []byte {
	b := append(make([]byte, 0, pongSize), ping[:pingSize]...)
	b = binary.BigEndian.AppendUint64(b, uint64(arrived))
	return binary.BigEndian.AppendUint64(b, uint64(answered))
}

// ReadPong returns the sample of the client's clock that a pong is.
func ReadPong(body []byte, received int64) (clock.Offset, error) {
	if len(body) != pongSize {
		return clock.Offset{}, fmt.Errorf("a message cannot be read: %d bytes of a pong", len(body))
	}
	at := func(i int) int64 { return int64(binary.BigEndian.Uint64(body[pingSize*i:])) }
	return clock.Sample(at(0), at(1), at(2), received), nil
}
