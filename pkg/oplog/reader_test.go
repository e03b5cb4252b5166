package oplog_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/oplog"
	"warp/pkg/oplog/lines"
)

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		records := testlog.Everything(rand.New(rand.NewPCG(seed, 1)), 400, "run1", "c")
		log := testlog.Encode(t, testlog.Header(), testlog.Trailer(), records, 130)
		for _, batch := range []int{1, 7, 1000} {
			r, got, err := testlog.Decode(log, batch)
			check.OK(t, err)
			testlog.Same(t, got, records)
			end := testlog.Trailer()
			end.Rows = int64(len(records))
			if !reflect.DeepEqual(r.Header(), testlog.Header()) || !reflect.DeepEqual(r.Trailer(), end) {
				t.Errorf("header %+v, trailer %+v", r.Header(), r.Trailer())
			}
			if len(r.Warnings())+len(r.Comments()) > 0 {
				t.Errorf("warnings %q, comments %q", r.Warnings(), r.Comments())
			}
		}
	}
}

// Cut anywhere, a log gives every row of the frames that are whole, then
// nothing wrong, and says that it was cut.
func TestTruncatedAnywhere(t *testing.T) {
	t.Parallel()
	records := testlog.Everything(rand.New(rand.NewPCG(3, 1)), 40, "run1", "c")
	log := testlog.Encode(t, testlog.Header(), testlog.Trailer(), records, 7)
	best := 0
	for n := range log {
		r, got, err := testlog.Decode(log[:n], 16)
		if err != nil {
			if len(got) > 0 || best > 0 {
				t.Fatalf("cut at %d of %d: %v", n, len(log), err)
			}
			continue
		}
		testlog.Same(t, got, records[:len(got)])
		if len(got) < best {
			t.Fatalf("cut at %d: %d rows, although %d were whole before", n, len(got), best)
		}
		best = len(got)
		if len(r.Warnings()) == 0 {
			t.Fatalf("cut at %d: no warning", n)
		}
	}
	if best != len(records) {
		t.Errorf("only %d rows before the last byte", best)
	}
}

func TestTruncatedPlainText(t *testing.T) {
	t.Parallel()
	records := testlog.Everything(rand.New(rand.NewPCG(3, 1)), 20, "run1", "c")
	log := testlog.Unzstd(t, testlog.Encode(t, testlog.Header(), testlog.Trailer(), records, 7))
	first := bytes.Index(log, []byte("\n0\t")) + 1
	for n := first; n < len(log); n++ {
		r, got, err := testlog.Decode(log[:n], 16)
		if err != nil {
			t.Fatalf("cut at %d of %d: %v", n, len(log), err)
		}
		testlog.Same(t, got, records[:len(got)])
		if len(r.Warnings()) == 0 && n < len(log)-1 {
			t.Fatalf("cut at %d: no warning", n)
		}
	}
}

const foreignHead = "idx\tthread\top\tn_objects\tbytes\tfile\terror\tstart\tfirst_byte\tend\tduration_ns\n"

func foreignRow(edit ...string) string {
	row := "0\t1\tGET\t1\t10\tkey\t\t2019-11-13T17:07:06.3173431+01:00\t2019-11-13T17:07:06.3180000+01:00\t2019-11-13T17:07:06.3943418+01:00\t76998700\n"
	return strings.NewReplacer(edit...).Replace(row)
}

