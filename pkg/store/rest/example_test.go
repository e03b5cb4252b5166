package rest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/lean"
	"warp/pkg/store/rest"
)

// An engine builds a request, sends it, and releases the answer.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Goog-Generation", "17")
		_, _ = io.WriteString(w, r.Method+" "+r.RequestURI+" "+r.Header.Get("Authorization"))
	}))
	defer server.Close()
	tokens := rest.StaticToken("secret")
	api := rest.API{Name: "example", Keeps: "x-goog-", Authorize: func(head []byte, _ *lean.Call) []byte {
		return append(head, tokens.Header()...)
	}}
	at := store.Address{Name: server.Listener.Addr().String()}
	caller, err := api.New(&store.Config{AppVersion: "1", Concurrency: 1}, at, new(store.Counters))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer caller.Close()

	r := rest.NewRequest("GET", "/storage/v1/b")
	defer r.End()
	r.Segment("photos")
	r.Raw("/o")
	r.Segment("pets/cat")
	r.Param("fields", "size")
	reply, err := r.Send(context.Background(), caller, store.NewTrace(time.Now()))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reply.Release()
	fmt.Println(reply.Status, string(reply.Document()), reply.Header("x-goog-generation"))
	// Output: 200 GET /storage/v1/b/photos/o/pets%2Fcat?fields=size Bearer secret 17
}
