package export_test

import (
	"fmt"
	"os"

	"warp/pkg/export"
	"warp/pkg/oplog"
)

func ExampleNewCSV() {
	c, err := export.NewCSV(os.Stdout, false)
	if err == nil {
		err = c.Write(&oplog.Record{Op: "GET", Key: "a,b", Objects: 1, Bytes: 10, Start: 1e18, Duration: 5})
	}
	if err == nil {
		err = c.Flush()
	}
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// idx,thread,op,client_id,n_objects,bytes,endpoint,file,error,start,first_byte,last_byte,end,duration_ns,cat,sched,status,retries,phases_ns,requests,client_ns
	// 0,0,GET,,1,10,,"a,b",,2001-09-09T01:46:40.000000000Z,,,2001-09-09T01:46:40.000000005Z,5,0,,,0,,,
}
