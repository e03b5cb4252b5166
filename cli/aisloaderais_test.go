package cli

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/internal/standin"
	"warp/pkg/s3mem"
)

// The numbered examples of aisloader's README run as they are there, but for the host's address. Times and sizes that would
// make a test long are shortened behind them, which the last flag of a name does.
func TestAISLoaderExamples(t *testing.T) {
	t.Parallel()
	const short = " -duration=1s -minsize=16B -maxsize=1K"
	const few = short + " -numworkers=2"
	for i, tt := range []struct {
		line    string // with HOST and PORT of the cluster, and S3 for the URL of an S3
		beside  string // what is added
		says    string // on both outputs
		objects int    // in the bucket afterwards; -1 = there is no bucket
	}{
		{line: "aisloader -bucket=my_ais_bucket -duration=10s -pctput=50 -provider=ais", beside: few, says: `Found 0 existing objects(?s:.*)PUT (?s:.*)Actual run duration`, objects: -1},
		{line: "aisloader -bucket=nvais -duration 10s -cleanup=true -numworkers=3 -minsize=1K -maxsize=1K -pctput=100 -provider=ais", beside: short, says: `PUT +\d`, objects: -1},
		{line: "aisloader -bucket=aws://nvaws -duration 1h -numworkers=30 -pctput=0 -cleanup=false", beside: short, says: `Found 3 existing objects(?s:.*)GET +\d`},
		{line: "aisloader -bucket=s3://nvaws -duration 0s -cleanup=true -numworkers=3 -minsize=1024 -maxsize=1MB -pctput=30 -totalputsize=10G", beside: " -maxsize=2K -totalputsize=100K", says: `PUT +\d(?s:.*)3 objects in it are not warp's`},
		{line: "aisloader -bucket=nvais -cleanup=false -totalputsize=1G -duration=0 -minsize=1MB -maxsize=1MB -numworkers=8 -pctput=100 -provider=ais", beside: " -totalputsize=5M", says: `PUT +5 +\t5.0MiB`, objects: 5},
		{line: "aisloader -bucket=filled -duration 5s -numworkers=3 -pctput=0 -provider=ais -cleanup=false", beside: short, says: `GET +\d`, objects: 2},
		{line: `aisloader -bucket=nvais -duration 10s -numworkers=3 -loaderid=11 -loadernum=20 -maxputs=2000 -objNamePrefix=aisloader -cleanup=false`, beside: " -minsize=1 -maxsize=1 -maxputs=200 -duration=5m", says: `PUT +200(?s:.*)200 objects of --maxputs`, objects: 200},
		{line: "aisloader -loaderid=10", beside: few, says: `PUT +\d(?s:.*)--pctput is 100`},
		{line: "aisloader -loaderid=10 -loadernum=20", beside: few, says: `PUT +\d`},
		{line: "aisloader -loaderid=loaderstring -loaderidhashlen=8", beside: few, says: `PUT +\d`},
		{line: "aisloader -getloaderid", says: "^0x0\n"},
		{line: "aisloader -loaderid=10 -getloaderid", says: "^0xa\n"},
		{line: "aisloader -loaderid=loaderstring -loaderidhashlen=8 -getloaderid", says: "^0xdb\n"},
		{line: "aisloader -bucket=kept -duration 0s -totalputsize=0 -cleanup=true", says: `3 objects of earlier runs removed; bucket kept removed`, objects: -1},
		{line: "aisloader -ip=HOST -port=PORT", beside: few, says: `PUT +\d`},
		{line: "AIS_ENDPOINT=HOST:PORT aisloader", beside: few, says: `PUT +\d`},
		{line: "aisloader -ip=http://HOST -port=PORT", beside: few, says: `PUT +\d`},
		{line: "aisloader -bucket=my_ais_bucket -duration=10s -pctput=100 -provider=ais -readertype=tar", beside: " -duration=1s -minsize=2K -maxsize=4K", says: `PUT +\d`, objects: -1},
		{line: "aisloader -bucket=s3://xyz -cleanup=false -numworkers=8 -pctput=0 -duration=10m -s3endpoint=S3", beside: short, says: `GET +\d`},
		{line: "aisloader -bucket=s3://xyz -cleanup=false -minsize=16B -maxsize=16B -numworkers=8 -pctput=100 -totalputsize=128k -s3endpoint=S3 -quiet", says: `PUT +8,192 +\t128.0KiB`},
		{line: "aisloader -bucket=ais://filled -duration 1h -numworkers=30 -pctput=0 -filelist LIST -cleanup=false", beside: short, says: `Found 2 existing objects(?s:.*)GET +\d`, objects: 2},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			e := newLoaderCluster(t, standin.AIStoreOptions{})
			r := e.run(t, tt.line+tt.beside)
			if r.code != 0 || !regexp.MustCompile(tt.says).MatchString(r.out+r.err) {
				t.Fatalf("%s: exit code %d, want %q in\n%s%s", tt.line, r.code, tt.says, r.out, r.err)
			}
			bucket := regexp.MustCompile(`-bucket=(\w+://)?(\w+)`).FindStringSubmatch(tt.line)
			if bucket == nil || strings.Contains(tt.line, "s3endpoint") || bucket[2] == "nvaws" {
				return
			}
			objects := 0
			for _, key := range e.Keys(bucket[2]) {
				if !strings.HasPrefix(key, ".warp/") {
					objects++
				}
			}
			if want := max(tt.objects, 0); objects != want {
				t.Errorf("%d objects are in the bucket, want %d: %q", objects, want, e.Keys(bucket[2]))
			}
			if exists := e.Properties(bucket[2]) != nil; exists != (tt.objects >= 0) {
				t.Errorf("the bucket exists: %t", exists)
			}
		})
	}
}

