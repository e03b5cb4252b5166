package script

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]Statement{
		"PUT 100 OBJECTS MAX 5 CONCURRENT OF SIZE 2 MB; DELETE;": {
			{Verb: Put, Text: "PUT 100 OBJECTS MAX 5 CONCURRENT OF SIZE 2 MB", Objects: 100, Max: 5, Size: 2e6},
			{Verb: Delete, Text: "DELETE"},
		},
		"get 5 objects at rate 10 per second warmup 20 seconds runtime 30 seconds": {
			{Verb: Get, Text: "GET 5 objects at rate 10 per second warmup 20 seconds runtime 30 seconds", Objects: 5,
				Rate: 10, Warmup: 20 * time.Second, Runtime: 30 * time.Second},
		},
		"GET OBJECTS FOR 30 SECONDS AT RATE 90 PER MINUTE": {
			{Verb: Get, Text: "GET OBJECTS FOR 30 SECONDS AT RATE 90 PER MINUTE", Runtime: 30 * time.Second, Rate: 1.5},
		},
		"DELETE 3 OBJECTS RUN FOR 1 MINUTE IN CONTEXT \"a b\"": {
			{Verb: Delete, Text: "DELETE 3 OBJECTS RUN FOR 1 MINUTE IN CONTEXT \"a b\"", Objects: 3, Runtime: time.Minute, Context: "a b"},
		},
		"REUSE 10 OBJECTS USING NAMING STRATEGY RANDOM PREFIX WITH SEED \"a8\"": {
			{Verb: Reuse, Text: "REUSE 10 OBJECTS USING NAMING STRATEGY RANDOM PREFIX WITH SEED \"a8\"", Objects: 10, Strategy: RandomPrefix, Seed: "a8"},
		},
		"PUT RUNTIME 1 HOUR USING NAMING STRATEGY CONSTANT PREFIX OF SIZE 0 BYTES": {
			{Verb: Put, Text: "PUT RUNTIME 1 HOUR USING NAMING STRATEGY CONSTANT PREFIX OF SIZE 0 BYTES", Runtime: time.Hour},
		},
		"\ufeff/* a\n * b */ PUT // c\n 1 OBJECT # d\n -- e\n;;": {
			{Verb: Put, Text: "PUT 1 OBJECT", Objects: 1, Size: defaultSize},
		},
		"PUT 1 OBJECTS OF SIZE 10MEGABYTES": {{Verb: Put, Text: "PUT 1 OBJECTS OF SIZE 10 MEGABYTES", Objects: 1, Size: 1e7}},
		"PUT 1 OBJECTS AT RATE 5 WARMUP 2 RUNTIME 3 OF SIZE 2 K": {
			{Verb: Put, Text: "PUT 1 OBJECTS AT RATE 5 WARMUP 2 RUNTIME 3 OF SIZE 2 K", Objects: 1, Rate: 5, Warmup: 2 * time.Second,
				Runtime: 3 * time.Second, Size: 2000},
		},
		"PUT RUNTIME 2 MIN MAX 3 CONCURRENT OF SIZE 1 m": {
			{Verb: Put, Text: "PUT RUNTIME 2 MIN MAX 3 CONCURRENT OF SIZE 1 m", Max: 3, Runtime: 2 * time.Minute, Size: 1e6},
		},
		"PUT RUNTIME 20 SEC AT RATE 3 PER MIN WARMUP 500 MS OF SIZE 300": {
			{Verb: Put, Text: "PUT RUNTIME 20 SEC AT RATE 3 PER MIN WARMUP 500 MS OF SIZE 300", Rate: 0.05, Warmup: 500 * time.Millisecond,
				Runtime: 20 * time.Second, Size: 300},
		},
		"PUT 1 OBJECT OF SIZE 3 KILOBYTE; GET 1 OBJECT AT RATE 1 PER MS; PUT 1 OBJECT OF SIZE 7 B": {
			{Verb: Put, Text: "PUT 1 OBJECT OF SIZE 3 KILOBYTE", Objects: 1, Size: 3000},
			{Verb: Get, Text: "GET 1 OBJECT AT RATE 1 PER MS", Objects: 1, Rate: 1000},
			{Verb: Put, Text: "PUT 1 OBJECT OF SIZE 7 B", Objects: 1, Size: 7},
		},
		"PUT RUNTIME 5 1 OBJECTS OF SIZE 1 G": {
			{Verb: Put, Text: "PUT RUNTIME 5 1 OBJECTS OF SIZE 1 G", Objects: 1, Runtime: 5 * time.Second, Size: 1e9},
		},
		"PUT 1 OBJECTS OF SIZE 1.5 KiB": {{Verb: Put, Text: "PUT 1 OBJECTS OF SIZE 1.5 KiB", Objects: 1, Size: 1536}},
	} {
		for i := range want {
			want[i].Line = 1
			if want[i].Context == "" {
				want[i].Context = defaultContext
			}
			if want[i].Strategy == "" {
				want[i].Strategy = ConstantPrefix
			}
		}
		got, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got[0].Line = 1 // where comments precede it
		for i := range got {
			if got[i].Column < 1 {
				t.Errorf("%q: statement %d begins in column %d", text, i+1, got[i].Column)
			}
			got[i].Column = 0
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\n got %+v\nwant %+v", text, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                     `line 1, column 1: found the end of the script, expected PUT, REUSE, GET or DELETE`,
		"PTU 1 OBJECTS":        `line 1, column 1: found "PTU", expected PUT, REUSE, GET or DELETE (did you mean PUT?)`,
		"PUT;":                 `line 1, column 1: found a PUT statement without a number of OBJECTS or a RUNTIME, expected it to have that`,
		"GET IN CONTEXT \"x\"": `line 1, column 1: found a GET statement without a number of OBJECTS or a RUNTIME, expected it to have that`,
		"PUT 1 OBJECTS\n  PUT": `line 2, column 3: found "PUT", expected a number of OBJECTS, USING, AT, WARMUP, MAX, RUNTIME, RUN, FOR, IN, OF or ";" (a ";" before it begins the next statement)`,
		"PUT 0 OBJECTS":        `line 1, column 5: found "0", expected a whole number from 1 to 100000000`,
		"PUT 1.5 OBJECTS":      `line 1, column 5: found "1.5", expected a whole number from 1 to 100000000`,
		"GET OBJECTS\n  FOR 30 SECONDS\n  AT RATE 10 PER SEONCD": `line 3, column 18: found "SEONCD", expected SECOND, MILLISECOND, MINUTE, HOUR or DAY (did you mean SECOND?)`,
		"GET RUNTIME 5 SECNDS":                              `line 1, column 15: found "SECNDS", expected SECOND, MILLISECOND, MINUTE, HOUR or DAY (did you mean SECOND?)`,
		"PUT RUNTIME 5 GET":                                 `line 1, column 15: found "GET", expected a number of OBJECTS, USING, AT, WARMUP, MAX, RUNTIME, RUN, FOR, IN, OF or ";" (a ";" before it begins the next statement)`,
		"GET 1 OBJECTS RUNTIME 3 SECONDS FOR 4 SECONDS":     `line 1, column 33: found "FOR", expected ";" (the statement has that clause already, in line 1)`,
		"GET 1 OBJECTS WARMUP 3 SECONDS":                    `line 1, column 15: found WARMUP without AT RATE, expected a rate to warm up to`,
		"REUSE 1 OBJECTS":                                   `line 1, column 1: found a REUSE statement without USING NAMING STRATEGY … WITH SEED, expected it to have that`,
		"GET 1 OBJECTS OF SIZE 1 MB":                        `line 1, column 15: found "OF", expected a number of OBJECTS, AT, WARMUP, MAX, RUNTIME, RUN, FOR, IN or ";" (only PUT has that clause)`,
		"DELETE IN CONTEXT \"x":                             `line 1, column 19: found a quotation mark that is never closed, expected another " on the same line`,
		"DELETE /* x":                                       `line 1, column 8: found a comment that is never closed, expected */ further down`,
		"DELETE €":                                          `line 1, column 8: found "€", expected a number of OBJECTS, AT, WARMUP, MAX, RUNTIME, RUN, FOR, IN or ";"`,
		"PUT 1 OBJECTS OF SIZE 6 TIB":                       `line 1, column 23: found a size of "6", expected at most 5 TB, the largest object there is`,
		"PUT 1 OBJECTS AT RATE 1 PER HOUR MAX 1":            `line 1, column 39: found the end of the script, expected CONCURRENT`,
		"PUT 1 OBJECTS MAX 99999999999999999999 CONCURRENT": `line 1, column 19: found "99999999999999999999", expected a whole number from 1 to 100000000`,
	} {
		_, err := Parse(text)
		var own *Error
		if !errors.As(err, &own) || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

// FuzzParse wants every text to end, in statements or in an error that names a place in the text, and what was
// read to read the same again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"PUT 100 OBJECTS MAX 5 CONCURRENT OF SIZE 2 MB; GET 5 OBJECTS AT RATE 10 PER SECOND RUNTIME 1 MINUTE; DELETE;",
		"/* */ -- \n REUSE 1 OBJECTS USING NAMING STRATEGY RANDOM PREFIX WITH SEED \"x\" IN CONTEXT \"y\"", "\"", "GET 1e9 OBJECTS", "PUT 1 OBJECTS OF SIZE 1.5.5 MB",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Parse(text)
		if err != nil {
			var own *Error
			if !errors.As(err, &own) || own.Line < 1 || own.Line > 1+strings.Count(text, "\n") || own.Column < 1 || own.Found == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		for _, s := range all {
			again, err := Parse(s.Text)
			if err != nil || len(again) != 1 {
				t.Fatalf("%q from %q: %v", s.Text, text, err)
			}
			again[0].Line, again[0].Column = s.Line, s.Column
			if again[0] != s {
				t.Fatalf("%q: %+v, then %+v", text, s, again[0])
			}
		}
	})
}
