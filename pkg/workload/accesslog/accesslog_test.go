package accesslog

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/oplog"
	"warp/pkg/workload"
)

// awsExamples are the lines of Amazon's documentation of the format.
const awsExamples = `79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be amzn-s3-demo-bucket1 [06/Feb/2019:00:00:38 +0000] 192.0.2.3 79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be 3E57427F3EXAMPLE REST.GET.VERSIONING - "GET /amzn-s3-demo-bucket1?versioning HTTP/1.1" 200 - 113 - 7 - "-" "S3Console/0.4" - s9lzHYrFp76ZVxRcpX9+5cjAnEH2ROuNkd2BHfIa6UkFVdtjf5mKR3/eTPFvsiP/XV/VLi31234= SigV4 ECDHE-RSA-AES128-GCM-SHA256 AuthHeader amzn-s3-demo-bucket1.s3.us-west-1.amazonaws.com TLSV1.2 arn:aws:s3:us-west-1:123456789012:accesspoint/example-AP Yes us-east-1
79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be amzn-s3-demo-bucket1 [06/Feb/2019:00:00:38 +0000] 192.0.2.3 79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be A1206F460EXAMPLE REST.GET.BUCKETPOLICY - "GET /amzn-s3-demo-bucket1?policy HTTP/1.1" 404 NoSuchBucketPolicy 297 - 38 - "-" "S3Console/0.4" - BNaBsXZQQDbssi6xMBdBU2sLt+Yf5kZDmeBUP35sFoKa3sLLeMC78iwEIWxs99CRUrbS4n11234= SigV4 ECDHE-RSA-AES128-GCM-SHA256 AuthHeader amzn-s3-demo-bucket1.s3.us-west-1.amazonaws.com TLSV1.2 - Yes us-east-1
79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be mybucket [06/Feb/2014:00:01:57 +0000] 192.0.2.3 79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be DD6CC733AEXAMPLE REST.PUT.OBJECT s3-dg.pdf "PUT /mybucket/s3-dg.pdf HTTP/1.1" 200 - - 4406583 41754 28 "-" "S3Console/0.4" -
`

// textLine makes a line of a server access log.
func textLine(at time.Time, operation, key, status string, sent, size int) string {
	return fmt.Sprintf(`owner bucket [%s] 192.0.2.3 arn:aws:iam::123456789012:user/SECRETUSER REQUESTID %s %s "GET /bucket/SECRETURI HTTP/1.1" %s - %d %d 7 5 "-" "SECRETAGENT" -`,
		at.UTC().Format("02/Jan/2006:15:04:05 +0000"), operation, key, status, sent, size)
}

func readOne(t testing.TB, in io.Reader, name string, to *workload.Collector) (warnings []string, err error) {
	open := func() (io.ReadCloser, error) { return io.NopCloser(in), nil }
	return ReadAll(t.Context(), []Log{{Name: name, Open: open, Once: true}}, to)
}

func profileOf(t testing.TB, logs ...string) *workload.Profile {
	t.Helper()
	c := workload.NewCollector()
	for i, log := range logs {
		if _, err := readOne(t, strings.NewReader(log), fmt.Sprint("log", i), c); err != nil {
			t.Fatal(err)
		}
	}
	p := c.Profile()
	var b bytes.Buffer
	check.OK(t, p.Write(&b))
	if _, err := workload.Read(&b); err != nil {
		t.Fatal(err)
	}
	return p
}

// operation returns the figures of an operation.
func operation(p *workload.Profile, op workload.Op) workload.Operation {
	for _, o := range p.Operations {
		if o.Op == op {
			return o
		}
	}
	return workload.Operation{}
}

func TestAmazonsExamples(t *testing.T) {
	t.Parallel()
	p := profileOf(t, awsExamples)
	put, other := operation(p, workload.Put), operation(p, workload.Other)
	if p.Requests != 3 || p.Lines.Read != 3 || !slices.Equal(p.Formats, []string{formatText}) || p.Arrivals.ResolutionS != 1 || len(p.Notes) != 1 {
		t.Errorf("%+v", p)
	}
	if put.Requests != 1 || put.Errors != 0 || !slices.Equal(put.Sizes, workload.Sizes{{Min: 4406583, Max: 4406583, Requests: 1}}) {
		t.Errorf("%+v", put)
	}
	if other.Requests != 2 || other.Errors != 1 || !slices.Equal(other.Statuses, []workload.Status{{Status: 404, Requests: 1}}) {
		t.Errorf("%+v", other)
	}
}

