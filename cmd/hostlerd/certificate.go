package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/hostler/hostler/cmd/hostlerd/selfsigned"
)

// certificate is the listener's: the given one, or one of our own kept in the state folder.
func certificate(cfg Config) (tls.Certificate, error) {
	if cfg.TLSCert != "" {
		cert, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
		if err != nil {
			return tls.Certificate{}, fmt.Errorf("reading the listener's certificate: %w", err)
		}
		return cert, nil
	}
	file := filepath.Join(cfg.StateDir, "tls", "self-signed.pem")
	cert, err := tls.LoadX509KeyPair(file, file)
	if err == nil && time.Now().Before(cert.Leaf.NotAfter) {
		return cert, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tls.Certificate{}, fmt.Errorf("reading our own certificate %s: %w", file, err)
	}
	if err := selfsigned.Write(file, cfg.Listen); err != nil {
		return tls.Certificate{}, fmt.Errorf("making a certificate: %w", err)
	}
	return tls.LoadX509KeyPair(file, file)
}
