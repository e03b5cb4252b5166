package azure_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/azure"
)

// The driver opens an engine for each host. The server shows the request that
// the engine sends to Blob Storage.
func ExampleOpen() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.Path, r.Header.Get("Authorization"))
		w.Header().Set("Content-Length", "5")
		w.Header().Set("ETag", `"0x8D"`)
	}))
	defer server.Close()
	at := store.Address{Name: server.Listener.Addr().String()}
	cfg := store.Config{AppVersion: "1", Concurrency: 1, Hosts: []store.Address{at}, Bearer: store.Bearer{Token: "secret"}}
	driver, err := azure.Open(&cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := driver.Engine(&cfg, at, new(store.Counters))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	o, err := engine.Stat(context.Background(), store.Ref{Bucket: "photos", Key: "pets/cat"}, store.NewTrace(time.Now()))
	fmt.Println(o.Size, o.ETag, err)
	// Output:
	// HEAD /photos/pets/cat Bearer secret
	// 5 0x8D <nil>
}
