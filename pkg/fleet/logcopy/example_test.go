package logcopy_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"warp/pkg/fleet/logcopy"
)

// A client sends a complete log to the coordinator, which continues a copy at
// its size.
func Example() {
	folder, err := os.MkdirTemp("", "example-*")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	log := filepath.Join(folder, "run.csv.zst")
	if err := os.WriteFile(log, []byte("rows of the client"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	spool, err := logcopy.NewSpool(filepath.Join(folder, "copy.spool"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer spool.Remove()

	var pump *logcopy.Pump
	pump = logcopy.NewPump(logcopy.Complete(log), 0, func(parts ...[]byte) error { // the connection
		chunk, err := logcopy.ReadChunk(bytes.Join(parts, nil))
		if err == nil {
			err = spool.Add(chunk)
		}
		if err == nil {
			err = pump.Ack(spool.Ack())
		}
		return err
	}, nil)
	fmt.Println(pump.Run(context.Background()))
	copied, err := os.ReadFile(spool.Path())
	fmt.Println(string(copied), err)
	// Output:
	// <nil>
	// rows of the client <nil>
}
