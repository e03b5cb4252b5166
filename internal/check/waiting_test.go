package check

import (
	"flag"
	"runtime"
	"strconv"
	"testing"
)

type ran func()

func (r ran) Run() int { r(); return 7 }

func TestWaiting(t *testing.T) {
	isGiven := func() (given bool) {
		flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
		return given
	}
	if isGiven() {
		t.Skip("SKIPPED, -parallel is given")
	}
	parallel := flag.Lookup("test.parallel").Value
	before := parallel.String()
	defer func() { _ = parallel.Set(before) }()
	if err := parallel.Set("1"); err != nil { // without flag.Set, so that it does not count as given
		t.Fatal(err)
	}
	var during string
	if code := Waiting(ran(func() { during = parallel.String() })).Run(); code != 7 {
		t.Errorf("code %d", code)
	}
	if want := strconv.Itoa(max(atATime, runtime.GOMAXPROCS(0))); during != want {
		t.Errorf("%s tests at a time, want %s", during, want)
	}
	if !isGiven() {
		t.Error("the flag is not set for the package")
	}
}
