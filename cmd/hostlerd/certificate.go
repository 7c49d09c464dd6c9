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

// ownCertificate is the listener's where none is given: it is kept in the state folder.
func ownCertificate(cfg Config) (tls.Certificate, error) {
	file := filepath.Join(cfg.StateDir, "tls", "self-signed.pem")
	cert, err := tls.LoadX509KeyPair(file, file)
	if err == nil && time.Now().Before(cert.Leaf.NotAfter) {
		return cert, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tls.Certificate{}, fmt.Errorf("reading the self-signed certificate %s: %w", file, err)
	}
	if err := selfsigned.Write(file, cfg.Listen); err != nil {
		return tls.Certificate{}, fmt.Errorf("creating a certificate: %w", err)
	}
	return tls.LoadX509KeyPair(file, file)
}
