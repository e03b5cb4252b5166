package upload

import (
	"testing"

	"warp/internal/check"
	"warp/pkg/store"
)

// A log that is uploaded to a directory bucket goes to the endpoint of its zone.
func TestUploadToDirectoryBucket(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, provider, host, region string }{
		{"https://s3.us-east-1.amazonaws.com/logs--use1-az4--x-s3/runs", "s3express", "s3express-use1-az4.us-east-1.amazonaws.com", "us-east-1"},
		{"https://s3.us-east-1.amazonaws.com/logs/runs", "", "s3.us-east-1.amazonaws.com", ""},
		{"https://s3.example.com/logs--use1-az4--x-s3/runs", "", "s3.example.com", ""},
	} {
		f := Flags{URL: c.url}
		p, err := f.destination()
		check.OK(t, err)
		var cfg store.Config
		if err := f.locate(p, &cfg); err != nil || cfg.Provider != c.provider || cfg.Hosts[0].Name != c.host || cfg.Region != c.region {
			t.Errorf("%s: provider %q at %v in %q, %v", c.url, cfg.Provider, cfg.Hosts, cfg.Region, err)
		}
	}
}
