package hostload

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// machineID tells this machine from others, and nothing else about it; "" where
// not known, as anywhere but on Linux. It is a hash of the kernel's boot id, which
// containers of one machine share and virtual machines do not. root is "/", but
// for tests.
func machineID(root string) string {
	id, err := os.ReadFile(filepath.Join(root, "proc/sys/kernel/random/boot_id"))
	if err != nil || strings.TrimSpace(string(id)) == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("warp machine " + strings.TrimSpace(string(id))))
	return hex.EncodeToString(sum[:8])
}
