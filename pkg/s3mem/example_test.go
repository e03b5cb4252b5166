package s3mem_test

import (
	"fmt"
	"io"
	"net/http"

	"warp/pkg/s3mem"
)

// The null store answers every download with the same bytes.
func ExampleStartNull() {
	null, err := s3mem.StartNull(s3mem.NullOptions{Size: 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer null.Close()
	answer, err := http.Get("http://" + null.Addr() + "/bucket/key")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	fmt.Println(answer.StatusCode, string(content), err, null.Count("GET"))
	// Output:
	// 200 xxxxx <nil> 1
}
