package teststore

import (
	"context"
	"net/http"
)

// launchFakeGCS starts fake-gcs-server, which keeps everything in memory and needs no credentials.
func (s *Store) launchFakeGCS(ctx context.Context, binary string, o Options) error {
	addrs, err := freePorts(1)
	if err != nil {
		return err
	}
	s.Endpoints, s.Endpoint, s.Provider = addrs, addrs[0], "gcs"
	s.AccessKey, s.SecretKey = "", ""
	host, port := "127.0.0.1", s.Endpoint[len("127.0.0.1:"):]
	err = s.run(binary, o.Env, "-backend", "memory", "-scheme", "http", "-host", host, "-port", port,
		"-public-host", s.Endpoint, "-external-url", "http://"+s.Endpoint)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return s.awaitReady(ctx, func(ctx context.Context) error {
		return answersHTTP(ctx, client, "http://"+s.Endpoint+"/storage/v1/b", func(r *http.Response) bool { return r.StatusCode == http.StatusOK })
	})
}
