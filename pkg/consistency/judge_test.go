package consistency

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/pkg/oplog"
	"warp/pkg/results"
)

// parse reads a history, a line for each operation:
//
//	start-end OP key outcome condition sent received
//
// Times are in ms. "-" is an empty field.
func parse(t *testing.T, property, text string) []Operation {
	t.Helper()
	var all []Operation
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) != 7 {
			t.Fatalf("%q has %d fields", line, len(f))
		}
		for i := range f {
			if f[i] == "-" {
				f[i] = ""
			}
		}
		o := Operation{Op: f[1], Key: f[2], Check: &oplog.Check{Property: property, Outcome: f[3], Condition: f[4], Sent: f[5], Received: f[6]}}
		if _, err := fmt.Sscanf(f[0], "%d-%d", &o.Start, &o.End); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		o.Start, o.End = o.Start*1e6, o.End*1e6
		all = append(all, o)
	}
	return all
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const held, violated, undecided = results.ConsistencyHeld, results.ConsistencyViolated, results.ConsistencyUndecided
	for _, test := range []struct{ name, property, history, verdict, rule string }{
		{"one winner", Create, `
			0-5 PUT k won absent 0-0-1:1 -
			1-6 PUT k lost absent 0-1-1:1 -
			9-9 GET k won - - 0-0-1:1`, held, ""},
		{"two winners", Create, `
			0-5 PUT k won absent 0-0-1:1 -
			1-6 PUT k won absent 0-1-1:1 -`, violated, ruleTwoCreations},
		{"nobody won", Create, `
			0-5 PUT k lost absent 0-0-1:1 -
			1-6 PUT k lost absent 0-1-1:1 -
			9-9 GET k absent - - -`, held, ""},
		{"the winner's answer was dropped", Create, `
			0-5 PUT k unknown absent 0-0-1:1 -
			1-6 PUT k lost absent 0-1-1:1 -
			9-9 GET k won - - 0-0-1:1`, held, ""},
		{"a loser's content and no winner", Create, `
			0-5 PUT k lost absent 0-0-1:1 -
			1-6 PUT k lost absent 0-1-1:1 -
			9-9 GET k won - - 0-0-1:1`, undecided, ruleOwnWrite},
		{"a deletion was repeated on the way", DeleteIf, `
			0-5 PUT k won - 0-0-1:1 -
			6-8 DELETE k lost is:0-0-1:1 0-0-2:2 -
			9-9 GET k absent - - -`, undecided, ruleOwnDeletion},
		{"a loser's content and a winner", Create, `
			0-5 PUT k won absent 0-0-1:1 -
			1-6 PUT k lost absent 0-1-1:1 -
			9-9 GET k won - - 0-1-1:1`, violated, ruleTwoCreations},
		{"a request with unknown outcome replaced the winner's object", Create, `
			0-5 PUT k won absent 0-0-1:1 -
			1-6 PUT k unknown absent 0-1-1:1 -
			9-9 GET k won - - 0-1-1:1`, violated, ruleTwoCreations},
		{"the winner's object is gone", Create, `
			0-5 PUT k won absent 0-0-1:1 -
			9-9 GET k absent - - -`, violated, ruleNoOrder},
		{"content of nobody", Create, `
			0-5 PUT k won absent 0-0-1:1 -
			9-9 GET k won - - 0-7-1:1`, violated, ruleNeverWritten},
		{"a refused write took effect", Create, `
			0-5 PUT k failed - 0-0-1:1 -
			9-9 GET k won - - 0-0-1:1`, violated, ruleRefusedWrite},
		{"content of a client without a log", Create, `
			0-5 PUT k lost absent 0-0-1:1 -
			9-9 GET k won - - 1-7-1:1`, held, ""},
		{"a false condition was accepted", Create, `
			0-5 PUT k won - 0-0-1:1 -
			6-7 PUT k won false:absent 0-0-2:1 -`, violated, "ignored: a request whose condition was false succeeded"},
		{"a false condition was refused", Create, `
			0-5 PUT k won - 0-0-1:1 -
			6-7 PUT k lost false:absent 0-0-2:1 -`, held, ""},
		{"no request with a condition was answered", Create, `
			6-7 PUT k failed absent 0-0-2:1 -
			9-9 GET k absent - - -`, undecided, "no request with a condition was answered"},
		{"no deletion with a condition was answered", DeleteIf, `
			0-1 PUT k won - 0-0-1:1 -
			2-3 PUT k won is:0-0-1:1 0-0-2:2 -
			4-5 DELETE k failed is:0-0-1:1 0-0-3:2 -
			9-9 GET k won - - 0-0-2:2`, undecided, "no request with a condition was answered"},
		{"a similar ETag was accepted", Register, `
			0-1 PUT k won - 0-0-1:1 -
			2-3 PUT k won false:like:0-0-1:1 0-0-2:2 -`, violated, "ignored: a request whose condition was false succeeded"},
		{"a similar ETag was not understood", Register, `
			0-1 PUT k won - 0-0-1:1 -
			2-3 PUT k unsupported false:like:0-0-1:1 0-0-2:2 -
			4-5 PUT k won is:0-0-1:1 0-0-3:2 -`, held, ""},
		{"a condition that the store does not know", Create, `
			6-7 PUT k unsupported false:absent 0-0-2:1 -`, results.ConsistencyNotSupported, ""},

		{"a counter", Register, `
			0-1 PUT k won absent 0-0-1:0 -
			2-3 GET k won - - 0-0-1:0
			4-6 PUT k won is:0-0-1:0 0-0-2:1 -
			4-7 PUT k lost is:0-0-1:0 0-1-1:1 -
			8-9 GET k won - - 0-0-2:1`, held, ""},
		{"two updates of the same version", Register, `
			0-1 PUT k won absent 0-0-1:0 -
			4-6 PUT k won is:0-0-1:0 0-0-2:1 -
			4-7 PUT k won is:0-0-1:0 0-1-1:1 -`, violated, ruleTwoWinners},
		{"an update of an old version", Register, `
			0-1 PUT k won absent 0-0-1:0 -
			2-3 PUT k won is:0-0-1:0 0-0-2:1 -
			4-5 PUT k won is:0-0-2:1 0-0-3:2 -
			6-7 GET k won - - 0-0-2:1`, violated, ruleNoOrder},
		{"an update that lands after its timeout", Register, `
			0-1 PUT k won absent 0-0-1:0 -
			2-3 PUT k unknown is:0-0-1:0 0-0-2:1 -
			4-5 GET k won - - 0-0-1:0
			9-9 GET k won - - 0-0-2:1`, held, ""},
		{"no progress but without conditions", Register, `
			0-1 PUT k won - 0-0-1:1 -
			1-1 PUT k won - 0-0-2:2 -
			2-3 PUT k lost is:0-0-2:2 0-0-3:3 -`, undecided, "no progress"},
		{"no progress", Register, `
			0-1 PUT k won absent 0-0-1:0 -
			2-3 PUT k lost is:0-0-1:0 0-0-2:1 -`, undecided, "no progress"},

		{"an object that had changed was deleted", DeleteIf, `
			0-1 PUT k won absent 0-0-1:1 -
			2-5 PUT k won is:0-0-1:1 0-0-2:2 -
			2-5 DELETE k won is:0-0-1:1 0-0-3:2 -`, violated, ruleTwoWinners},
		{"an object that had changed survived", DeleteIf, `
			0-1 PUT k won absent 0-0-1:1 -
			2-5 PUT k won is:0-0-1:1 0-0-2:2 -
			2-5 DELETE k lost is:0-0-1:1 0-0-3:2 -
			6-7 GET k won - - 0-0-2:2`, held, ""},
		{"a deletion", DeleteIf, `
			0-1 PUT k won absent 0-0-1:1 -
			2-5 PUT k lost is:0-0-1:1 0-0-2:2 -
			2-5 DELETE k won is:0-0-1:1 0-0-3:2 -
			6-7 GET k absent - - -`, held, ""},
		{"a deletion without effect", DeleteIf, `
			0-1 PUT k won absent 0-0-1:1 -
			2-5 DELETE k won is:0-0-1:1 0-0-3:2 -
			6-7 GET k won - - 0-0-1:1`, violated, ruleNoOrder},
		{"a deletion that lost has deleted", DeleteIf, `
			0-1 PUT k won absent 0-0-1:1 -
			2-5 PUT k won is:0-0-1:1 0-0-2:2 -
			2-5 DELETE k lost is:0-0-1:1 0-0-3:2 -
			6-7 GET k absent - - -`, violated, ruleTwoWinners},

		{"a completion after an abort", CompleteIf, `
			0-1 ABORT k won - 0-0-1:1 -
			2-3 COMPLETE k won false:aborted 0-0-1:1 -`, violated, ruleAborted},
		{"no completion after an abort", CompleteIf, `
			0-1 ABORT k won - 0-0-1:1 -
			2-3 COMPLETE k failed false:aborted 0-0-1:1 -
			4-5 COMPLETE j won absent 0-0-2:1 -`, held, ""},

		{"the last version", ReadAfterWrite, `
			0-1 PUT k won - 0-0-1:1 -
			2-3 PUT k won - 0-0-2:2 -
			4-5 GET k won - - 0-0-2:2`, held, ""},
		{"a version that is being written", ReadAfterWrite, `
			0-1 PUT k won - 0-0-1:1 -
			2-9 PUT k won - 0-0-2:2 -
			4-5 GET k won - - 0-0-2:2
			6-7 GET k won - - 0-0-1:1`, held, ""},
		{"no write succeeded", ReadAfterWrite, `
			0-1 PUT k failed - 0-0-1:1 -
			4-5 GET k absent - - -`, undecided, "no write succeeded"},
		{"an old version", ReadAfterWrite, `
			0-1 PUT k won - 0-0-1:1 -
			2-3 PUT k won - 0-0-2:2 -
			4-5 GET k won - - 0-0-1:1`, violated, ruleStale},
		{"a refused write took effect, one writer", ReadAfterWrite, `
			0-1 PUT k won - 0-0-1:1 -
			2-3 PUT k failed - 0-0-2:2 -
			4-5 GET k won - - 0-0-2:2`, violated, ruleRefusedWrite},
		{"a refused overwrite took effect", Whole, `
			0-1 PUT k won - 0-0-1:1 -
			2-3 COMPLETE k failed - 0-0-2:2 -
			4-5 GET k won - - 0-0-2:2`, violated, ruleRefusedWrite},
		{"a lost object", ReadAfterWrite, `
			0-1 PUT k won - 0-0-1:1 -
			4-5 STAT k absent - - -`, violated, ruleGone},
		{"a deletion that was skipped", ReadAfterWrite, `
			0-1 PUT k won - 0-0-1:1 -
			2-3 DELETE k won - 0-0-2:2 -
			4-5 GET k won - - 0-0-1:1`, violated, ruleBack},
		{"a deletion that was skipped, by HEAD", ReadAfterWrite, `
			0-1 PUT k won - 0-0-1:1 -
			2-3 DELETE k won - 0-0-2:2 -
			4-5 STAT k won - - -`, violated, ruleBack},
		{"a deletion whose answer was lost", ReadAfterWrite, `
			0-1 PUT k won - 0-0-1:1 -
			2-3 DELETE k unknown - 0-0-2:2 -
			4-5 GET k won - - 0-0-1:1
			6-7 GET k absent - - -`, held, ""},
		{"a write that lands after its timeout", ReadAfterWrite, `
			0-1 PUT k won - 0-0-1:1 -
			2-3 PUT k unknown - 0-0-2:2 -
			4-5 GET k won - - 0-0-1:1
			8-9 GET k won - - 0-0-2:2`, held, ""},
		{"a write that lands and disappears", ReadAfterWrite, `
			0-1 PUT k won - 0-0-1:1 -
			2-3 PUT k unknown - 0-0-2:2 -
			4-5 GET k won - - 0-0-2:2
			8-9 GET k won - - 0-0-1:1`, violated, ruleTurnedBack},

		{"a listing", ListAfterWrite, `
			0-1 PUT d/0.x.rnd won - 0-0-1:1 -
			0-1 PUT d/1.x.rnd won - 0-0-2:1 -
			2-3 DELETE d/1.x.rnd won - 0-0-3:2 -
			4-5 LIST d/ won - - 0`, held, ""},
		{"an object that is not listed", ListAfterWrite, `
			0-1 PUT d/0.x.rnd won - 0-0-1:1 -
			0-1 PUT d/1.x.rnd won - 0-0-2:1 -
			4-5 LIST d/ won - - 1`, violated, ruleNotListed},
		{"an object that is listed still", ListAfterWrite, `
			0-1 PUT d/0.x.rnd won - 0-0-1:1 -
			2-3 DELETE d/0.x.rnd won - 0-0-3:2 -
			4-5 LIST d/ won - - 0`, violated, ruleListedStill},
		{"changes during a listing", ListAfterWrite, `
			0-1 PUT d/0.x.rnd won - 0-0-1:1 -
			2-6 DELETE d/0.x.rnd won - 0-0-3:2 -
			0-1 PUT d/1.x.rnd unknown - 0-0-2:1 -
			4-5 LIST d/ won - - 0-1
			4-5 LIST d/ won - - -`, held, ""},
		{"a listing without order", ListAfterWrite, `
			0-1 PUT d/0.x.rnd won - 0-0-1:1 -
			4-5 LIST d/ won - - 0;unsorted`, violated, ruleUnsorted},
		{"a name twice", ListAfterWrite, `
			0-1 PUT d/0.x.rnd won - 0-0-1:1 -
			4-5 LIST d/ won - - 0;twice`, violated, ruleListedTwice},
		{"a name of nobody", ListAfterWrite, `
			0-1 PUT d/0.x.rnd won - 0-0-1:1 -
			4-5 LIST d/ won - - 0-1`, violated, ruleForeignName},

		{"a mixture", Whole, `
			0-1 PUT k won - 0-0-1:1 -
			2-3 PUT k won - 0-0-2:2 -
			2-5 GET k won - - 0-0-1:1+0-0-2:2`, violated, ruleMixture},
		{"a damaged body", Whole, `
			0-1 PUT k won - 0-0-1:1 -
			2-5 GET k won - - !bad`, violated, ruleDamaged},
		{"a range of another version", Whole, `
			0-1 PUT k won - 0-0-1:1 -
			2-3 PUT k won - 0-0-2:2 -
			4-5 GET k won is:0-0-1:1 - 0-0-2:2`, violated, ruleNotThat},
		{"a range that is refused", Whole, `
			0-1 PUT k won - 0-0-1:1 -
			2-3 PUT k won - 0-0-2:2 -
			4-5 GET k lost is:0-0-1:1 - -
			6-7 GET k won - - 0-0-2:2`, held, ""},
		{"parts that are visible early", Whole, `
			0-1 PUT k won - 0-0-1:1 -
			4-5 GET k won - - 0-0-2:2
			6-9 COMPLETE k won - 0-0-2:2 -`, violated, ruleTooEarly},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			log := &Log{Operations: parse(t, test.property, test.history), Complete: map[int]bool{0: true}}
			log.Properties = []string{test.property}
			p := Judge(log).Properties[0]
			if p.Verdict != test.verdict || !strings.Contains(p.Reason, test.rule) {
				t.Errorf("%s (%s), want %s (%s)", p.Verdict, p.Reason, test.verdict, test.rule)
			}
			if proven := p.Verdict == violated || p.Verdict == undecided && p.Undecided > 0; proven && (len(p.Shown) == 0 || len(p.Shown[0].History) == 0) {
				t.Error("there is no history that proves it")
			}
			log.NotPromised = map[string]string{test.property: "nobody did"}
			if p := Judge(log).Properties[0]; p.Verdict != results.ConsistencyNotPromised {
				t.Errorf("%s although it was not promised", p.Verdict)
			}
		})
	}
}

