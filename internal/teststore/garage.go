package teststore

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// launchGarage starts a cluster of one node. On its command line it does what an operator would: it
// assigns the node a place in the layout and creates a key that may create buckets.
func (s *Store) launchGarage(ctx context.Context, binary string, o Options) error {
	addrs, err := freePorts(2)
	if err != nil {
		return err
	}
	s.Endpoints, s.Endpoint = addrs[:1], addrs[0]
	s.Region = "garage"
	// Garage accepts only keys in its own format.
	s.AccessKey, s.SecretKey = "GK"+strings.Repeat("0a", 12), strings.Repeat("1b", 32)
	conf := filepath.Join(s.dir, "garage.toml")
	if err := os.WriteFile(conf, []byte(s.garageConfig(addrs[1])), 0o600); err != nil {
		return err
	}
	if err := s.run(binary, append([]string{"RUST_LOG=warn"}, o.Env...), "-c", conf, "server"); err != nil {
		return err
	}
	command := func(ctx context.Context, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, binary, append([]string{"-c", conf}, args...)...)
		cmd.Env = []string{"RUST_LOG=error"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("garage %s: %w: %s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out)), nil
	}
	var node string
	err = s.awaitReady(ctx, func(ctx context.Context) error {
		out, err := command(ctx, "node", "id", "-q")
		node, _, _ = strings.Cut(out, "@")
		if err == nil {
			_, err = command(ctx, "status")
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"layout", "assign", "-z", "here", "-c", "1G", node},
		{"layout", "apply", "--version", "1"},
		{"key", "import", "--yes", "-n", "warp", s.AccessKey, s.SecretKey},
		{"key", "allow", "--create-bucket", s.AccessKey},
	} {
		if _, err := command(ctx, args...); err != nil {
			return err
		}
	}
	return s.awaitReady(ctx, answersAnyone(s.Endpoint))
}

func (s *Store) garageConfig(rpc string) string {
	return fmt.Sprintf(`metadata_dir = %q
data_dir = %q
db_engine = "sqlite"
replication_factor = 1
rpc_bind_addr = %q
rpc_public_addr = %q
rpc_secret = %q

[s3_api]
s3_region = %q
api_bind_addr = %q
`, filepath.Join(s.dir, "meta"), filepath.Join(s.dir, "data"), rpc, rpc, strings.Repeat("2c", 32), s.Region, s.Endpoint)
}
