package main

import (
	"context"
	"net/http"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/acme"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/selfupdate"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/ui"
	"github.com/hostler/hostler/core/upload"
)

// server is the service with the resources that this process opened for it.
// stop releases all of them.
type server struct {
	*service.Service
	database *database
	// copied registers that this process uses a copy of the key file (a systemd
	// credential), which blocks key rotation while it runs. It is nil
	// otherwise.
	copied *secret.KeyFileCopy
	// acme requests the listener's certificates; nil if ACME is not configured.
	acme *acme.Manager
}

// open opens the database, migrates it, loads the key, prepares the plugins and
// puts the service together. Nothing but the database runs yet: no plugin, no
// job, no poll. On an error it releases what it opened. The order matters: a
// database of a newer release or a missing key must be reported before anything
// is written.
func open(ctx context.Context, cfg Config, log hclog.Logger) (_ *server, err error) {
	d, err := openDatabase(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	s := &server{database: d}
	defer func() {
		if err != nil {
			s.copied.Close()
			d.close()
		}
	}()
	if err := d.migrate(ctx); err != nil {
		return nil, err
	}
	if cfg.keyIsCredential() {
		if s.copied, err = secret.RegisterCopy(ctx, d.DB, log.Named("keys")); err != nil {
			return nil, err
		}
	}
	keys, err := loadKeys(ctx, cfg, d.DB)
	if err != nil {
		return nil, err
	}
	if s.acme, err = newACME(cfg, d.DB, keys, log); err != nil {
		return nil, err
	}
	plugins, err := newPlugins(cfg, d.DB, log)
	if err != nil {
		return nil, err
	}
	if err := trustInstalled(ctx, d.DB, plugins, log); err != nil {
		return nil, err
	}
	spool, err := upload.OpenSpool(cfg.UploadDir)
	if err != nil {
		return nil, err
	}
	page, err := ui.Handler(ui.Files())
	if err != nil {
		return nil, err
	}
	s.Service, err = service.New(service.Config{
		DB: d.DB, Keys: keys, Drivers: plugins, Firewalls: plugins, Catalogs: plugins, Plugins: plugins, Loggers: log.Named,
		Loops:   service.Loops,
		Version: version, UI: page, BaseURL: cfg.proxy.BaseURL, TrustedProxies: cfg.proxy.Trusted,
		StateDir: cfg.StateDir, Spool: spool, Self: guest.DetectSelf(d.DB), AllowLocal: cfg.AllowLoopbackHosts,
		Updates: selfupdate.Config{ConfigFile: cfg.UpdateConfig, Shape: selfupdate.Shape(cfg.Shape), Machine: selfupdate.ThisMachine()},
	})
	return s, err
}

// stop stops the service in order, limited by ctx: it refuses new requests
// while running jobs reach a safe point, then ends loops and plugins, and
// finally closes the database. Draining and the shutdown of the HTTP server run
// at the same time, because event streams only end with Drain and Shutdown
// waits for them. Connections that are still open when ctx ends are closed.
func (s *server) stop(ctx context.Context, listening *http.Server) {
	var ending sync.WaitGroup
	ending.Go(func() { s.Drain(ctx) }) // event streams end with it
	ending.Go(func() {
		if err := listening.Shutdown(ctx); err != nil {
			_ = listening.Close()
		}
	})
	ending.Wait()
	s.Close()
	s.copied.Close()
	s.database.close()
}

// lost returns a channel that is closed when the private PostgreSQL ended for
// good. For an external server it is nil, which blocks forever in a select.
func (s *server) lost() <-chan struct{} {
	if s.database.cluster == nil {
		return nil
	}
	return s.database.cluster.Done()
}
