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
	// lookEvery is the time after which a handshake looks whether the files are others.
	lookEvery = 10 * time.Second
	// warnBefore is how long before the end of a certificate the log warns of it, once in warnEvery.
	warnBefore = 14 * 24 * time.Hour
	warnEvery  = 24 * time.Hour
)

// givenCertificate is the listener's where files are given. Whoever renews them need not tell the service: it looks at them again.
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

// newGivenCertificate reads the files, and fails where they are no certificate and its key.
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

// get is for tls.Config.GetCertificate. What cannot be read, or does not belong together because it is being replaced, changes nothing.
// One handshake looks at the files, and no other waits for it.
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

func (g *givenCertificate) stat() (files [2]os.FileInfo, err error) {
	for i, name := range []string{g.cert, g.key} {
		if files[i], err = os.Stat(name); err != nil {
			return [2]os.FileInfo{}, err
		}
	}
	return files, nil
}

func same(a, b os.FileInfo) bool {
	return b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// warn tells the log of a certificate that is near its end, or past it.
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
