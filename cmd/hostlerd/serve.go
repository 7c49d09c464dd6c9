package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
)

// stopTime is how long the service takes at most from SIGTERM to its end; stopPlugins is the plugins' part of it.
const (
	stopTime    = 10 * time.Second
	stopPlugins = time.Second
)

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

// serve runs the service until ctx ends, and then stops it in order: no new requests, jobs to a safe point, plugins,
// database.
func serve(ctx context.Context, cfg Config, log hclog.Logger) error {
	if err := os.MkdirAll(cfg.StateDir, 0o711); err != nil {
		return fmt.Errorf("making the state folder: %w", err)
	}
	h, err := wire(ctx, cfg, log)
	if err != nil {
		if ctx.Err() != nil {
			return nil // told to stop before it was up
		}
		return err
	}
	server := newServer(h.handler, log)
	server.BaseContext = func(net.Listener) context.Context { return h.running }
	defer func() {
		deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime-stopPlugins-stopCluster)
		defer cancel()
		h.stop(deadline, server)
	}()
	listener, scheme, err := listen(ctx, cfg)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if err := h.start(ctx); err != nil {
		return err
	}
	log.Info("listening", "url", scheme+"://"+listener.Addr().String(), "version", version)

	select {
	case <-ctx.Done():
		log.Info("stopping")
		return nil
	case err := <-served:
		return fmt.Errorf("serving the API: %w", err)
	case <-h.lost():
		return fmt.Errorf("the private database ended: %w", h.database.cluster.Err())
	}
}
