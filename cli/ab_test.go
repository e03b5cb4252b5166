package cli

import (
	"strings"
	"testing"

	"warp/cli/terminal/redact"
)

func TestSecretsOfSides(t *testing.T) {
	t.Parallel()
	args := []string{"ab", "--a=get --secret-key=first-secret --host=x", "--b", "get --secret-key 'second secret' --influxdb http://tok3n@host/b", "-b", "get 'unterminated-secret",
		"--c", "get --secret-key third-secret", "--h=get --secret-key=eighth-secret", "-h", "--session-token", "plain-secret"}
	shown := strings.Join(redact.Args(args), "\n")
	for _, secret := range []string{"first-secret", "second secret", "tok3n", "unterminated", "third-secret", "eighth-secret", "plain-secret"} {
		if strings.Contains(shown, secret) {
			t.Errorf("%s is shown in %s", secret, shown)
		}
	}
	if !strings.Contains(shown, "--host=x") {
		t.Errorf("a word that is not secret is hidden: %s", shown)
	}
	hide := redact.New(args, func(string) (string, bool) { return "", false })
	if got := hide.Text("failed: --secret-key=first-secret"); strings.Contains(got, "first-secret") {
		t.Error(got)
	}
}
