package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/hashicorp/go-hclog"
)

// While something slow is at work at the start, systemd is asked again and again for another while, so that TimeoutStartSec=
// ends a start that is stuck elsewhere and no migration.
const (
	// During a slow step of the start the service requests more time from
	// systemd again and again: every extendEvery for another extendBy.
	// TimeoutStartSec= then still ends a start that hangs elsewhere, but not a
	// long migration.
	extendEvery = 10 * time.Second
	extendBy    = time.Minute
)

// notifier reports the state of the service to systemd with the protocol of
// sd_notify(3). Without a service manager (NOTIFY_SOCKET is not set) it does
// nothing.
type notifier struct {
	log hclog.Logger
	// send sends one message. Tests replace daemon.SdNotify.
	send func(message string) error
}

// newNotifier returns a notifier that sends to the socket in NOTIFY_SOCKET. It
// keeps the variable, because the watchdog needs it later.
func newNotifier(log hclog.Logger) *notifier {
	return &notifier{log: log, send: func(message string) error {
		_, err := daemon.SdNotify(false, message)
		return err
	}}
}

// tell sends assignments as one message. Errors are only logged: the service
// works without its manager.
func (n *notifier) tell(lines ...string) {
	if err := n.send(strings.Join(lines, "\n")); err != nil {
		n.log.Warn("cannot report the service's state to systemd", "message", lines[0], "error", err)
	}
}

// stopping reports that the service stops. It sends a last sign of life with
// it; from then on the stop is limited by stopTime and by TimeoutStopSec=, so
// the watchdog has no further use.
func (n *notifier) stopping() { n.tell("STOPPING=1", status("Stopping"), "WATCHDOG=1") }

// status returns the assignment of the status line that systemctl status shows.
// It replaces line feeds, because texts from outside could otherwise add
// assignments to the message.
func status(format string, args ...any) string {
	return "STATUS=" + strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " ")
}

// extend requests more time for the start until the returned function is
// called. That function waits for the goroutine to end, so that no late message
// follows READY=1.
func (n *notifier) extend(ctx context.Context) (end func()) {
	more := fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", extendBy.Microseconds())
	n.tell(more)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(extendEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				n.tell(more)
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// watchdogInterval returns how long systemd waits for a sign of life
// (WatchdogSec=), or zero if the watchdog is off.
func watchdogInterval() (time.Duration, error) {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return 0, fmt.Errorf("reading the watchdog's interval from systemd: %w", err)
	}
	return interval, nil
}
