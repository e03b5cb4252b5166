package teststore

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
)

// drives gives MinIO erasure coding, without which it has neither versions nor lock.
const drives = 4

// launchMinIO runs one process per host over the same drives. Each is an independent server of
// these drives, so hosts after the first see an object only if MinIO's caches allow. This is
// sufficient for spreading load and for losing a host.
func (s *Store) launchMinIO(ctx context.Context, binary string, o Options) error {
	addrs, err := freePorts(max(o.Hosts, 1))
	if err != nil {
		return err
	}
	s.Endpoints, s.Endpoint = addrs, addrs[0]
	certs, err := s.mkdir("certs")
	if err != nil {
		return err
	}
	scheme := "http"
	if o.TLS {
		scheme = "https"
		if s.CAFile, err = writeCertificates(s.dir, certs, "public.crt", "private.key"); err != nil {
			return err
		}
	}
	env := append([]string{
		"MINIO_ROOT_USER=" + s.AccessKey, "MINIO_ROOT_PASSWORD=" + s.SecretKey,
		"MINIO_CI_CD=1", "MINIO_UPDATE=off", "MINIO_BROWSER=off",
		"MINIO_KMS_SECRET_KEY=warp-test-key:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
	}, o.Env...)
	for _, addr := range addrs {
		args := []string{"server", "--quiet", "--address", addr, "--certs-dir", certs}
		for d := range drives {
			args = append(args, filepath.Join(s.dir, fmt.Sprintf("drive%d", d+1)))
		}
		if err := s.run(binary, env, args...); err != nil {
			return err
		}
		ready := answers(scheme+"://"+addr+"/minio/health/ready", func(r *http.Response) bool {
			return isOK(r) && r.Header.Get("X-Minio-Server-Status") == ""
		})
		if err := s.awaitReady(ctx, ready); err != nil {
			return err
		}
	}
	return nil
}
