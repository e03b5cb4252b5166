package dial

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"warp/pkg/store"
)

// NewTLSConfig returns the configuration of TLS that cfg asks for.
func NewTLSConfig(cfg *store.Config) (*tls.Config, error) {
	c := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: cfg.Insecure, // the user asked for it by --insecure
		ClientSessionCache: tls.NewLRUClientSessionCache(1024),
		// Small records at first are for readers of web pages; here they are more records for the same request.
		DynamicRecordSizingDisabled: true,
	}
	var err error
	if c.Certificates, err = clientCertificates(cfg); err != nil {
		return nil, fmt.Errorf("read the client certificate: %w", err)
	}
	pem, err := authorities(cfg)
	if err != nil || pem == nil {
		return c, err
	}
	// The system's roots stay trusted: a private CA is an addition.
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read the CA file: %s holds no PEM certificate", cfg.CAFile)
	}
	c.RootCAs = pool
	return c, nil
}

// clientCertificates are those to show to the store.
func clientCertificates(cfg *store.Config) ([]tls.Certificate, error) {
	var own tls.Certificate
	var err error
	switch {
	case cfg.CertPEM != nil:
		own, err = tls.X509KeyPair(cfg.CertPEM, cfg.KeyPEM)
	case cfg.ClientCert != "":
		own, err = tls.LoadX509KeyPair(cfg.ClientCert, cfg.ClientKey)
	default:
		return nil, nil
	}
	return []tls.Certificate{own}, err
}

// authorities is the content of the CA file; nil where none is given.
func authorities(cfg *store.Config) ([]byte, error) {
	if cfg.CAPEM != nil || cfg.CAFile == "" {
		return cfg.CAPEM, nil
	}
	pem, err := os.ReadFile(cfg.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read the CA file: %w", err)
	}
	return pem, nil
}