// The fields of lines are read correctly, also from unusual lines.
func TestText(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]workload.Request{
		textLine(time.Unix(1e9, 0), "REST.GET.OBJECT", "a/b", "200", 10, 10):                                                        {Op: workload.Get, Size: 10, Bytes: 10, Status: 200},
		textLine(time.Unix(1e9, 0), "REST.GET.OBJECT", "a/b", "206", 3, 10):                                                         {Op: workload.Get, Size: 10, Bytes: 3, Status: 206, Range: true},
		textLine(time.Unix(1e9, 0), "REST.GET.OBJECT", "a/b", "304", 0, 10):                                                         {Op: workload.Stat, Size: 10, Status: 304, Range: true},
		textLine(time.Unix(1e9, 0), "REST.GET.OBJECT", "a%252Fb", "403", 0, 0):                                                      {Op: workload.Get, Status: 403, Failed: true},
		textLine(time.Unix(1e9, 0), "REST.HEAD.OBJECT", "a%2Fb", "200", 0, 10):                                                      {Op: workload.Stat, Size: 10, Status: 200},
		textLine(time.Unix(1e9, 0), "REST.PUT.PART", "a/b", "200", 0, 10):                                                           {Op: workload.PutPart, Bytes: 10, Status: 200},
		textLine(time.Unix(1e9, 0), "BATCH.DELETE.OBJECT", "a/b", "204", 0, 10):                                                     {Op: workload.Delete, Size: 10, Status: 204, Step: true},
		`o bucket [09/Sep/2001:01:46:40 +0000] - - - REST.DELETE.OBJECT a/b - 204 - - - -`:                                          {Op: workload.Delete, Status: 204},
		`o bucket [09/Sep/2001:01:46:40 +0000] - - - REST.GET.OBJECT a/b "GET /a" 200 b HTTP/1.1" 200 - 5 5 1 1 "-" "a" 200 - 6 6"`: {Op: workload.Get, Size: 5, Bytes: 5, Status: 200},
	} {
		var got workload.Request
		err := newTextFormat().parse([]byte(line), &got)
		want.Start, want.Object = 1e18, workload.HashObject("bucket", "a/b")
		if err != nil || got != want {
			t.Errorf("%s:\n%+v, %v, want\n%+v", line, got, err, want)
		}
	}
	var r workload.Request
	for _, line := range []string{
		textLine(time.Unix(1e9, 0), "S3.EXPIRE.OBJECT", "a/b", "-", 0, 0), textLine(time.Unix(1e9, 0), "REST.POST.UPLOADS", "a/b", "200", 0, 0),
		textLine(time.Unix(1e9, 0), "REST.COPY.OBJECT_GET", "a/b", "200", 0, 0),
	} {
		if err := newTextFormat().parse([]byte(line), &r); err != errLeftOut {
			t.Errorf("%s: %v", line, err)
		}
	}
}

const cloudWatch = `{"schema_version_id":"V_1_0","bucket_arn":"arn:aws:s3:::bucket","bucket_name":"bucket","request_time":"2001-09-09T01:46:40.123Z","bucket_owner_id":"o","remote_ip":"192.0.2.3","requester":null,"operation":"REST.GET.OBJECT","key_name":"a/b","http_status":206,"error_code":null,"bytes_sent":3,"object_size":10,"total_time":7,"unknown":{"a":[1]}}`

