package bench

import (
	"net"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// warnings keeps what a run warns of.
type warnings struct {
	noProgress
	all []string
}

func (w *warnings) Warn(text string) { w.all = append(w.all, text) }

// A misspelt host among good ones ends the run before it writes anything, unless that was asked for.
func TestDeadHost(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	l.Close()
	good, dead := embeddedStore(t), l.Addr().String()
	for _, hosts := range [][]string{{good, dead}, {dead, good}} {
		for _, allow := range []bool{false, true} {
			c, err := engines.New(store.Config{Hosts: store.Addresses(hosts), Region: "us-east-1", Credentials: store.Keys{AccessKey: "k", SecretKey: "s"}})
			check.OK(t, err)
			warned := &warnings{}
			r := &Runner{Client: c, Progress: warned, Options: Options{Bucket: "bucket", RunID: "r", Concurrency: 1, Lease: time.Hour, AllowDeadHosts: allow}}
			err = r.Open(t.Context())
			if cleaned := r.Cleanup(t.Context()); cleaned != nil {
				t.Error(cleaned)
			}
			switch {
			case allow && (err != nil || len(warned.all) != 1 || !strings.Contains(warned.all[0], dead)):
				t.Errorf("%v is opened with %v, %q", hosts, err, warned.all)
			case !allow && (err == nil || !strings.Contains(err.Error(), dead+" of 2 does not answer") || !strings.Contains(err.Error(), "--allow-dead-hosts")):
				t.Errorf("%v is opened with %v", hosts, err)
			}
		}
	}
}
