package teststore

import (
	"context"
	"net/http"
)

func (s *Store) launchVersitygw(ctx context.Context, binary string, o Options) error {
	addrs, err := freePorts(1)
	if err != nil {
		return err
	}
	s.Endpoints, s.Endpoint = addrs, addrs[0]
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

// answersAnyone accepts an S3 error, because a store that rejects an anonymous request is up.
func answersAnyone(addr string) func(context.Context) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return func(ctx context.Context) error {
		return answersHTTP(ctx, client, "http://"+addr+"/", func(r *http.Response) bool { return r.StatusCode < 500 })
	}
}
