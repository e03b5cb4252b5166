package wire_test

import (
	"encoding/binary"
	"fmt"

	"warp/internal/wire"
)

// The caller reads everything and checks Bad once, at the end.
func ExampleReader() {
	message := wire.AppendText(nil, "GET")
	message = binary.AppendUvarint(message, 200)
	message = binary.AppendVarint(message, -5)

	for _, b := range [][]byte{message, message[:len(message)-1]} {
		r := wire.NewReader(b)
		op, status, offset := r.Text(10), r.Uint(), r.Int()
		fmt.Println(op, status, offset, r.Bad)
	}
	// Output:
	// GET 200 -5 false
	// GET 200 0 true
}
