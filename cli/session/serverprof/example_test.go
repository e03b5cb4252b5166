package serverprof_test

import (
	"fmt"

	"warp/cli/session/serverprof"
)

func ExampleCheck() {
	fmt.Println(serverprof.Check("cpu,mem"))
	fmt.Println(serverprof.Check("disk"))
	// Output:
	// <nil>
	// --serverprof: "disk" is not one of cpu, cpuio, mem, block, mutex, threads, trace
}
