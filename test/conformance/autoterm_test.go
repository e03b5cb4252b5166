package conformance

import (
	"regexp"
	"strings"
	"testing"

	"warp/internal/teststore"
)

// TestAutoterm runs each benchmark without a time limit until all of its operations are steady: in
// payload if they move any, otherwise in objects.
func TestAutoterm(t *testing.T) {
	t.Parallel()
	s := stores.Shared(t, teststore.MinIO)
	bytes, objects := `[KM]?i?B/s`, `obj/s`
	for _, c := range []struct {
		args []string
		ops  map[string]string // with the unit of their throughput
	}{
		{[]string{"get", "--objects=20"}, map[string]string{"GET": bytes}},
		{[]string{"put"}, map[string]string{"PUT": bytes}},
		{[]string{"stat", "--objects=20"}, map[string]string{"STAT": objects}},
		{[]string{"list", "--objects=20"}, map[string]string{"LIST": objects}},
		{[]string{"mixed", "--objects=20"}, map[string]string{"DELETE": objects, "GET": bytes, "PUT": bytes, "STAT": objects}},
		{[]string{"versioned", "--objects=20"}, map[string]string{"DELETE": objects, "GET": bytes, "PUT": bytes, "STAT": objects}},
		{[]string{"retention", "--objects=10", "--versions=2"}, map[string]string{"RETENTION": objects}},
		{[]string{"tagging", "--objects=20"}, map[string]string{"DELETETAGS": objects, "GETTAGS": objects, "PUTTAGS": objects}},
		{[]string{"zip", "--files=20"}, map[string]string{"GET": bytes}},
		{[]string{"snowball", "--objs.per=5"}, map[string]string{"PUT": bytes}},
		{[]string{"fanout", "--copies=5"}, map[string]string{"POST": bytes}},
		{[]string{"copy", "--objects=20"}, map[string]string{"COPY": bytes}},
		{[]string{"multipart", "--parts=2", "--part.size=5MiB"}, map[string]string{"GET": bytes}},
		{[]string{"multipart-put", "--parts=2", "--part.size=5MiB"}, map[string]string{"PUTPART": bytes, "UPLOAD": objects}},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			t.Parallel()
			args := append(c.args, "--concurrent=2", "--duration=0", "--autoterm", "--autoterm.dur=1s", "--autoterm.pct=100")
			if !strings.Contains(c.args[0], "multipart") {
				args = append(args, "--obj.size=1KiB")
			}
			o, log := newBed(t, s).run(args...)
			o.want(t, 0)
			o.sameAsAnalyze(t, log)
			m := regexp.MustCompile(`(?m)^The run ended because the throughput was steady \S+ after the start \((.*)\)\.$`).FindStringSubmatch(o.out)
			if m == nil {
				t.Fatalf("it does not say why it ended: %s", o)
			}
			whys := strings.Split(m[1], ", ")
			h := readLog(t, log)
			for op := range c.ops {
				// Do not wait for an operation that a busy machine has not started yet.
				if n := len(h.of(op)); n > 20 && !strings.Contains(m[1], op+" within ") {
					t.Errorf("it says %q, and nothing of the %d requests of %s", m[1], n, op)
				}
			}
			for _, why := range whys {
				op, _, _ := strings.Cut(why, " ")
				if !regexp.MustCompile(`^\w+ within [0-9.]+ % of [0-9.]+ ` + c.ops[op] + ` for \d+s$`).MatchString(why) {
					t.Errorf("%s: it says %q", op, why)
				}
			}
		})
	}
}
