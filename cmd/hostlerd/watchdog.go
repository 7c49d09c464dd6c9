package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/heartbeat"
	"github.com/hostler/hostler/core/service"
)

// loopGrace is how late a loop may be before it counts as stuck. Waiting for
// the database times out much earlier, and a restart interrupts jobs, so the
// limit is generous.
const loopGrace = 5 * time.Minute

// watchdog sends signs of life to systemd while the service is useful. It sends
// none when only a restart could help: when the API does not answer, or when a
// loop is stuck. An unreachable database or host is no such case, because a
// restart would not bring it back.
type watchdog struct {
	handler  http.Handler
	loops    map[service.Loop]*heartbeat.Monitor
	notifier *notifier
	log      hclog.Logger
	// answers checks whether the database responds, on a new connection: a loop
	// may be waiting for a connection of an exhausted pool.
	answers func(context.Context) error
	// usual is the status line while everything is well.
	usual string
}

// run checks the service at half of the interval within which systemd expects a
// sign of life, until ctx ends. A failed check sends a status line that names
// the reason, but no sign of life; systemd kills the service when the interval
// has passed. So a single slow check does not restart it.
func (w *watchdog) run(ctx context.Context, interval time.Duration) {
	every := max(interval/2, time.Millisecond)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	well := true
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		// What is asked must answer before the next sign is due.
		asked, cancel := context.WithTimeout(ctx, every/2)
		err := w.look(asked)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			w.log.Error("the service does not respond; systemd will restart it", "error", err)
			w.notifier.tell(status("%v", err))
			well = false
		case !well:
			well = true
			w.log.Info("the service answers again")
			w.notifier.tell("WATCHDOG=1", w.usual)
		default:
			w.notifier.tell("WATCHDOG=1")
		}
	}
}

// look returns an error that says why a restart would help, or nil. A late loop
// while the database does not respond is only logged.
func (w *watchdog) look(ctx context.Context) error {
	if err := w.ask(ctx); err != nil {
		return err
	}
	for name, loop := range w.loops {
		late := loop.Late()
		if late < loopGrace {
			continue
		}
		if err := w.answers(ctx); err != nil {
			w.log.Warn("a loop is waiting for the database", "loop", name, "late", late, "error", err)
			return nil
		}
		return fmt.Errorf("the loop %q is overdue by %v", name, late.Round(time.Second))
	}
	return nil
}

// ask sends /healthz through the whole handler, without the network. The
// handler runs in a goroutine, because a handler that hangs cannot be stopped;
// it is abandoned then. A panic counts as no answer.
func (w *watchdog) ask(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "/healthz", http.NoBody)
	if err != nil {
		return fmt.Errorf("creating a request: %w", err)
	}
	code := make(chan int, 1)
	go func() {
		var a sinkAnswer
		defer func() {
			_ = recover() // as net/http does; a panic is no answer
			code <- a.code
		}()
		w.handler.ServeHTTP(&a, req)
	}()
	select {
	case got := <-code:
		if got != http.StatusOK {
			return fmt.Errorf("the API answers /healthz with %d", got)
		}
		return nil
	case <-ctx.Done():
		return errors.New("the API does not answer")
	}
}

// sinkAnswer is an http.ResponseWriter that only keeps the status.
type sinkAnswer struct {
	header http.Header
	code   int
}

func (a *sinkAnswer) Header() http.Header {
	if a.header == nil {
		a.header = http.Header{}
	}
	return a.header
}

func (a *sinkAnswer) WriteHeader(code int) {
	if a.code == 0 {
		a.code = code
	}
}

func (a *sinkAnswer) Write(text []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return len(text), nil
}

// databaseAnswers returns a check that opens and closes a new connection to the
// database.
func databaseAnswers(d *db.DB) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := pgx.ConnectConfig(ctx, d.Pool.Config().ConnConfig)
		if err != nil {
			return err
		}
		_ = conn.Close(ctx)
		return nil
	}
}
