package cli

import (
	"slices"
	"strings"
	"testing"

	"warp/cli/redact"
)

// Both sides are there as often in every block, in mirror order.
func TestBlocks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pairs  int
		turned bool
		want   []int
	}{{2, false, []int{0, 1, 1, 0}}, {2, true, []int{1, 0, 0, 1}}, {1, false, []int{0, 1}}, {1, true, []int{1, 0}}} {
		if got := block(test.pairs, test.turned); !slices.Equal(got, test.want) {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

// What chance decides is not the same for all blocks.
func TestCoin(t *testing.T) {
	t.Parallel()
	heads := 0
	for range 1000 {
		if coin() {
			heads++
		}
	}
	if heads < 300 || heads > 700 {
		t.Errorf("%d of 1000", heads)
	}
}

func TestSecretsOfSides(t *testing.T) {
	t.Parallel()
	args := []string{"ab", "--a=get --secret-key=first-secret --host=x", "--b", "get --secret-key 'second secret' --influxdb http://tok3n@host/b", "-b", "get 'unterminated-secret"}
	shown := strings.Join(redact.Args(args), "\n")
	for _, secret := range []string{"first-secret", "second secret", "tok3n", "unterminated"} {
		if strings.Contains(shown, secret) {
			t.Errorf("%s is shown in %s", secret, shown)
		}
	}
	if !strings.Contains(shown, "--host=x") {
		t.Errorf("what is no secret is hidden: %s", shown)
	}
	hide := redact.New(args, func(string) (string, bool) { return "", false })
	if got := hide.Text("failed: --secret-key=first-secret"); strings.Contains(got, "first-secret") {
		t.Error(got)
	}
}
