package hostload

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// machineID identifies this machine and says nothing else about it. It is "" if unknown, as on
// systems other than Linux. It is a hash of the kernel's boot id, which containers of one machine
// share and virtual machines do not. root is "/", except in tests.
func machineID(root string) string {
	id, err := os.ReadFile(filepath.Join(root, "proc/sys/kernel/random/boot_id"))
	if err != nil || strings.TrimSpace(string(id)) == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("warp machine " + strings.TrimSpace(string(id))))
	return hex.EncodeToString(sum[:8])
}