func TestForeignLogs(t *testing.T) {
	t.Parallel()
	base := oplog.Record{Op: "GET", Key: "key", Thread: 1, Objects: 1, Bytes: 10, FirstByte: 656900, Duration: 76998700,
		Start: time.Date(2019, 11, 13, 16, 7, 6, 317343100, time.UTC).UnixNano()}
	with := func(f func(*oplog.Record)) oplog.Record { r := base; f(&r); return r }
	whole := foreignHead + foreignRow()
	for name, c := range map[string]struct {
		log      string
		want     oplog.Record
		warnings int
	}{
		"as it is":           {whole, base, 0},
		"CRLF":               {strings.ReplaceAll(whole, "\n", "\r\n"), base, 0},
		"no last line end":   {strings.TrimSuffix(whole, "\n"), base, 0},
		"byte order mark":    {"\uFEFF" + whole, base, 0},
		"comments":           {"# before\n" + foreignHead + "# between\n\n" + foreignRow() + "# after", base, 0},
		"stray quote":        {foreignHead + foreignRow("key", `k"e"y`), with(func(r *oplog.Record) { r.Key = `k"e"y` }), 0},
		"quoted":             {foreignHead + foreignRow("key", "\"k\"\"\te\ny\""), with(func(r *oplog.Record) { r.Key = "k\"\te\ny" }), 0},
		"lazy quote inside":  {foreignHead + foreignRow("key", `"k"ey"`), with(func(r *oplog.Record) { r.Key = `k"ey` }), 0},
		"no duration":        {foreignHead + foreignRow("76998700", ""), base, 0},
		"no end":             {foreignHead + foreignRow("2019-11-13T17:07:06.3943418+01:00", ""), base, 0},
		"extra column":       {strings.ReplaceAll(foreignHead, "\n", "\tnew\n") + foreignRow("\n", "\tx y\n"), base, 0},
		"west of Greenwich":  {strings.ReplaceAll(strings.ReplaceAll(whole, "T17", "T12"), "+01:00", "-04:00"), base, 0},
		"first byte too old": {foreignHead + foreignRow("06.3180000", "05.0000000"), with(func(r *oplog.Record) { r.FirstByte = 0 }), 1},
		"first byte at once": {foreignHead + foreignRow("06.3180000", "06.3173431"), with(func(r *oplog.Record) { r.FirstByte = oplog.AtStart }), 0},
		"cut row":            {whole + "1\t1\tGET\t1\t10\tk", base, 1},
		"cut duration":       {whole + strings.TrimSuffix(foreignRow("76998700", "769987"), "\n"), base, 1},
	} {
		r, got, err := testlog.Decode([]byte(c.log), 5)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, c.want)
		}
		if len(r.Warnings()) != c.warnings {
			t.Errorf("%s: warnings %q", name, r.Warnings())
		}
	}
	if r, _, err := testlog.Decode([]byte("# before\n"+foreignHead+foreignRow()+"# after"), 5); err != nil || !reflect.DeepEqual(r.Comments(), []string{"before", "after"}) {
		t.Errorf("comments %q, %v", r.Comments(), err)
	}
}

