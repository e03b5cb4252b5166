package check

import (
	"flag"
	"runtime"
	"strconv"
)

// atATime is the number of tests at a time in packages whose tests mostly wait.
const atATime = 4

// A Runner runs the tests of a package, as [testing.M] does.
type Runner interface{ Run() int }

// Waiting returns m for a package whose tests mostly wait for processes and clocks. It runs some of them at a time even
// on a machine with fewer cores, unless -parallel says how many.
func Waiting(m Runner) Runner { return waiting{m} }

type waiting struct{ m Runner }

func (w waiting) Run() int {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if at := max(atATime, runtime.GOMAXPROCS(0)); !given {
		if err := flag.Set("test.parallel", strconv.Itoa(at)); err != nil {
			panic(err) // there is such a flag
		}
	}
	return w.m.Run()
}
