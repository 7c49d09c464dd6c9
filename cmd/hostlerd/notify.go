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
	extendEvery = 10 * time.Second
	extendBy    = time.Minute
)

// notifier tells the service manager how the service fares, by sd_notify(3). Where there is no manager it does nothing.
type notifier struct {
	log hclog.Logger
	// send sends one message: daemon.SdNotify, or a test's own.
	send func(message string) error
}

func newNotifier(log hclog.Logger) *notifier {
	return &notifier{log: log, send: func(message string) error {
		_, err := daemon.SdNotify(false, message)
		return err
	}}
}

// tell sends lines as one message. That nobody listens keeps nothing from working.
func (n *notifier) tell(lines ...string) {
	if err := n.send(strings.Join(lines, "\n")); err != nil {
		n.log.Warn("cannot report the service's state to systemd", "message", lines[0], "error", err)
	}
}

// stopping says that the service was told to end. With it goes the last sign of life: from here on stopTime, and systemd's
// TimeoutStopSec=, bound what is left.
func (n *notifier) stopping() { n.tell("STOPPING=1", status("Stopping"), "WATCHDOG=1") }

// status is the line of systemctl status. What comes from outside must not begin another line of the message.
func status(format string, args ...any) string {
	return "STATUS=" + strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " ")
}

// extend asks for more time to start until the function that it returns is called, which waits for the last message.
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

// watchdogInterval is how long systemd waits for a sign of life; zero when it does not.
func watchdogInterval() (time.Duration, error) {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return 0, fmt.Errorf("reading the watchdog's interval from systemd: %w", err)
	}
	return interval, nil
}
