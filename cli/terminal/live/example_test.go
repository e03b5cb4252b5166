package live_test

import (
	"fmt"
	"time"

	"warp/cli/terminal/live"
)

// A printer is a console that draws nothing in place.
type printer struct{ live.Console }

func (printer) Note(text string) { fmt.Println(text) }
func (printer) Clear()           {}
func (printer) Size() (int, int) { return 0, 0 }

func ExampleView_Bar() {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	v := live.View{Console: printer{}, Interval: time.Hour, Now: func() time.Time { return now }}
	b := v.Bar(live.Task{Title: "Preparing", Unit: "objects", Total: 2500})
	b.Add(2500)
	b.Moved(2500 << 20)
	now = now.Add(5 * time.Second)
	b.Finish()
	// Output:
	// Preparing: 2500 objects, 2.4 GiB in 5.0s (500 objects/s, 500.00 MiB/s)
}