func TestCloudWatch(t *testing.T) {
	t.Parallel()
	want := workload.Request{Op: workload.Get, Start: 1e18 + 123e6, Object: workload.HashObject("bucket", "a/b"), Size: 10, Bytes: 3, Status: 206, Range: true}
	for _, line := range []string{cloudWatch, "2001-09-09T01:46:41.000Z " + cloudWatch, strings.ReplaceAll(cloudWatch, ":206", `:"206"`)} {
		var got workload.Request
		if err := newCloudWatchFormat().parse([]byte(line), &got); err != nil || got != want {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if p := profileOf(t, cloudWatch+"\n"+cloudWatch); p.Requests != 2 || !slices.Equal(p.Formats, []string{formatJSON}) || p.Arrivals.ResolutionS != .001 {
		t.Errorf("%+v", p)
	}
}

const audit = `{"version":"1","deploymentid":"d","time":"2001-09-09T01:46:41.5Z","event":"","trigger":"incoming","api":{"name":"GetObject","bucket":"bucket","object":"a/b","status":"OK","statusCode":206,"rx":0,"tx":3,"txHeaders":300,"timeToFirstByte":"1ns","timeToFirstByteInNS":"1","timeToResponse":"1.5s","timeToResponseInNS":"1500000000"},"remotehost":"127.0.0.1","requestID":"1","userAgent":"SECRETAGENT","requestHeader":{"Authorization":"SECRETKEY","Range":"bytes=0-2"},"responseHeader":{"Content-Length":"3","Content-Range":"bytes 0-2/10"},"accessKey":"SECRETKEY"}`

// A line with a time that nanoseconds cannot express is damaged.
func TestImpossibleYears(t *testing.T) {
	t.Parallel()
	var r workload.Request
	for _, year := range []string{"0001", "1969", "2201", "9999"} {
		text := strings.Replace(textLine(time.Unix(1e9, 0), "REST.GET.OBJECT", "a/b", "200", 10, 10), "2001", year, 1)
		for line, f := range map[string]format{
			text: newTextFormat(), strings.Replace(cloudWatch, "2001", year, 1): newCloudWatchFormat(), strings.Replace(audit, "2001", year, 1): newAuditFormat(),
		} {
			if err := f.parse([]byte(line), &r); err == nil || !strings.Contains(err.Error(), "the year is not between") {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
}

func TestAudit(t *testing.T) {
	t.Parallel()
	get := workload.Request{Op: workload.Get, Start: 1e18, Object: workload.HashObject("bucket", "a/b"), Size: 10, Bytes: 3, Status: 206, Range: true, Objects: 1}
	put := get
	put.Op, put.Status, put.Range, put.Bytes, put.Size = workload.Put, 200, false, 77, 77
	putLine := strings.NewReplacer("GetObject", "PutObject", "206", "200", `"Range":"bytes=0-2"`, `"X-Amz-Decoded-Content-Length":"77","Content-Length":"999"`).Replace(audit)
	for line, want := range map[string]workload.Request{audit: get, putLine: put} {
		var got workload.Request
		if err := newAuditFormat().parse([]byte(line), &got); err != nil || got != want {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
	deleted := strings.NewReplacer("GetObject", "DeleteMultipleObjects", `"object":"a/b"`, `"objects":[{"objectName":"a/b"},{"objectName":"c"}]`, "206", "200").Replace(audit)
	p := profileOf(t, putLine+"\n"+deleted+"\n"+audit+"\n"+strings.Replace(audit, "incoming", "ilm", 1)+"\n"+strings.Replace(audit, "GetObject", "NewMultipartUpload", 1))
	if o := operation(p, workload.Delete); o.Requests != 1 || o.Objects != 2 {
		t.Errorf("%+v", o)
	}
	if p.Lines != (workload.Lines{Read: 5, LeftOut: 2}) || p.Requests != 3 || p.Ranges.Requests != 1 {
		t.Errorf("%+v", p)
	}
}

const rust = `{"EventName":"s3:ObjectAccessed:Get","Key":"bucket/a/b","Records":[{"version":"1.0","time":1000000000123,"event":"s3:ObjectAccessed:Get","trigger":"s3:GetObject","api":{"name":"s3:GetObject","bucket":"bucket","object":"a/b","status":"success","status_code":200,"time_to_response":"1.50s","timeToResponseInNS":"1500000000"},"remotehost":"127.0.0.1","userAgent":"SECRETAGENT","requestPath":"/bucket/a/b","requestQuery":{"authorization":"SECRETKEY","host":"127.0.0.1:9000"},"responseHeader":{"x-amz-request-id":"SECRET"},"accessKey":"SECRETKEY"}]}`

// RustFS writes the start in milliseconds, the operation as the trigger, the headers of the request as its query, and seldom how
// large a download was.
func TestRustFS(t *testing.T) {
	t.Parallel()
	get := workload.Request{Op: workload.Get, Start: 1e18 + 123e6, Object: workload.HashObject("bucket", "a/b"), Status: 200, Objects: 1, Unsized: true}
	ranged, open, put, removed := get, get, get, get
	ranged.Range, ranged.Bytes, ranged.Unsized = true, 100, false
	open.Range = true
	put.Op, put.Bytes, put.Size, put.Unsized = workload.Put, 77, 77, false
	removed.Op, removed.Unsized = workload.Delete, false
	headers := func(more string) string { return strings.Replace(rust, `"host":`, more+`,"host":`, 1) }
	_, bare, _ := strings.Cut(strings.TrimSuffix(rust, "]}"), `"Records":[`)
	putLine := strings.ReplaceAll(headers(`"x-amz-decoded-content-length":"77","content-length":"999"`), "GetObject", "PutObject")
	for line, want := range map[string]workload.Request{
		rust: get, bare: get, headers(`"range":"bytes=100-199"`): ranged, headers(`"range":"bytes=-100"`): ranged, headers(`"range":"bytes=100-"`): open,
		putLine: put, strings.ReplaceAll(rust, "GetObject", "DeleteObject"): removed,
	} {
		var got workload.Request
		if err := newRustFormat().parse([]byte(line), &got); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", line, got, err, want)
		}
	}
	later := func(line string) string { return strings.Replace(line, "1000000000123", "1000000001123", 1) }
	p := profileOf(t, putLine+"\n"+later(rust)+"\n"+later(strings.ReplaceAll(rust, "a/b", "c"))+"\n"+later(headers(`"range":"bytes=0-9"`))+"\n"+strings.ReplaceAll(rust, "GetObject", "CreateMultipartUpload"))
	if o := operation(p, workload.Get); o.Requests != 3 || o.Sizes.Requests() != 1 || p.Ranges == nil || p.Ranges.Requests != 1 {
		t.Errorf("%+v, ranges %+v", o, p.Ranges)
	}
	if p.Lines != (workload.Lines{Read: 5, LeftOut: 1}) || p.Requests != 4 || !slices.Equal(p.Formats, []string{formatRust}) {
		t.Errorf("%+v", p)
	}
}

// Nothing that could be a secret gets into a profile, a message or a warning.
func TestNoNames(t *testing.T) {
	t.Parallel()
	var text, json, audits, rusts strings.Builder
	for i := range 300 {
		key := fmt.Sprintf("SECRETFOLDER/SECRET%d", i)
		text.WriteString(strings.Replace(textLine(time.Unix(int64(1e9+i), 0), "REST.GET.OBJECT", key, "200", 10, 10), " bucket ", " SECRETBUCKET ", 1) + "\n")
		json.WriteString(strings.ReplaceAll(strings.ReplaceAll(cloudWatch, "a/b", key), `"bucket"`, `"SECRETBUCKET"`) + "\n")
		audits.WriteString(strings.ReplaceAll(strings.ReplaceAll(audit, "a/b", key), `"bucket":"bucket"`, `"bucket":"SECRETBUCKET"`) + "\n")
	}
	for i := range 300 {
		rusts.WriteString(strings.ReplaceAll(rust, "a/b", fmt.Sprintf("SECRETFOLDER/SECRET%d", i)) + "\n")
	}
	rusts.WriteString(strings.Replace(rust, "1000000000123", `"SECRET"`, 1) + "\n")
	text.WriteString("SECRET line that cannot be read SECRETKEY\n")
	json.WriteString("{SECRET line that cannot be read\n")
	audits.WriteString(strings.Replace(audit, "1500000000", "SECRET", 1) + "\n")
	log := string(testlog.Encode(t, oplog.Header{Command: "warp get --SECRET", Parameters: map[string]string{"bucket": "SECRET"}},
		oplog.Trailer{End: "SECRET"}, []oplog.Record{{Op: "SECRET", Key: "SECRET", Endpoint: "http://SECRET", Err: "SECRET: SECRET", Start: 1e18, Duration: 1}}, 1))
	for _, log := range []string{text.String(), json.String(), audits.String(), rusts.String(), log} {
		c := workload.NewCollector()
		warnings, err := readOne(t, strings.NewReader(log), "log", c)
		check.OK(t, err)
		var b bytes.Buffer
		check.OK(t, c.Profile().Write(&b))
		for _, secret := range []string{"SECRET", "secret", "192.0.2", "127.0.0", "arn:"} {
			if all := b.String() + strings.Join(warnings, "\n"); strings.Contains(all, secret) {
				t.Errorf("%s is in %s", secret, all)
			}
		}
	}
}

// Unreadable lines are counted, and more than 1 % of them are an error with the first.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for i := range 200 {
		log.WriteString(textLine(time.Unix(int64(1e9+i), 0), "REST.GET.OBJECT", "k", "200", 10, 10) + "\n")
		if i == 40 || i == 90 {
			log.WriteString("odd SECRET\n")
		}
	}
	c := workload.NewCollector()
	warnings, err := readOne(t, strings.NewReader(log.String()), "log", c)
	if want := []string{"log: 2 lines cannot be read; the first is line 42: there is no [time] after owner and bucket"}; err != nil || !slices.Equal(warnings, want) {
		t.Errorf("%q, %v", warnings, err)
	}
	if p := c.Profile(); p.Lines != (workload.Lines{Read: 202, Unreadable: 2}) || p.Requests != 200 {
		t.Errorf("%+v", p)
	}
	log.WriteString("odd SECRET\n")
	_, err = readOne(t, strings.NewReader(log.String()), "log", workload.NewCollector())
	if want := "log: 3 of 203 lines cannot be read as S3 server access log, more than 1 %; the first is line 42: there is no [time] after owner and bucket"; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                       "the file is empty",
		"\n\n \n":                                "the log is empty",
		"hello\n":                                "not a log that warp knows",
		`{"version":2,"groups":[]}`:              "does not list its requests",
		"\x1f\x8b garbage":                       "gzip",
		"a\tb\tc\n":                              "the column is missing",
		strings.Repeat("x", 2<<20):               "not a log that warp knows",
		awsExamples + strings.Repeat("x", 2<<20): "longer than",
	} {
		if _, err := readOne(t, strings.NewReader(text), "log", workload.NewCollector()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// A log may be compressed, and cut off.
func TestCompressed(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(textLine(time.Unix(1e9, 0), "REST.GET.OBJECT", "k", "200", 10, 10)+"\n", 5000)
	var zipped, standard bytes.Buffer
	g := gzip.NewWriter(&zipped)
	z, err := zstd.NewWriter(&standard)
	check.OK(t, err)
	for _, w := range []interface {
		Write([]byte) (int, error)
		Close() error
	}{g, z} {
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		check.OK(t, w.Close())
	}
	for _, log := range []string{zipped.String(), standard.String()} {
		if p := profileOf(t, log); p.Requests != 5000 {
			t.Errorf("%d requests", p.Requests)
		}
	}
	c := workload.NewCollector()
	warnings, err := readOne(t, strings.NewReader(zipped.String()[:zipped.Len()-20]), "log", c)
	if err != nil || len(warnings) == 0 || !strings.Contains(warnings[0], "cut off") {
		t.Errorf("%q, %v", warnings, err)
	}
}

// The rows of an op log count as its window says.
func TestOpLog(t *testing.T) {
	t.Parallel()
	row := func(op, key string, at float64, bytes int64) oplog.Record {
		return oplog.Record{Op: op, Key: key, Start: int64(1e18 + at*1e9), Duration: time.Millisecond, Bytes: bytes, Objects: 1}
	}
	path := filepath.Join(t.TempDir(), "log")
	f, err := oplog.Create(path, oplog.Header{Warp: "v1", Run: "r", Windowed: true})
	check.OK(t, err)
	for _, step := range []func() error{
		func() error { return f.Write([]oplog.Record{row("PUT", "a", 0, 100), row("PUT", "b", 1, 100)}) },
		func() error { return f.SetWindow(oplog.Window{Start: 1e18 + 2e9}) },
		func() error {
			return f.Write([]oplog.Record{row("DOWNLOAD", "a", 3, 100), row("GETPART", "a", 3, 50), row("GETPART", "a", 3, 50), row("GET", "b", 4, 100), row("ZIP", "b", 5, 0)})
		},
	} {
		check.OK(t, step())
	}
	if _, err := f.Commit(oplog.Trailer{End: "completed"}); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(path)
	check.OK(t, err)
	p := profileOf(t, string(log))
	if p.Requests != 4 || operation(p, workload.Get).Requests != 3 || operation(p, workload.Other).Requests != 1 || operation(p, workload.Put).Requests != 0 ||
		p.Ranges.Requests != 2 || p.Reuse.Requests != 2 || p.Reuse.FirstRequests != 0 || p.Popularity.Keys != 2 || !slices.Equal(p.Formats, []string{formatWarp}) {
		t.Errorf("%+v", p)
	}
}

// An upload in parts has the size of its parts, whose rows begin after its own, and fills a cache.
func TestOpLogUploadInParts(t *testing.T) {
	t.Parallel()
	row := func(op string, at, took float64, bytes int64) oplog.Record {
		return oplog.Record{Op: op, Key: "a", Start: int64(1e18 + at*1e9), Duration: time.Duration(took * 1e9), Bytes: bytes, Objects: 1}
	}
	failed := row("UPLOAD", 20, 1, 0)
	failed.Err = "SlowDown: later"
	path := filepath.Join(t.TempDir(), "log")
	f, err := oplog.Create(path, oplog.Header{Warp: "v1", Run: "r", Windowed: true})
	check.OK(t, err)
	check.OK(t, f.SetWindow(oplog.Window{Start: 1e18}))
	check.OK(t, f.Write([]oplog.Record{row("UPLOAD", 0, 5, 0), row("PUTPART", 1, 1, 300), row("PUTPART", 2, 1, 100), row("GET", 10, 1, 400), failed}))
	if _, err := f.Commit(oplog.Trailer{End: "completed", Unsent: 3}); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(path)
	check.OK(t, err)
	p := profileOf(t, string(log))
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "3 requests that were due") {
		t.Errorf("%q", p.Notes)
	}
	o := operation(p, workload.Upload)
	if o.Requests != 2 || o.Errors != 1 || o.Objects != 2 || o.Sizes.Requests() != 1 || o.Sizes.Quantile(1) != 400 || p.Reuse.FirstRequests != 0 || p.Requests != 5 {
		t.Errorf("%+v, %+v", o, p.Reuse)
	}
}

func FuzzText(f *testing.F) {
	for line := range strings.Lines(awsExamples) {
		f.Add([]byte(line))
	}
	f.Add([]byte(textLine(time.Unix(1e9, 0), "REST.GET.OBJECT", "a%2", "206", 10, 20)))
	fuzz(f, newTextFormat)
}

func FuzzCloudWatch(f *testing.F) {
	f.Add([]byte(cloudWatch))
	f.Add([]byte("2001-09-09T01:46:41.000Z " + cloudWatch))
	fuzz(f, newCloudWatchFormat)
}

func FuzzAudit(f *testing.F) {
	f.Add([]byte(audit))
	fuzz(f, newAuditFormat)
}

// fuzz parses lines. What they result in makes a profile that can be read.
func fuzz(f *testing.F, format func() format) {
	f.Fuzz(func(t *testing.T, line []byte) {
		x := format()
		var r workload.Request
		if x.parse(line, &r) != nil {
			return
		}
		if r.Bytes < 0 || r.Size < 0 || r.Status < 0 || r.Status > 999 || r.Objects < 0 {
			t.Fatalf("%+v", r)
		}
		c := workload.NewCollector()
		c.Add(&r)
		c.Add(&r)
		var b bytes.Buffer
		check.OK(t, c.Profile().Write(&b))
		if _, err := workload.Read(&b); err != nil {
			t.Fatalf("%v: %+v", err, r)
		}
	})
}

// Whatever a log contains, it is refused, or its profile can be read.
func FuzzRead(f *testing.F) {
	for _, log := range []string{awsExamples, cloudWatch + "\n" + cloudWatch, audit, "idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\tstart\tfirst_byte\tlast_byte\tend\tduration_ns\n" +
		"0\t0\tGET\tc\t1\t10\thttp://h\tkey\t\t2026-01-01T00:00:00Z\t\t\t2026-01-01T00:00:01Z\t1000000000\n", "\x1f\x8b"} {
		f.Add([]byte(log))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		c := workload.NewCollector()
		if _, err := readOne(t, bytes.NewReader(log), "log", c); err != nil {
			return
		}
		p := c.Profile()
		var b bytes.Buffer
		check.OK(t, p.Write(&b))
		if _, err := workload.Read(&b); err != nil {
			t.Fatalf("%v: %q", err, log)
		}
	})
}