// What one fault of the store causes is counted and shown once, however often it is seen.
func TestViolationsAreCountedOnce(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, property, history string
		violations              int
		rules                   []string // of them, each once
	}{
		{"three reads after a lost update, and one after the next", Register, `
			0-1 PUT k won absent 0-0-1:0 -
			2-3 PUT k won is:0-0-1:0 0-0-2:1 -
			2-3 PUT k won is:0-0-1:0 0-1-2:1 -
			4-5 GET k won - - 0-1-2:1
			6-7 GET k won - - 0-1-2:1
			8-9 PUT k won is:0-1-2:1 0-0-3:2 -
			10-11 GET k won - - 0-0-3:2
			12-13 PUT k won is:0-0-3:2 0-0-4:3 -
			12-13 PUT k won is:0-0-3:2 0-1-4:3 -
			14-15 GET k won - - 0-0-4:3`,
			6, []string{ruleTwoWinners, ruleSameValue, ruleLostUpdate}},
		{"one history that proves two conflicts of values", Create, `
			0-1 PUT k won absent 0-0-1:1 -
			4-6 PUT k won absent 0-1-1:1 -
			9-9 GET k won - - 0-0-1:1`,
			2, []string{ruleTwoCreations, ruleNoOrder}},
		{"one late read of the first value, after three others", Create, `
			0-1 PUT k won - 0-0-1:1 -
			2-3 PUT k won - 0-0-2:1 -
			4-4 GET k won - - 0-0-2:1
			5-6 PUT k won - 0-0-3:1 -
			7-7 GET k won - - 0-0-3:1
			8-9 PUT k won - 0-0-4:1 -
			10-11 GET k won - - 0-0-1:1`,
			1, []string{ruleNoOrder}},
		{"one answer that the object is absent, after three versions", Create, `
			0-1 PUT k won - 0-0-1:1 -
			1-2 GET k won - - 0-0-1:1
			4-5 PUT k won - 0-0-2:1 -
			6-7 PUT k won - 0-0-3:1 -
			8-9 GET k absent - - -
			10-11 GET k won - - 0-0-3:1`,
			1, []string{ruleNoOrder}},
	} {
		log := &Log{Operations: parse(t, test.property, test.history), Complete: map[int]bool{0: true}}
		log.Properties = []string{test.property}
		p := Judge(log).Properties[0]
		var rules []string
		for _, v := range p.Shown {
			rules = append(rules, v.Rule)
		}
		slices.Sort(rules)
		slices.Sort(test.rules)
		if rules = slices.Compact(rules); int(p.Violations) != test.violations || !slices.Equal(rules, test.rules) {
			t.Errorf("%s: %d violations, want %d; %q, want %q", test.name, p.Violations, test.violations, rules, test.rules)
		}
	}
}

