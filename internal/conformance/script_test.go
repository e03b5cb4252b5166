package conformance

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"warp/internal/teststore"
)

// The examples of object-store-bench, with its minutes made seconds, against MinIO; and objects that a script in a
// process of its own finds again.
func TestScriptExamples(t *testing.T) {
	t.Parallel()
	s := stores.Shared(t, teststore.MinIO)
	dir := t.TempDir()
	run := func(name, script string, env ...string) outcome {
		return warpProcess(t, env, "script", "--base-uri=http://"+s.Endpoint+"/", "--s3-access-key="+s.AccessKey, "--s3-secret-key="+s.SecretKey,
			"--bucket=scripts", "--json", "--benchdata="+filepath.Join(dir, name), "--script="+script)
	}
	finals := func(o outcome) (counts []int) {
		var report struct {
			Statements []struct {
				Final  *struct{ Count, Bytes int }
				Warmup *struct{ Count int }
			}
		}
		if err := json.Unmarshal([]byte(o.out), &report); err != nil {
			t.Fatalf("%v: %s", err, o)
		}
		for _, st := range report.Statements {
			if st.Warmup != nil {
				counts = append(counts, st.Warmup.Count)
			}
			if st.Final != nil {
				counts = append(counts, st.Final.Count)
			}
		}
		return counts
	}
	const first = `
// Create 100 objects of size 2 MB, but no more than 5 concurrent PUT operations
PUT
  100 OBJECTS
  MAX 5 CONCURRENT
  OF SIZE 2 MB;
GET
  5 OBJECTS
  AT RATE 10 PER SECOND
  WARMUP 2 SECONDS
  RUNTIME 3 SECONDS;
GET 5 OBJECTS AT RATE 10 PER SECOND RUNTIME 1 SECONDS;
// Delete all previously created objects.
DELETE;
`
	got := finals(run("first", first).want(t, 0))
	if want := []int{100, 10, 10, 10, 100}; len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	} else {
		for i, n := range got {
			if n > want[i] || n < want[i]/2 { // a busy machine may leave arrivals of a rate out
				t.Errorf("%v, want %v", got, want)
			}
		}
	}
	run("put", `PUT 10 OBJECTS USING NAMING STRATEGY CONSTANT PREFIX WITH SEED "a898a861";`).want(t, 0)
	const reuse = `REUSE 10 OBJECTS
  USING NAMING STRATEGY CONSTANT PREFIX
  WITH SEED "a898a861";

GET OBJECTS
  FOR 1 SECONDS
  AT RATE 10 PER SECOND;
DELETE`
	if got := finals(run("reuse", reuse).want(t, 0)); len(got) != 2 || got[0] < 1 || got[1] != 10 {
		t.Errorf("%v, want up to 10 downloads and 10 deletions", got)
	}
	run("typing", strings.Replace(reuse, "PER SECOND", "PER SEONCD", 1)).want(t, 2).says(t, "line 7, column 18", "did you mean SECOND?")
}
