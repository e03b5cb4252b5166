package cli

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"warp/internal/check"
	"warp/internal/teststore"
)

// twoClients starts clients, and returns what --warp-client takes.
func twoClients(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("warp")
	check.OK(t, err)
	var clients []string
	for range 2 {
		address := teststore.FreeAddress(t)
		for slices.Contains(clients, address) { // the first client does not listen yet
			address = teststore.FreeAddress(t)
		}
		clients = append(clients, address)
		agent := exec.Command(path, "client", clients[len(clients)-1])
		agent.Env, agent.Dir = append(os.Environ(), teststore.QuickExit), t.TempDir()
		check.OK(t, agent.Start())
		t.Cleanup(func() {
			_ = agent.Process.Signal(syscall.SIGTERM)
			_ = agent.Wait()
		})
	}
	return strings.Join(clients, ",")
}
