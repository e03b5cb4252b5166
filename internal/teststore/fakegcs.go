package teststore

import "context"

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
