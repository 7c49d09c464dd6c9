package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"time"
)

// check is one run of everything.
type check struct {
	dir, top, bin, mirror string
	on                    string // the machine, where it is not the only one
	began                 time.Time
	machine               machine
	releases              *releases
	second                *check
	client                *client
	server                tls.Certificate // of the release server
	files                 []string        // of the root before the package came
	figures               []string
	last                  updateState // how the last update should stand
	trail                 []string    // the ends of updates that the audit log should have
	asked                 int         // how often an update was asked for and not refused
}

// step is one thing that is tried; what it returns is told beside its name.
type step struct {
	name string
	do   func(context.Context) (string, error)
}

// stepTime bounds every step: nothing here takes longer when it works.
const stepTime = 12 * time.Minute

// steps does one after the other, up to the first that fails.
func (c *check) steps(ctx context.Context, steps ...step) error {
	for _, s := range steps {
		began := time.Now()
		within, cancel := context.WithTimeout(ctx, stepTime)
		said, err := s.do(within)
		cancel()
		if err != nil {
			return fmt.Errorf("%s%s, after %.1f s: %w", c.on, s.name, time.Since(began).Seconds(), err)
		}
		if said != "" {
			said = ": " + said
		}
		fmt.Printf("%7.1f s  %s%s%s\n", time.Since(began).Seconds(), c.on, s.name, said)
	}
	return nil
}

// figure keeps something for the end.
func (c *check) figure(format string, args ...any) {
	c.figures = append(c.figures, fmt.Sprintf(format, args...))
}

// until looks again and again until it comes true, and then says what last was in the way.
func until(ctx context.Context, within time.Duration, look func() error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		err := look()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it did not come true within %s: %w", within, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// tellWhatHappened prints what helps to understand a failure.
func (c *check) tellWhatHappened() {
	if !c.machine.runs() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for _, command := range []string{
		"systemctl --no-pager --full status 'hostler*'", "journalctl --no-pager -n 120 -u 'hostler*'", "/opt/hostler/updater status",
		"runuser -u postgres -- psql -lqt", "ls -la /opt/hostler /opt/hostler/releases /var/lib/hostler /var/lib/hostler-updater",
	} {
		out, _ := c.machine.sh(ctx, command+" 2>&1") // whatever it says
		fmt.Fprintf(os.Stderr, "--- %s\n%s\n", command, out)
	}
}
