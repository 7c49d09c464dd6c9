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

// ownCertificate returns the self-signed certificate of the service, for a
// listener without a configured certificate. It is kept in tls/self-signed.pem
// in the state folder, so that clients can pin its fingerprint. A new one is
// created if none exists or the old one expired. A file that cannot be read is
// an error and is not replaced: a new certificate would break every client that
// pinned the old one.
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
