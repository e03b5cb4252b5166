package gcs_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/gcs"
)

// The driver opens an engine for each host. The server shows the request that
// the engine sends to the JSON API.
func ExampleOpen() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.EscapedPath(), r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, `{"name": "pets/cat", "size": "5", "generation": "17", "md5Hash": "XUFAKrxLKna5cZ2REBfFkg=="}`)
	}))
	defer server.Close()
	cfg := store.Config{AppVersion: "1", Concurrency: 1, Bearer: store.Bearer{Token: "secret"}}
	driver, err := gcs.Open(&cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := driver.Engine(&cfg, store.Address{Name: server.Listener.Addr().String()}, new(store.Counters))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	o, err := engine.Stat(context.Background(), store.Ref{Bucket: "photos", Key: "pets/cat"}, store.NewTrace(time.Now()))
	fmt.Println(o.Size, o.ETag, err) // the ETag is the MD5
	// Output:
	// GET /storage/v1/b/photos/o/pets%2Fcat Bearer secret
	// 5 5d41402abc4b2a76b9719d911017c592 <nil>
}
