package teststore

import "context"

func (s *Store) launchVersitygw(ctx context.Context, binary string, o Options) error {
	if _, _, err := s.listen(); err != nil {
		return err
	}
	root, err := s.mkdir("root")
	if err != nil {
		return err
	}
	versions, err := s.mkdir("versions") // must be outside the root
	if err != nil {
		return err
	}
	err = s.run(binary, o.Env, "--quiet", "--port", s.Endpoint, "--region", s.Region, "--access", s.AccessKey,
		"--secret", s.SecretKey, "posix", "--versioning-dir", versions, root)
	if err != nil {
		return err
	}
	return s.awaitReady(ctx, answersAnyone(s.Endpoint))
}
