package merge_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"warp/pkg/oplog"
	"warp/pkg/oplog/merge"
)

// The two clients of a run each wrote a log.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var inputs []string
	for i, client := range []string{"A", "B"} {
		f, err := oplog.Create(filepath.Join(dir, client), oplog.Header{Warp: "1", Run: "r", Client: client})
		if err != nil {
			log.Fatal(err)
		}
		if err := f.Write([]oplog.Record{{Op: "GET", Client: client, Start: int64(10 - i), Duration: 3}}); err != nil {
			log.Fatal(err)
		}
		name, err := f.Commit(oplog.Trailer{End: "completed"})
		if err != nil {
			log.Fatal(err)
		}
		inputs = append(inputs, name)
	}
	stats, err := merge.Logs(context.Background(), filepath.Join(dir, "both"), inputs, merge.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stats.Rows, "rows of", stats.Clients, "clients in", stats.Runs, "run")
	// Output: 2 rows of 2 clients in 1 run
}
