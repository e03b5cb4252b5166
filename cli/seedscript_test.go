package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warp/cli/exit"
	cliplan "warp/cli/session/plan"
	"warp/cli/session/scripttable"
	"warp/cli/target"
	"warp/internal/check"
	"warp/pkg/s3mem"
)

// seedScripts are the scripts of object-store-bench's documentation, as they are there, and how many statements each has.
var seedScripts = map[string]struct {
	text       string
	statements int
}{
	"annotated": {`
// Create 100 objects of size 2 MB, but no more than 5 concurrent PUT operations
PUT
  100 OBJECTS
  MAX 5 CONCURRENT
  OF SIZE 2 MB;

// With high rates (way higher than in this example, hundreds or thousands of
// requests per second), it is best practice to add a warmup statement. This
// allows the JVM and the client connection pool to warm up so that the actual
// benchmark results are not skewed, because histograms need quite some time to
// "fade out" the high request durations of the initial requests.  
GET
  5 OBJECTS
  AT RATE 10 PER SECOND
  WARMUP 20 SECONDS
  RUNTIME 30 SECONDS;

// Run GET operations across 5 of the previously created objects at the rate of
// 10 operations per second, runs for 1 minute.
GET
  5 OBJECTS
  AT RATE 10 PER SECOND
  RUNTIME 1 MINUTE;

// Delete all previously created objects.
DELETE;
`, 4},
	"three lines": {`PUT 100 OBJECTS MAX 5 CONCURRENT OF SIZE 2 MB;
GET 5 OBJECTS AT RATE 10 PER SECOND RUNTIME 1 MINUTE;
DELETE;
`, 3},
	"one line": {`PUT 100 OBJECTS MAX 5 CONCURRENT OF SIZE 2 MB; GET 5 OBJECTS AT RATE 10 PER SECOND RUNTIME 1 MINUTE; DELETE;`, 3},
	"put ten":  {`PUT 10 OBJECTS;`, 1},
	"reuse": {`REUSE 10 OBJECTS
  USING NAMING STRATEGY CONSTANT PREFIX
  WITH SEED "a898a861f86004f471e4c4cc0f89212ba71f53c7d9ea215e0472b93b8834542e";

GET OBJECTS
  FOR 30 SECONDS
  AT RATE 10 PER SECOND;`, 2}, // where the documentation has the typing error SEONCD
}

// Each script passes as it is under the command line that the documentation has for it, with the bucket and the region
// that object-store-bench has by default, and runs when its times are made shorter.
func TestSeedScripts(t *testing.T) {
	t.Parallel()
	shorter := strings.NewReplacer("1 MINUTE", "1 SEC", "20 SECONDS", "400 MS", "30 SECONDS", "1", "2 MB", "2 K")
	for name, script := range seedScripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"script", "--s3-access-key=minioadmin", "--s3-secret-key=minioadmin"}
			plan := decoded[cliplan.DryRun](t, exit.OK, append(args, "--base-uri=http://127.0.0.1:9000/", "--dry-run", "--script="+script.text)...)
			if plan.Parameters["bucket"] != "bucket" || plan.Parameters["region"] != "eu-central-1" {
				t.Errorf("bucket %q, region %q", plan.Parameters["bucket"], plan.Parameters["region"])
			}
			if n := strings.Count(strings.Join(plan.Plan, "\n"), "\nstatement "); n != script.statements {
				t.Errorf("%d statements, want %d: %q", n, script.statements, plan.Plan)
			}
			s, err := s3mem.Start(s3mem.EmbeddedOptions{})
			check.OK(t, err)
			t.Cleanup(func() { _ = s.Close() })
			want := exit.OK
			if name == "reuse" {
				want = exit.Requests // these objects are in no store of ours
			}
			report := decoded[scripttable.Report](t, want, append(args, "--base-uri=http://"+s.Addr()+"/", "--benchdata="+filepath.Join(t.TempDir(), "log"),
				"--script="+shorter.Replace(script.text))...)
			if len(report.Statements) != script.statements || report.Settings.Bucket != "bucket" || report.Settings.Region != "eu-central-1" {
				t.Errorf("%+v", report)
			}
		})
	}
}

// The flags that object-store-bench has, and what becomes of bucket and region with them.
func TestSeedFlags(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "script")
	check.OK(t, os.WriteFile(file, []byte("PUT 1 OBJECT"), 0o600))
	for flags, want := range map[string]struct{ bucket, region, says string }{
		"":                        {target.DefaultBucket, "", ""},
		"--implementation=aws":    {"bucket", "eu-central-1", ""},
		"--implementation=awsUrl": {"bucket", "eu-central-1", ""},
		"--implementation=GCS":    {"bucket", "", ""},
		"--s3-region=eu-west-1":   {"bucket", "eu-west-1", ""},
		"--base-uri=http://h:1/ --bucket=mine --region=r": {"mine", "r", ""},
		"--virtual-threads":    {"bucket", "eu-central-1", "--virtual-threads has no effect"},
		"--no-virtual-threads": {"bucket", "eu-central-1", "--virtual-threads has no effect"},
	} {
		args := append([]string{"script", "-i", file, "--dry-run", "--json"}, strings.Fields(flags)...)
		r := runWarp(t, nil, args...)
		for _, text := range []string{`"bucket": "` + want.bucket + `"`, `"region": "` + want.region + `"`} {
			if r.code != exit.OK || !strings.Contains(r.out, text) {
				t.Errorf("%s: exit code %d, want %s in\n%s%s", flags, r.code, text, r.out, r.err)
			}
		}
		if !strings.Contains(r.err, want.says) {
			t.Errorf("%s: %q is not in %q", flags, want.says, r.err)
		}
	}
}
