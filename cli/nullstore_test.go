package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/pkg/s3mem"
)

// make bench measures every engine against the null store.
func TestNullStore(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{
		"s3":    {"--access-key=key", "--secret-key=secret"},
		"minio": {"--access-key=key", "--secret-key=secret", "--engine=minio"},
		"gcs":   {"--provider=gcs", "--access-token=token"},
		"azure": {"--provider=azure", "--access-key=account", "--secret-key=c2VjcmV0"},
	} {
		for _, op := range []string{"get", "put", "stat"} {
			t.Run(name+"/"+op, func(t *testing.T) {
				t.Parallel()
				null, err := s3mem.StartNull(s3mem.NullOptions{Size: 1 << 10})
				check.OK(t, err)
				defer null.Close()
				args := []string{op, "--host=" + null.Addr(), "--obj.size=1KiB", "--concurrent=2", "--duration=1s", "--noclear",
					"--benchdata=" + filepath.Join(t.TempDir(), "log")}
				if op != "put" {
					args = append(args, "--objects=8")
				}
				r := runWarp(t, nil, append(args, flags...)...)
				if r.code != 0 || !strings.Contains(r.out, "Operation: "+strings.ToUpper(op)) {
					t.Errorf("exit code %d\n%s%s", r.code, r.out, r.err)
				}
			})
		}
	}
}
