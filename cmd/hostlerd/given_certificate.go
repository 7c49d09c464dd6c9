package main

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	// lookEvery is the minimum time between two looks at the files.
	lookEvery = 10 * time.Second
	// warnBefore is how long before the expiry of a certificate the log
	// contains a warning, at most once per warnEvery.
	warnBefore = 14 * 24 * time.Hour
	warnEvery  = 24 * time.Hour
)

// givenCertificate is the certificate of the listener from configured files. It
// reads the files again when they change, so certbot and similar tools need not
// restart the service. It is safe for concurrent use.
type givenCertificate struct {
	cert, key string
	log       hclog.Logger
	now       func() time.Time

	current atomic.Pointer[tls.Certificate]

	mu     sync.Mutex     // of who looks; what follows is theirs
	files  [2]os.FileInfo // as they were when they were read, whether that succeeded or not
	looked time.Time
	warned time.Time
}

// newGivenCertificate reads the files. It returns an error if they are not a
// certificate and its key: at the start a mistake should be visible, whereas
// later the previous certificate stays in use.
func newGivenCertificate(cert, key string, log hclog.Logger, now func() time.Time) (*givenCertificate, error) {
	g := &givenCertificate{cert: cert, key: key, log: log, now: now, looked: now()}
	var err error
	if g.files, err = g.stat(); err != nil {
		return nil, fmt.Errorf("reading the listener's certificate: %w", err)
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("reading the listener's certificate: %w", err)
	}
	g.current.Store(&pair)
	g.warn()
	return g, nil
}

// get returns the certificate for a handshake; it is meant for
// tls.Config.GetCertificate. At most every lookEvery one handshake checks the
// files. Others do not wait for it (TryLock) and use the current certificate.
// If the files cannot be read, or do not fit together because a tool is
// replacing them, the current certificate stays.
func (g *givenCertificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if g.mu.TryLock() {
		defer g.mu.Unlock()
		if now := g.now(); now.Sub(g.looked) >= lookEvery || now.Before(g.looked) {
			g.looked = now
			g.look()
			g.warn()
		}
	}
	return g.current.Load(), nil
}

// look reads the files if they changed since the last attempt. It remembers a
// failed attempt as well, so that a broken file is logged once and not every
// ten seconds; it is read again when it changes. The caller locks mu.
func (g *givenCertificate) look() {
	files, err := g.stat()
	if err != nil {
		if g.files != [2]os.FileInfo{} {
			g.log.Error("cannot read the listener's certificate; the previous one stays in use", "error", err)
		}
		g.files = [2]os.FileInfo{} // what comes back is read
		return
	}
	if same(files[0], g.files[0]) && same(files[1], g.files[1]) {
		return
	}
	g.files = files
	cert, err := tls.LoadX509KeyPair(g.cert, g.key)
	if err != nil {
		g.log.Error("cannot read the listener's certificate; the previous one stays in use", "error", err)
		return
	}
	if !cert.Leaf.Equal(g.current.Load().Leaf) {
		g.log.Info("the listener uses a new certificate", "until", cert.Leaf.NotAfter.UTC().Format(time.RFC3339))
		g.warned = time.Time{}
	}
	g.current.Store(&cert)
}

// stat returns the file information of the certificate and the key. It follows
// symbolic links, because certbot replaces links.
func (g *givenCertificate) stat() (files [2]os.FileInfo, err error) {
	for i, name := range []string{g.cert, g.key} {
		if files[i], err = os.Stat(name); err != nil {
			return [2]os.FileInfo{}, err
		}
	}
	return files, nil
}

// same reports whether a file is unchanged: the same inode, time of
// modification and size. b is nil if the file could not be inspected before.
func same(a, b os.FileInfo) bool {
	return b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// warn logs a certificate that expires within warnBefore or has expired, at
// most once per warnEvery. The caller locks mu, except before the first
// handshake.
func (g *givenCertificate) warn() {
	now := g.now()
	end := g.current.Load().Leaf.NotAfter
	if end.Sub(now) > warnBefore || now.Sub(g.warned) < warnEvery {
		return
	}
	g.warned = now
	what := "the listener's certificate expires soon"
	if now.After(end) {
		what = "the listener's certificate has expired"
	}
	g.log.Warn(what, "until", end.UTC().Format(time.RFC3339), "file", g.cert)
}