// A loaderCluster is an AIStore with buckets of the examples, and an S3.
type loaderCluster struct {
	*standin.AIStore
	s3, dir string
}

func newLoaderCluster(t *testing.T, o standin.AIStoreOptions) *loaderCluster {
	t.Helper()
	e := &loaderCluster{AIStore: standin.StartAIStore(t, o), dir: t.TempDir()}
	e.Put("filled", "a", []byte("one"))
	e.Put("filled", "b", []byte("two"))
	e.AddRemote("aws", "nvaws", map[string][]byte{"x": []byte("1"), "y": []byte("2"), "z": []byte("3")})
	writeFile(t, filepath.Join(e.dir, "list"), "a\nb\n")
	mem, err := s3mem.Start(s3mem.EmbeddedOptions{})
	check.OK(t, err)
	server := httptest.NewServer(mem)
	t.Cleanup(func() { server.Close(); _ = mem.Close() })
	e.s3 = server.URL
	e.quietly(t, "aisloader -bucket=s3://xyz -s3endpoint=S3 -pctput=100 -maxputs=4 -minsize=1 -maxsize=1 -cleanup=false")
	e.quietly(t, "aisloader -bucket=kept -pctput=100 -maxputs=3 -minsize=1 -maxsize=1 -randomname=false -cleanup=false")
	return e
}

// run runs a line of the README on the cluster.
func (e *loaderCluster) run(t *testing.T, line string) result {
	t.Helper()
	host, port, _ := strings.Cut(e.Host(), ":")
	line = strings.NewReplacer("HOST", host, "PORT", port, "S3", e.s3, "LIST", filepath.Join(e.dir, "list")).Replace(line)
	env := map[string]string{"WARP_ACCESS_KEY": "a", "WARP_SECRET_KEY": "bbbbbbbb"}
	if value, rest, ok := strings.Cut(line, " "); ok && strings.HasPrefix(value, "AIS_ENDPOINT=") {
		env["AIS_ENDPOINT"], line = strings.TrimPrefix(value, "AIS_ENDPOINT="), rest
	} else if !strings.Contains(line, "-ip=") && !strings.Contains(line, "-s3endpoint") {
		env["AIS_ENDPOINT"] = e.URL
	}
	args := append(strings.Fields(line), "-statsdport=1")
	if !strings.Contains(line, "getloaderid") {
		args = append(args, "-benchdata="+e.dir+"/")
	}
	return runWarp(t, env, args...)
}

func (e *loaderCluster) quietly(t *testing.T, line string) {
	t.Helper()
	if r := e.run(t, line); r.code != 0 {
		t.Fatalf("%s: %s", line, r.err)
	}
}

