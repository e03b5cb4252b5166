package teststore

import "context"

// launchMoto starts moto's server, which keeps everything in memory and checks no signatures. It does not say whether a
// bucket has versions, and ignores what it does not know.
func (s *Store) launchMoto(ctx context.Context, binary string, o Options) error {
	host, port, err := s.listen()
	if err != nil {
		return err
	}
	if err := s.run(binary, o.Env, "-H", host, "-p", port); err != nil {
		return err
	}
	return s.awaitReady(ctx, answersAnyone(s.Endpoint))
}
