package protocol_test

import (
	"fmt"
	"time"

	"warp/pkg/fleet/protocol"
)

// The clock of the client is 300 ms ahead, and each message takes 10 ms.
func ExamplePing() {
	sent := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC).UnixNano()
	ping := protocol.Ping(sent, false)
	if _, err := protocol.ReadPing(ping); err != nil { // on the client
		fmt.Println(err)
		return
	}
	arrived := sent + int64(310*time.Millisecond)
	pong := protocol.Pong(ping, arrived, arrived)
	offset, err := protocol.ReadPong(pong, sent+int64(20*time.Millisecond))
	fmt.Println(offset.Ahead, offset.RoundTrip, err)
	// Output: 300ms 20ms <nil>
}

// A message with a field that this version does not know is refused.
func ExampleDecode() {
	var desired protocol.DesiredState
	fmt.Println(protocol.Decode([]byte(`{"goal": 3}`), &desired), desired.Goal)
	fmt.Println(protocol.Decode([]byte(`{"goal": 3, "faster": true}`), &desired) != nil)
	// Output:
	// <nil> measuring
	// true
}
