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

// server is the service and what this process has opened for it.
type server struct {
	*service.Service
	database *database
	// copied is held while the key file is a copy; nil otherwise.
	copied *secret.KeyFileCopy
	// acme has the listener's certificates made; nil where none are asked for.
	acme *acme.Manager
}

// open opens the database, brings it up to date, and makes the service of the configuration. Nothing runs yet but the database.
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

// stop ends everything in order, within the context: no new requests, jobs to a safe point, loops, plugins, database.
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

// lost is closed when the private database ended for good; never for a server that was given.
func (s *server) lost() <-chan struct{} {
	if s.database.cluster == nil {
		return nil
	}
	return s.database.cluster.Done()
}
