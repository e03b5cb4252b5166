package teststore

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

func TestReceiversStartAnswerAndStop(t *testing.T) {
	for name, page := range map[string]string{
		Influxd: "/health", StatsdExporter: "/metrics", Pushgateway: "/metrics", Prometheus: "/metrics",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r *Receiver
			t.Run("while it runs", func(t *testing.T) {
				r = StartReceiver(t, name, ReceiverOptions{})
				if text, err := r.Get(t.Context(), page); err != nil || text == "" {
					t.Errorf("%s answers %q, %v", page, text, err)
				}
			})
			if r == nil {
				t.SkipNow()
			}
			if resp, err := http.Get(r.URL); err == nil {
				resp.Body.Close()
				t.Error("it answers after its end")
			}
			if _, err := os.Stat(r.dir); !os.IsNotExist(err) {
				t.Errorf("its folder is still there: %v", err)
			}
		})
	}
}

func TestFlux(t *testing.T) {
	t.Parallel()
	r := StartReceiver(t, Influxd, ReceiverOptions{})
	text, err := r.Flux(t.Context(), `import "array" array.from(rows: [{value: "hello"}])`)
	if err != nil || !strings.Contains(text, "hello") {
		t.Errorf("answers %q, %v", text, err)
	}
}
