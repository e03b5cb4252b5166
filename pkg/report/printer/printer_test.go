package printer_test

import (
	"os"

	"warp/pkg/report/printer"
)

func Example() {
	p := &printer.Printer{Options: printer.Options{Width: 32}}
	p.Sentences("Sentences have as many lines as they need.")
	p.Paragraph("Warning:", "the client was the limit of these figures")
	t := printer.NewTable([]string{"operation", "before", "verdict"}, nil, 1, 2)
	t.Add("GET", "100 MiB/s", "better")
	t.Add("PUT", "7 MiB/s", "~ undecided")
	t.Fit(p.MaxWidth(), func(row []string) { row[1] = "" })
	p.Table(t, nil)
	_ = p.To(os.Stdout)
	// Output:
	// Sentences have as many lines as
	// they need.
	// Warning: the client was the
	//   limit of these figures
	// operation  verdict
	// GET        better
	// PUT        ~ undecided
}