func TestGzip(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, foreignHead+strings.Repeat(foreignRow(), 1000)); err != nil {
		t.Fatal(err)
	}
	check.OK(t, z.Close())
	if _, rows, err := testlog.Decode(b.Bytes(), 64); err != nil || len(rows) != 1000 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	r, _, err := testlog.Decode(b.Bytes()[:b.Len()-10], 64)
	if err != nil || len(r.Warnings()) != 1 {
		t.Errorf("cut: %v %q", err, r.Warnings())
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	two := foreignRow()
	for name, c := range map[string]struct{ log, want string }{
		"empty":            {"", "test.csv: the file is empty"},
		"only a comment":   {"# hello\n", "no line with column names"},
		"JSON":             {"{\"a\": 1,\n \"b\": 2}\n", "this is a JSON document"},
		"binary":           {"\x7fELF\x00\x01\x02\t\t\t\t\n", "line 1: this is not an op log"},
		"no line at all":   {strings.Repeat("x", 3<<20), "this is not an op log"},
		"missing column":   {strings.Replace(foreignHead, "\tbytes", "", 1), "line 1, column bytes: the column is missing"},
		"no end":           {strings.Replace(foreignHead, "\tend\tduration_ns", "", 1), "line 1, column end: the column is missing, and so is duration_ns"},
		"column twice":     {strings.Replace(foreignHead, "bytes", "op", 1), "line 1, column op: the column occurs twice"},
		"few fields":       {foreignHead + foreignRow("key\t", "") + two, "line 2: 10 fields where the first line names 11"},
		"many fields":      {foreignHead + foreignRow("key", "k\te\ty") + two, "line 2: 13 fields where the first line names 11"},
		"few, quoted":      {foreignHead + foreignRow("key\t", `"`) + two, "this field starts with a quote"},
		"bad number":       {foreignHead + two + foreignRow("\t10\t", "\tten\t") + two, `line 3, column bytes: "ten"`},
		"negative number":  {foreignHead + foreignRow("\t10\t", "\t-10\t") + two, `line 2, column bytes: "-10" is negative`},
		"huge number":      {foreignHead + foreignRow("\t10\t", "\t99999999999999999999\t") + two, "column bytes"},
		"huge thread":      {foreignHead + foreignRow("\t1\tGET", "\t4294967296\tGET") + two, "column thread"},
		"bad time":         {foreignHead + foreignRow("2019-11-13T17:07:06.3173431", "2019-13-13T17:07:06.3173431") + two, "line 2, column start: "},
		"year 1":           {foreignHead + foreignRow("2019-11-13T17:07:06.3173431", "0001-01-01T17:07:06.3173431") + two, "column start"},
		"no start":         {foreignHead + foreignRow("2019-11-13T17:07:06.3173431+01:00", "") + two, "column start: the field is empty"},
		"no op":            {foreignHead + foreignRow("GET", "") + two, "column op: the field is empty"},
		"NUL":              {foreignHead + foreignRow("key", "k\x00y") + two, "line 2, column file: a NUL byte"},
		"NUL, quoted":      {foreignHead + foreignRow("key", "\"k\x00y\"") + two, "line 2, column file: a NUL byte"},
		"ends before":      {foreignHead + foreignRow("76998700", "", "T17:07:06.3943418", "T16:07:06.3943418") + two, "column end: the request ends"},
		"neither":          {foreignHead + foreignRow("76998700", "", "2019-11-13T17:07:06.3943418+01:00", "") + two, "column end: the row has neither"},
		"huge line":        {foreignHead + foreignRow("key", strings.Repeat("k", 2<<20)) + two, "line 2: the line is longer than 1 MiB"},
		"open quote":       {foreignHead + foreignRow("key", `"key`) + strings.Repeat(two, 20000), "line 2, column file: this field starts with a quote"},
		"second head line": {foreignHead + two + foreignHead + two, "line 3, column thread: a second line of column names"},
		"origins overlap":  {foreignHead + `# {"warp":"","merged":[{"threads":4},{"offset":3,"threads":1}]}` + "\n" + two, "two runs"},
		"unknown thread":   {foreignHead + `# {"warp":"","merged":[{"threads":1}]}` + "\n" + two, `line 3, column thread: thread 1 of client ""`},
	} {
		_, _, err := testlog.Decode([]byte(c.log), 5)
		var re *oplog.ReadError
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &re) {
			if name == "few, quoted" && err == nil {
				continue // the quote runs into the end, which is a cut log
			}
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err != nil && (len(err.Error()) > 300 || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: not one clear line: %v", name, err)
		}
	}
}

// Damage never passes unnoticed. Rows of the damaged frame may be wrong, since
// its checksum comes last; the error makes whoever reads throw them away.
func TestDamagedZstd(t *testing.T) {
	t.Parallel()
	records := testlog.Everything(rand.New(rand.NewPCG(3, 1)), 60, "run1", "c")
	log := testlog.Encode(t, testlog.Header(), testlog.Trailer(), records, 10)
	for n := range log {
		bad := bytes.Clone(log)
		bad[n] ^= 0x55
		r, got, err := testlog.Decode(bad, 16)
		if err != nil {
			continue
		}
		if len(got) < len(records) && len(r.Warnings()) == 0 {
			t.Fatalf("damage at %d: %d rows and no word about it", n, len(got))
		}
		testlog.Same(t, got, records[:len(got)])
	}
}

// A frame may demand a window that nobody has the memory for.
func TestHostileWindow(t *testing.T) {
	t.Parallel()
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0x01, 0x00, 0x00}
	if _, _, err := testlog.Decode(append(frame, make([]byte, 100)...), 10); err == nil {
		t.Error("accepted")
	}
}

