package dial

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"

	"warp/internal/wholefile"
	"warp/pkg/store"
)

// NewTLSConfig returns the TLS configuration for cfg.
func NewTLSConfig(cfg *store.Config) (*tls.Config, error) {
	c := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: cfg.Insecure, // the user set --insecure
		ClientSessionCache: tls.NewLRUClientSessionCache(1024),
		// Small first records help browsers. Here they only mean more records per request.
		DynamicRecordSizingDisabled: true,
	}
	var err error
	if c.Certificates, err = ClientCertificates(cfg); err != nil {
		return nil, fmt.Errorf("read the client certificate: %w", err)
	}
	if c.RootCAs, err = Roots(cfg); err != nil {
		return nil, fmt.Errorf("read the CA file: %w", err)
	}
	return c, nil
}

// Roots returns the authorities that verify the store's certificate, or nil for the system's alone.
func Roots(cfg *store.Config) (*x509.CertPool, error) {
	pem := cfg.CAPEM
	if pem == nil && cfg.CAFile != "" {
		var err error
		if pem, err = wholefile.Read(cfg.CAFile, wholefile.Small); err != nil {
			return nil, err
		}
	}
	if pem == nil {
		return nil, nil
	}
	// The system's roots stay trusted: a private CA is an addition.
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no PEM certificate", cfg.CAFile)
	}
	return pool, nil
}

// ReadKeyPair reads a certificate and its key from PEM files.
func ReadKeyPair(certificate, key string) (pair tls.Certificate, err error) {
	pem, err := wholefile.Read(certificate, wholefile.Small)
	if err != nil {
		return pair, err
	}
	secret, err := wholefile.Read(key, wholefile.Small)
	if err != nil {
		return pair, err
	}
	return tls.X509KeyPair(pem, secret)
}

// ClientCertificates returns the certificates to present to the store.
func ClientCertificates(cfg *store.Config) ([]tls.Certificate, error) {
	var own tls.Certificate
	var err error
	switch {
	case cfg.CertPEM != nil:
		own, err = tls.X509KeyPair(cfg.CertPEM, cfg.KeyPEM)
	case cfg.ClientCert != "":
		own, err = ReadKeyPair(cfg.ClientCert, cfg.ClientKey)
	default:
		return nil, nil
	}
	return []tls.Certificate{own}, err
}
