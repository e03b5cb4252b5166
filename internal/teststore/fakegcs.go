package teststore

import (
	"context"
	"net/http"
	"strings"
)

// launchFakeGCS starts fake-gcs-server, which keeps everything in memory and needs no credentials.
func (s *Store) launchFakeGCS(ctx context.Context, binary string, o Options) error {
	host, port, err := s.listen()
	if err != nil {
		return err
	}
	s.Provider, s.AccessKey, s.SecretKey = "gcs", "", ""
	err = s.run(binary, o.Env, "-backend", "memory", "-scheme", "http", "-host", host, "-port", port,
		"-public-host", s.Endpoint, "-external-url", "http://"+s.Endpoint)
	if err != nil {
		return err
	}
	return s.awaitReady(ctx, answers("http://"+s.Endpoint+"/storage/v1/b", isOK))
}

// AskGCS sends a request with a JSON document directly to fake-gcs-server.
func (s *Store) AskGCS(ctx context.Context, method, target, body string) (status int, text string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+s.Endpoint+target, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	return ask(req)
}
