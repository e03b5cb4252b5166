package answer_test

import (
	"fmt"

	"warp/pkg/store/lean/answer"
)

func ExampleHead_Feed() {
	var h answer.Head
	h.Reset("")
	received := []byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"abc\"\r\n\r\nhello")
	used, done, err := h.Feed(received)
	fmt.Println(done, err, h.Status, h.Length, string(h.ETag), string(received[used:]))
	// Output: true <nil> 200 5 "abc" hello
}
