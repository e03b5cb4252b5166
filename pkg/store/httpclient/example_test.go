package httpclient_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
	"warp/pkg/store/tokens"
)

// An engine builds a request, sends it, and reads the reply before it ends the request.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Goog-Generation", "17")
		_, _ = io.WriteString(w, r.Method+" "+r.RequestURI+" "+r.Header.Get("Authorization"))
	}))
	defer server.Close()
	api := httpclient.API{Name: "example", Keeps: "x-goog-", Auth: tokens.Static("secret")}
	at := store.Address{Name: server.Listener.Addr().String()}
	client, err := api.New(&store.Config{AppVersion: "1", Concurrency: 1}, at, new(store.Counters))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	r := httpclient.NewRequest("GET", "/storage/v1/b")
	defer r.End()
	r.Segment("photos")
	r.Raw("/o")
	r.Segment("pets/cat")
	r.Param("fields", "size")
	reply, err := client.Do(context.Background(), r, store.NewTrace(time.Now()))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Status, string(reply.Document()), reply.Header("x-goog-generation"))
	// Output: 200 GET /storage/v1/b/photos/o/pets%2Fcat?fields=size Bearer secret 17
}
