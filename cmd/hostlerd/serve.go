package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
)

// stopTime is how long the service takes at most from SIGTERM to its end; stopPlugins is the plugins' part of it.
const (
	// stopTime is the maximum time from SIGTERM to the end of the process;
	// stopPlugins is the part of it for the plugins. TimeoutStopSec= of the
	// unit must be longer.
	stopTime    = 10 * time.Second
	stopPlugins = time.Second
)

// serveCommand returns the command that runs the service until SIGTERM or
// Ctrl-C.
func serveCommand(cfg *Config) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Run the service until SIGTERM",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return serve(ctx, *cfg, newLogger(*cfg))
		},
	}
}

// serve runs the service until ctx ends and then stops it in order: no new
// requests, jobs to a safe point, plugins, database. It returns an error if the
// start fails, if the listener fails or if the private PostgreSQL ends; systemd
// then restarts the service. A ctx that ends during the start is not an error.
//
// The listener opens before the plugins start, so that /healthz and /readyz
// respond early and a load balancer sees why the service is not ready yet.
func serve(ctx context.Context, cfg Config, log hclog.Logger) error {
	if err := os.MkdirAll(cfg.StateDir, 0o711); err != nil {
		return fmt.Errorf("creating the state folder: %w", err)
	}
	tell := newNotifier(log.Named("systemd"))
	tell.tell(status("Opening the database"))
	// A migration may take long, and so may the private cluster after a crash.
	started := tell.extend(ctx)
	s, err := open(ctx, cfg, log)
	started()
	if err != nil {
		if ctx.Err() != nil {
			tell.stopping()
			return nil // told to stop before it was up
		}
		return err
	}
	handler := s.Handler()
	server := newServer(handler, log)
	server.BaseContext = func(net.Listener) context.Context { return s.Context() }
	defer func() {
		deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime-stopPlugins-stopCluster)
		defer cancel()
		s.stop(deadline, server)
	}()
	tell.tell(status("Starting plugins, jobs and polls"))
	listener, scheme, err := listen(ctx, cfg, s.acme, log.Named("tls"))
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if s.acme != nil {
		if err := serveChallenges(ctx, cfg, s.acme, log.Named("acme")); err != nil {
			return err
		}
		go s.acme.Run(ctx)
	}
	if err := s.Start(ctx); err != nil {
		if ctx.Err() != nil {
			tell.stopping()
			return nil
		}
		return err
	}
	url := scheme + "://" + listener.Addr().String()
	log.Info("listening", "url", url, "version", version)
	// Ready means: the schema is this release's, the key fits, the API listens, every plugin has been started once, and jobs,
	// polls, schedules and the audit log's seal run. Whether a plugin runs or the database answers later is what /readyz says.
	usual := status("Version %s, listening on %s", version, url)
	tell.tell("READY=1", usual)
	interval, err := watchdogInterval()
	if err != nil {
		return err
	}
	if interval > 0 {
		w := &watchdog{handler: handler, loops: s.Heartbeats, notifier: tell, log: tell.log, answers: databaseAnswers(s.database.DB),
			usual: usual}
		watching, end := context.WithCancel(ctx)
		var ended sync.WaitGroup
		ended.Go(func() { w.run(watching, interval) })
		defer ended.Wait()
		defer end()
	}

	select {
	case <-ctx.Done():
		log.Info("stopping")
		tell.stopping()
		return nil
	case err := <-served:
		return fmt.Errorf("serving the API: %w", err)
	case <-s.lost():
		return fmt.Errorf("the private database ended: %w", s.database.cluster.Err())
	}
}
