package oplog_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/oplog"
)

// frames returns the frames of a log of ten rows in each, the first one of which is the header.
func frames(t *testing.T) [][]byte {
	t.Helper()
	var log bytes.Buffer
	var all [][]byte
	w, err := oplog.NewWriter(&log, testlog.Header())
	check.OK(t, err)
	cut := func(err error) {
		check.OK(t, err)
		all = append(all, bytes.Clone(log.Bytes()))
		log.Reset()
	}
	cut(nil)
	for i := range 5 {
		check.OK(t, w.Write(testlog.Downloads(50)[10*i:10*i+10]))
		cut(w.Flush())
	}
	cut(w.Close(testlog.Trailer()))
	return all
}

func TestMissingAndRepeatedRows(t *testing.T) {
	t.Parallel()
	whole := frames(t)
	const missing, repeated = " rows are missing, by their numbers", " rows have the number (idx) of an earlier row"
	pick := func(of ...int) []byte {
		var log []byte
		for _, i := range of {
			log = append(log, whole[i]...)
		}
		return log
	}
	foreign := func(numbers ...any) []byte {
		log := "idx\tthread\top\tn_objects\tbytes\terror\tstart\tduration_ns\n"
		for _, n := range numbers {
			log += fmt.Sprint(n) + "\t1\tGET\t1\t5\t\t2026-05-01T12:00:00Z\t5\n"
		}
		return []byte(log)
	}
	for name, c := range map[string]struct {
		log  []byte
		want []string
	}{
		"whole":              {pick(0, 1, 2, 3, 4, 5, 6), nil},
		"first is missing":   {pick(0, 2, 3, 4, 5, 6), []string{"10" + missing}},
		"all are missing":    {pick(0, 6), []string{"50" + missing}},
		"holes":              {pick(0, 1, 3, 5, 6), []string{"20" + missing}},
		"last is missing":    {pick(0, 1, 2, 3, 4, 6), []string{"10" + missing}},
		"repeated":           {pick(0, 1, 2, 2, 2, 3, 4, 5, 6), []string{"20" + repeated}},
		"repeated later":     {pick(0, 1, 2, 3, 1, 4, 5, 6), []string{"10" + repeated}},
		"both":               {pick(0, 1, 1, 3, 4, 5, 6), []string{"10" + missing, "10" + repeated}},
		"another order":      {pick(0, 5, 3, 2, 1, 4, 6), nil},
		"hole and cut off":   {pick(0, 1, 3), []string{"no closing line", "10" + missing}},
		"foreign":            {foreign(0, 1, 2), nil},
		"foreign, a hole":    {foreign(0, 1, 5), []string{"3" + missing}},
		"foreign, twice":     {foreign(0, 1, 1, 0), []string{"2" + repeated}},
		"foreign, no number": {foreign("", "", "x"), nil},
		"foreign, all 0":     {foreign(0, 0, 0), nil},
	} {
		r, _, err := testlog.Decode(c.log, 7)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		ok := len(r.Warnings()) == len(c.want)
		for i := range min(len(c.want), len(r.Warnings())) {
			ok = ok && strings.Contains(r.Warnings()[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s: %q, want %q", name, r.Warnings(), c.want)
		}
		bothWays(t, c.log)
	}
}