// What only AIStore has: properties of buckets, tokens, its configuration, and transformations.
func TestAISLoaderOfAIStore(t *testing.T) {
	t.Parallel()
	e := newLoaderCluster(t, standin.AIStoreOptions{})
	for _, bucket := range []string{"filled", "another"} {
		e.quietly(t, `aisloader -cleanup=false -pctput=100 -maxputs=1 -minsize=1 -maxsize=1 -bprops={"mirror":{"copies":3,"enabled":true}} -bucket=ais://`+bucket)
		if got := fmt.Sprint(e.Properties(bucket)["mirror"]); got != "map[copies:3 enabled:true]" {
			t.Errorf("bucket %s has %s", bucket, got)
		}
	}
	r := e.run(t, "aisloader -getconfig -duration=1s")
	if r.code != 0 || !regexp.MustCompile(`CFG +\d`).MatchString(r.out) {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
	r = e.run(t, "aisloader -bucket=s3://nvaws -epochs=1 -latest -cleanup=false")
	if r.code != 0 || !strings.Contains(r.out, "Found 3 existing objects") {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
	r = e.run(t, "aisloader -bucket=s3://nvaws -pctput=0 -cached -cleanup=false -duration=1s")
	if !strings.Contains(r.out+r.err, "Found 3 existing objects") { // they are in the cluster since they were read
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
	r = e.run(t, "aisloader -bucket=filled -duration=10s -pctput=100 -readertype=tar -etl=tar2tf -cleanup=false")
	if r.code != 1 || !regexp.MustCompile(`(?m)^warp: error: start the transformation: (NotImplemented: )?AIStore transforms objects only if it runs on Kubernetes, and this cluster does not`).MatchString(r.err) {
		t.Errorf("a cluster without Kubernetes: %d %s", r.code, r.err)
	}
	for line, says := range map[string]string{
		"-etl=zip": "is not one of tar2tf, md5 and echo", "-etl=md5 -etl-spec=x": "cannot be combined", "-etl=md5 -readlen=3": "whole objects are transformed", "-etl=md5 -verifyhash": "--verifyhash cannot be combined",
		"-bprops={": "not a JSON object of properties", "-cached": "is for buckets behind AIStore", "-region=x": "--region needs --s3endpoint", "-etl-spec=/nowhere/x": "/nowhere/x",
	} {
		if r := e.run(t, "aisloader -bucket=ais://filled -cleanup=false "+line); r.code != 2 || !strings.Contains(r.err, says) {
			t.Errorf("%s: %d %s", line, r.code, r.err)
		}
	}
}

// Downloads go through a transformation, which runs as long as the run does, also if that fails.
func TestAISLoaderTransforms(t *testing.T) {
	t.Parallel()
	spec := filepath.Join(t.TempDir(), "spec.yaml")
	writeFile(t, spec, "kind: Pod\nmetadata:\n  annotations:\n    communication_type: hpull://\nspec:\n  containers:\n    - image: transformer_md5\n")
	for line, tt := range map[string]struct {
		code int
		says string
	}{
		"-bucket=filled -epochs=1 -etl=md5":              {0, `GET +2 +\t64B`}, // 32 digits each, of objects of 3 bytes
		"-bucket=filled -epochs=1 -etl=echo":             {0, `GET +2 +\t6B`},
		"-bucket=filled -epochs=1 -etl-spec=" + spec:     {0, `GET +2 +\t64B`},
		"-bucket=filled -epochs=1 -etl=md5 -subdir=none": {1, `has no objects under prefix`},
		"-bucket=my_ais_bucket -duration=1s -pctput=100 -provider=ais -readertype=tar -minsize=2K -maxsize=4K -etl=tar2tf": {0, `PUT +\d`},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			e := newLoaderCluster(t, standin.AIStoreOptions{Kubernetes: true})
			r := e.run(t, "aisloader -cleanup=false "+line)
			if r.code != tt.code || !regexp.MustCompile(tt.says).MatchString(r.out+r.err) {
				t.Errorf("exit code %d, want %d and %q in\n%s%s", r.code, tt.code, tt.says, r.out, r.err)
			}
			var requests []string
			for _, seen := range e.Seen() {
				if name, ok := strings.CutPrefix(seen.Path, "/v1/etl"); ok {
					requests = append(requests, seen.Method+regexp.MustCompile(`warp-[a-z0-9]{8}$|warp-[a-z0-9]{8}/`).ReplaceAllString(name, "NAME/"))
				}
			}
			if got := strings.Join(requests, " "); got != "PUT POST/NAME/stop DELETE/NAME/" {
				t.Errorf("requests about transformations: %s", got)
			}
		})
	}
}

func TestAISLoaderToken(t *testing.T) {
	t.Parallel()
	a := standin.StartAIStore(t, standin.AIStoreOptions{Token: "secret"})
	file := filepath.Join(t.TempDir(), "token")
	check.OK(t, os.WriteFile(file, []byte(`{"token": "secret"}`), 0o600))
	args := []string{"aisloader", "-bucket=abc", "-maxputs=2", "-pctput=100", "-minsize=1", "-maxsize=1", "-cleanup=true", "-statsdport=1", "-benchdata=" + t.TempDir() + "/"}
	env := map[string]string{"AIS_ENDPOINT": a.Host()}
	if r := runWarp(t, env, args...); r.code != 1 {
		t.Errorf("without a token: %d %s", r.code, r.err)
	}
	if r := runWarp(t, env, append(args, "-tokenfile="+file)...); r.code != 0 {
		t.Errorf("with a token: %d %s", r.code, r.err)
	}
}
