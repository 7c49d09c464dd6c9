package main

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/cmd/hostlerd/selfsigned"
	"github.com/hostler/hostler/internal/waittest"
)

// Files of a certificate that are replaced while the service listens are seen by the next visitor, and what is no pair changes nothing.
func TestGivenCertificateIsRenewed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	made := func(name string) []byte {
		t.Helper()
		file := filepath.Join(dir, name+".pem")
		if err := selfsigned.Write(file, "192.0.2.1:8480"); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	first, second, third := made("first"), made("second"), made("third")
	leaf := func(text []byte) *x509.Certificate {
		t.Helper()
		pair, err := tls.X509KeyPair(text, text)
		if err != nil {
			t.Fatal(err)
		}
		return pair.Leaf
	}
	cfg := Config{TLSCert: filepath.Join(dir, "cert"), TLSKey: filepath.Join(dir, "key")}
	// As most programs that renew do: a new file in the place of the old one.
	place := func(path string, text []byte) {
		t.Helper()
		if err := os.WriteFile(path+".new", text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	var said waittest.Text
	var ahead atomic.Int64
	start := time.Now()
	now := func() time.Time { return start.Add(time.Duration(ahead.Load())) }
	log := hclog.New(&hclog.LoggerOptions{Output: &said})

	if _, err := newGivenCertificate(cfg.TLSCert, cfg.TLSKey, log, now); err == nil {
		t.Error("no files, and no error")
	}
	place(cfg.TLSCert, first)
	place(cfg.TLSKey, second)
	_, err := newGivenCertificate(cfg.TLSCert, cfg.TLSKey, log, now)
	if err == nil || !strings.Contains(err.Error(), "private key does not match") {
		t.Errorf("a key of another certificate: %v", err)
	}
	place(cfg.TLSKey, first)
	given, err := newGivenCertificate(cfg.TLSCert, cfg.TLSKey, log, now)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := tls.NewListener(plain, &tls.Config{GetCertificate: given.get})
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				_ = conn.(*tls.Conn).Handshake()
				_ = conn.Close()
			}()
		}
	}()
	shown := func() string {
		t.Helper()
		var serial string
		conn, err := tls.Dial("tcp", plain.Addr().String(), &tls.Config{
			InsecureSkipVerify: true, VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
				cert, err := x509.ParseCertificate(raw[0])
				if err == nil {
					serial = cert.SerialNumber.String()
				}
				return err
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		return serial
	}
	read := 0 // so much of the log
	want := func(what string, text []byte, words ...string) {
		t.Helper()
		ahead.Add(int64(lookEvery))
		if got := shown(); got != leaf(text).SerialNumber.String() {
			t.Errorf("%s: the certificate %s is shown, want %s", what, got, leaf(text).SerialNumber)
		}
		all := said.String()
		lines := all[read:]
		read = len(all)
		for _, word := range words {
			if !strings.Contains(lines, word) {
				t.Errorf("%s: the log does not say %q: %s", what, word, lines)
			}
		}
		if len(words) == 0 && lines != "" {
			t.Errorf("%s: the log says %s", what, lines)
		}
	}
	want("in the beginning", first)
	place(cfg.TLSCert, second)
	want("between its two files", first, "private key does not match")
	want("and still", first)
	place(cfg.TLSKey, second)
	if got := shown(); got != leaf(first).SerialNumber.String() {
		t.Error("the files are looked at with each handshake")
	}
	want("afterwards", second, "uses a new certificate")
	if err := os.Remove(cfg.TLSKey); err != nil {
		t.Fatal(err)
	}
	want("without a key", second, "no such file")
	place(cfg.TLSCert, []byte("half a cert"))
	place(cfg.TLSKey, third)
	want("with a certificate that is cut off", second, "failed to find any PEM data")
	place(cfg.TLSCert, third)
	want("at the end", third, "uses a new certificate")
	ahead.Store(int64(leaf(third).NotAfter.Sub(start) - warnBefore + time.Minute))
	want("near its end", third, "expires soon")
	want("a moment later", third)
	ahead.Store(int64(leaf(third).NotAfter.Sub(start) + time.Minute))
	want("past its end", third, "has expired")
}
