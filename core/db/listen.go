package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"
)

// Settings of the connection for notifications.
const (
	// listenQuiet is how long the connection may be silent before it is asked
	// whether it lives: one whose other end has vanished says nothing for ever.
	listenQuiet = 15 * time.Second
	// listenLimit bounds one statement on it.
	listenLimit = 5 * time.Second
	// listenRetry is the first wait before connecting again; it doubles up to listenRetryMost.
	listenRetry     = 100 * time.Millisecond
	listenRetryMost = 2 * time.Second
)

// Listener hears PostgreSQL's notifications for all parts of the process, on
// one connection of its own outside the pool. It connects while somebody
// listens, and again when the connection breaks.
type Listener struct {
	connection *pgx.ConnConfig
	log        hclog.Logger
	running    context.Context
	end        context.CancelFunc
	loop       sync.WaitGroup

	mu          sync.Mutex
	started     bool
	subscribers map[*Subscriber]bool
	// changed holds a value when subscribers has changed; interrupt ends the
	// wait for a notification then.
	changed   chan struct{}
	interrupt context.CancelFunc
}

// Subscriber is a part that listens. Its functions are called one at a time and
// must not block: whoever is slow holds up all. A call may be under way when
// listening is stopped.
type Subscriber struct {
	Channels []string
	// OnNotify is called for each notification. NOTIFY only wakes: the tables are the truth.
	OnNotify func(channel, payload string)
	// OnReconnect is called when listening begins, and again after each break:
	// anything may have been said before.
	OnReconnect func()
}

// newListener returns a listener that connects when somebody subscribes.
func newListener(connection *pgx.ConnConfig, log hclog.Logger) *Listener {
	if log == nil {
		log = hclog.NewNullLogger()
	}
	l := &Listener{
		connection: connection.Copy(), log: log.Named("listener"), subscribers: map[*Subscriber]bool{},
		changed: make(chan struct{}, 1), interrupt: func() {},
	}
	l.connection.RuntimeParams["application_name"] += " events"
	l.running, l.end = context.WithCancel(context.Background())
	return l
}

// Listen lets the subscriber hear until stop is called, which may be done more
// than once. It returns at once: the subscriber hears from its first OnReconnect on,
// which is late while the database is away.
func (l *Listener) Listen(subscriber Subscriber) (stop func()) {
	e := &subscriber
	l.change(func() {
		l.subscribers[e] = true
		if !l.started && l.running.Err() == nil {
			l.started = true
			l.loop.Go(l.run)
		}
	})
	return func() { l.change(func() { delete(l.subscribers, e) }) }
}

// change changes the subscribers and wakes the loop, which then listens to the
// right channels.
func (l *Listener) change(fn func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fn()
	select {
	case l.changed <- struct{}{}:
	default:
	}
	l.interrupt()
}

// close ends the connection; nobody hears any more.
func (l *Listener) close() {
	l.mu.Lock()
	l.end()
	l.mu.Unlock()
	l.loop.Wait()
}

// run connects again after each failure, with a growing pause.
func (l *Listener) run() {
	wait := listenRetry
	for l.running.Err() == nil {
		began := time.Now()
		err := l.receive()
		if err == nil { // nobody listens
			select {
			case <-l.changed:
			case <-l.running.Done():
			}
			continue
		}
		if l.running.Err() != nil {
			return
		}
		l.log.Warn("listening for notifications was interrupted", "error", err)
		if time.Since(began) > 10*time.Second {
			wait = listenRetry
		}
		select {
		case <-time.After(wait):
		case <-l.running.Done():
		}
		wait = min(2*wait, listenRetryMost)
	}
}

// receive is one life of the connection. It returns nil when nobody listens any more.
func (l *Listener) receive() error {
	if len(l.present()) == 0 {
		return nil
	}
	conn, err := pgx.ConnectConfig(l.running, l.connection)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(l.running), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	told, channels := map[*Subscriber]bool{}, map[string]bool{}
	for {
		// The wait is set up before the subscribers are looked at: one that
		// comes in between ends it.
		waiting, cancel := context.WithTimeout(l.running, listenQuiet)
		l.mu.Lock()
		l.interrupt = cancel
		l.mu.Unlock()
		subscribers := l.present()
		if len(subscribers) == 0 {
			cancel()
			return nil
		}
		if err := l.attend(conn, subscribers, told, channels); err != nil {
			cancel()
			return err
		}
		n, err := conn.WaitForNotification(waiting)
		silent := errors.Is(waiting.Err(), context.DeadlineExceeded)
		interrupted := waiting.Err() != nil
		cancel()
		switch {
		case err == nil:
			for _, e := range l.present() { // as of now: one may have stopped while this waited
				if told[e] && slices.Contains(e.Channels, n.Channel) {
					e.OnNotify(n.Channel, n.Payload)
				}
			}
		case l.running.Err() != nil || !interrupted:
			return fmt.Errorf("waiting for notifications: %w", err)
		case silent:
			if err := l.exec(conn, "SELECT 1"); err != nil {
				return fmt.Errorf("checking the connection: %w", err)
			}
		}
	}
}

// attend listens on the channels of subscribers that are new to this
// connection, and on no others, and tells the new ones.
func (l *Listener) attend(conn *pgx.Conn, subscribers []*Subscriber, told map[*Subscriber]bool, channels map[string]bool) error {
	wanted := map[string]bool{}
	for _, e := range subscribers {
		for _, channel := range e.Channels {
			wanted[channel] = true
			if !channels[channel] {
				if err := l.exec(conn, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
					return fmt.Errorf("listening: %w", err)
				}
				channels[channel] = true
			}
		}
	}
	for channel := range channels {
		if !wanted[channel] {
			if err := l.exec(conn, "UNLISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
				return fmt.Errorf("stopping to listen: %w", err)
			}
			delete(channels, channel)
		}
	}
	for _, e := range subscribers {
		if !told[e] {
			told[e] = true
			e.OnReconnect()
		}
	}
	for e := range told {
		if !slices.Contains(subscribers, e) {
			delete(told, e)
		}
	}
	return nil
}

// exec runs a statement within the limit.
func (l *Listener) exec(conn *pgx.Conn, statement string) error {
	ctx, cancel := context.WithTimeout(l.running, listenLimit)
	defer cancel()
	_, err := conn.Exec(ctx, statement)
	return err
}

// present returns a copy of the subscribers, so that they are called without
// the lock.
func (l *Listener) present() []*Subscriber {
	l.mu.Lock()
	defer l.mu.Unlock()
	subscribers := make([]*Subscriber, 0, len(l.subscribers))
	for e := range l.subscribers {
		subscribers = append(subscribers, e)
	}
	return subscribers
}
