// Package selfsigned creates the self-signed certificate of a service without a
// configured one. Clients pin its fingerprint, so it is created once and has a
// long life.
package selfsigned

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// life is the validity of the certificate. It is long, because clients trust
// the fingerprint and a renewal would break them; browsers ask for a
// confirmation anyway.
const life = 10 * 365 * 24 * time.Hour

// Write creates a key and a certificate and writes them into one PEM file with
// mode 0600. The certificate is valid for the host of the listen address, for
// this machine's host name and for localhost. Its validity begins an hour ago,
// so that clients with slow clocks accept it. The file appears whole or not at
// all.
func Write(file, listen string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	name, err := os.Hostname()
	if err != nil {
		name = "hostler"
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name, Organization: []string{"Hostler, self-signed"}},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(life),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:     []string{name, "localhost"},
	}
	if host, _, err := net.SplitHostPort(listen); err == nil {
		if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
			template.IPAddresses = []net.IP{ip}
		} else if ip == nil && host != "" {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return place(file, text)
}

// place writes a file with mode 0600 that appears whole or not at all: it
// writes a temporary file in the same folder, syncs it and renames it. An empty
// file after a power failure, or half a file on a full disk, would otherwise
// prevent the service from starting until somebody deletes it.
func place(file string, text []byte) error {
	draft, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*") // made with mode 0600
	if err != nil {
		return err
	}
	_, err = draft.Write(text)
	if err = errors.Join(err, draft.Sync(), draft.Close()); err == nil {
		err = os.Rename(draft.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return nil
}