func TestViolationsNameTheMarkBefore(t *testing.T) {
	t.Parallel()
	log := &Log{Operations: parse(t, ReadAfterWrite, "0-1 PUT k won - 0-0-1:1 -\n4-5 GET k absent - - -"), Complete: map[int]bool{0: true},
		Marks: []oplog.Mark{{At: 3e6, Text: "disk pulled"}, {At: 9e6, Text: "disk back"}}}
	log.Properties = []string{ReadAfterWrite}
	if v := Judge(log).Properties[0].Shown[0]; v.AfterMark != "disk pulled" || v.AfterMarkS != 0.002 {
		t.Errorf("after %q by %g s", v.AfterMark, v.AfterMarkS)
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	first, second := AppendBody(nil, "k", "0-0-1:1", 3), AppendBody(nil, "k", "0-0-2:2", 3)
	mixed := append(append([]byte(nil), first[:BlockSize]...), second[BlockSize:]...)
	flipped := append([]byte(nil), first...)
	flipped[5000] ^= 1
	for _, test := range []struct {
		name, want string
		body       []byte
		from       int
		blocks     int
	}{
		{"whole", "0-0-1:1", first, 0, 0},
		{"a range", "0-0-2:2", second[BlockSize:], 1, 2},
		{"mixed", "0-0-1:1+0-0-2:2", mixed, 0, 0},
		{"a flipped bit", "!block 1 has a wrong checksum", flipped, 0, 0},
		{"cut off at a block", "!it has 2 of 3 blocks", first[:2*BlockSize], 0, 0},
		{"cut off in a block", "!9000 bytes are not whole blocks", first[:9000], 0, 0},
		{"empty", "!it is empty", nil, 0, 0},
		{"an ignored range", "!it begins with block 0, and the range that was asked for with block 1", first, 1, 1},
		{"repeated blocks", "!block 0 is where block 1 belongs", slices.Concat(first[:BlockSize], first), 0, 0},
		{"a short range", "!it has 1 blocks instead of 2", second[BlockSize : 2*BlockSize], 1, 2},
		{"a range up to the end", "0-0-2:2", second[BlockSize:], 1, 5},
		{"another object", "!block 0 belongs to another object", AppendBody(nil, "j", "0-0-1:1", 1), 0, 0},
	} {
		for _, piece := range []int{1 << 20, 1000, BlockSize + 1} {
			var b Body
			b.Reset("k", test.from, test.blocks)
			for rest := test.body; len(rest) > 0; rest = rest[min(piece, len(rest)):] {
				if _, err := b.Write(rest[:min(piece, len(rest))]); err != nil {
					t.Fatal(err)
				}
			}
			if got := b.Finish(); got != test.want {
				t.Errorf("%s, in pieces of %d: %s, want %s", test.name, piece, got, test.want)
			}
		}
	}
}

func TestListingText(t *testing.T) {
	t.Parallel()
	l := Listing{Unsorted: true}
	for _, n := range []uint64{4, 0, 1, 2, 9} {
		l.Add(n)
	}
	text := l.String()
	if text != "0-2,4,9;unsorted" {
		t.Error(text)
	}
	back, ok := ParseListing(text)
	if !ok || back.String() != text {
		t.Errorf("%v, %v", back, ok)
	}
	for _, bad := range []string{"x", "3-1", "1;odd", "0-99999999999"} {
		if _, ok := ParseListing(bad); ok {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// With two clocks, only what their error cannot explain is a violation. Of one client, the order is known.
func TestClockError(t *testing.T) {
	t.Parallel()
	history := func(reader string) *Collector {
		var c Collector
		row := func(op, client string, start, end int64, check oplog.Check) oplog.Record {
			check.Property, check.Outcome = ReadAfterWrite, Won
			return oplog.Record{Op: op, Key: "k", Client: client, Start: 1e9 + start*1e6, Duration: time.Duration((end - start) * 1e6), Check: &check}
		}
		c.Add([]oplog.Record{
			row(Put, "a", 0, 1, oplog.Check{Sent: "0-0-1:1"}), row(Put, "a", 2, 3, oplog.Check{Sent: "0-0-2:2"}),
			row(Get, reader, 5, 6, oplog.Check{Received: "0-0-1:1"}),
		})
		return &c
	}
	header := func(error time.Duration) oplog.Header {
		own := oplog.Header{ClockError: int64(error)}
		return oplog.Header{Checks: &oplog.Checks{Properties: []string{ReadAfterWrite}}, Merged: []oplog.Origin{{Client: "a", Header: own}, {Client: "b", Header: own}}}
	}
	trailer := oplog.Trailer{End: "completed", Merged: []*oplog.Trailer{{End: "completed"}, {End: "completed"}}}
	for _, test := range []struct {
		reader  string
		error   time.Duration
		verdict string
	}{
		{"b", 500 * time.Microsecond, results.ConsistencyViolated},
		{"b", 2 * time.Millisecond, results.ConsistencyHeld},
		{"a", 2 * time.Millisecond, results.ConsistencyViolated},
	} {
		r := Judge(history(test.reader).Log(header(test.error), trailer, nil))
		if got := r.Properties[0].Verdict; got != test.verdict {
			t.Errorf("read by %s with clocks that are wrong by %v: %s, want %s", test.reader, test.error, got, test.verdict)
		}
	}
}

// A client that was killed has written what its log does not say.
func TestIncompleteLogs(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"completed", ""} {
		var c Collector
		c.Add([]oplog.Record{
			{Op: Put, Key: "k", Client: "a", Start: 1e9, Duration: 1e6, Check: &oplog.Check{Property: Create, Outcome: Lost, Condition: IfAbsent, Sent: "0-0-1:1"}},
			{Op: Get, Key: "k", Client: "a", Start: 2e9, Duration: 1e6, Check: &oplog.Check{Property: Create, Outcome: Won, Received: "0-1-1:1"}},
		})
		r := Judge(c.Log(oplog.Header{Client: "a", Checks: &oplog.Checks{Properties: []string{Create}}}, oplog.Trailer{End: end}, nil))
		want := map[string]string{"completed": results.ConsistencyViolated, "": results.ConsistencyHeld}[end]
		if p := r.Properties[0]; p.Verdict != want || r.Incomplete != (end == "") {
			t.Errorf("a log with the end %q: %s (%s)", end, p.Verdict, p.Reason)
		}
	}
}

// A log that was cut off lacks the last requests, such as the deletion that explains what a read saw.
func TestCutOffLogs(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"completed", ""} {
		var c Collector
		c.Add([]oplog.Record{
			{Op: Put, Key: "k", Client: "a", Start: 1e9, Duration: 1e6, Check: &oplog.Check{Property: DeleteIf, Outcome: Won, Sent: "0-0-1:1"}},
			{Op: Get, Key: "k", Client: "a", Start: 2e9, Duration: 1e6, Check: &oplog.Check{Property: DeleteIf, Outcome: Absent}},
		})
		r := Judge(c.Log(oplog.Header{Client: "a", Checks: &oplog.Checks{Properties: []string{DeleteIf}}}, oplog.Trailer{End: end}, nil))
		if got := r.Properties[0].Violations; (got > 0) != (end == "completed") {
			t.Errorf("a log with the end %q has %d violations", end, got)
		}
	}
}