func TestSharedLogs(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "..", "shared", "data")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no logs of other implementations at %s", dir)
	}
	for name, want := range map[string]map[string]int{
		"get-2019-old-columns": {"PUT": 1000, "GET": 20948},
		"get-mixed-sizes":      {"PUT": 200, "GET": 19891},
		"mixed":                {"STAT": 2118, "GET": 3171, "DELETE": 708, "PUT": 1053},
	} {
		r, err := oplog.Open(filepath.Join(dir, name+".csv.zst"))
		check.OK(t, err)
		_, rows, err := testlog.Drain(r, 100)
		check.OK(t, err)
		got := map[string]int{}
		for _, row := range rows {
			got[row.Op]++
		}
		if !reflect.DeepEqual(got, want) || len(r.Warnings()) > 0 {
			t.Errorf("%s: %v, want %v; %q", name, got, want, r.Warnings())
		}
		_ = r.Close()
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(foreignHead + foreignRow()))
	f.Add([]byte(foreignHead + foreignRow("key", "\"k\"\"\te\ny\"")))
	f.Add([]byte(foreignHead + foreignRow("key", "\"k\n\n\"\"\"\r\n")))
	f.Add([]byte(foreignHead + "#\n# {\"end\":\"\"}\n\"\t\"\"\n\x00"))
	f.Add([]byte(foreignHead + `# {"warp":"","merged":[{"threads":4}]}` + "\n" + foreignRow()))
	f.Add(testlog.Encode(f, testlog.Header(), testlog.Trailer(), testlog.Everything(rand.New(rand.NewPCG(1, 1)), 5, "run1", "c"), 2))
	f.Fuzz(func(t *testing.T, log []byte) {
		_, rows, err := testlog.Decode(log, 3)
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("not one line: %q", err)
		}
		for _, r := range rows {
			if r.Op == "" || r.Duration < 0 || r.Bytes < 0 || r.FirstByte > r.Duration || r.LastByte > r.Duration || r.End() < r.Start {
				t.Errorf("not a request: %+v", r)
			}
		}
	})
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("GET", "http://h", "key\t\"", "Err: a\r\nb", uint16(3), int64(1e18), uint32(5), uint32(7), uint64(9), int64(44))
	f.Add("\"", "\r", "\"\"\"", "#", uint16(3), int64(-1e18), uint32(0), uint32(1), uint64(9), int64(0))
	f.Fuzz(func(t *testing.T, op, endpoint, key, err string, thread uint16, start int64, first, rest uint32, cat uint64, due int64) {
		const limit = 9e18
		if op == "" || len(op)+len(endpoint)+len(key)+len(err) > lines.Max/4 || start > limit || start < -limit || due > limit || due < -limit ||
			strings.Contains(op+endpoint+key+err, "\x00") {
			t.Skip()
		}
		in := oplog.Record{Op: op, Run: "r", Client: "c", Endpoint: endpoint, Key: key, Err: err, Thread: uint32(thread), Objects: int(rest),
			Bytes: int64(first), Start: start, FirstByte: time.Duration(first), Duration: time.Duration(first) + time.Duration(rest),
			Due: due, Category: cat, Status: thread}
		_, got, rerr := testlog.Decode(testlog.Encode(t, oplog.Header{Warp: "1", Run: "r"}, testlog.Trailer(), []oplog.Record{in, in}, 1), 2)
		if rerr != nil {
			t.Fatal(rerr)
		}
		testlog.Same(t, got, []oplog.Record{in, in})
	})
}

// Reading costs one allocation per batch, for its keys.
func TestReadAllocates(t *testing.T) {
	records := testlog.Downloads(120_000)
	log := testlog.Unzstd(t, testlog.Encode(t, testlog.Header(), testlog.Trailer(), records, len(records)))
	r, err := oplog.NewReader(bytes.NewReader(log), "x")
	check.OK(t, err)
	dst := make([]oplog.Record, 500)
	var failed error
	read := func() {
		_, err := r.Read(dst)
		failed = errors.Join(failed, err)
	}
	for range 20 {
		read()
	}
	if n := testing.AllocsPerRun(100, read); n > 1 {
		t.Errorf("%v allocations per %d rows", n, len(dst))
	}
	if failed != nil {
		t.Fatal(failed)
	}
}
