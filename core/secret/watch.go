package secret

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// ErrOutdated: this instance's copy of the key file has missed a rotation.
var ErrOutdated = errors.New("the key file missed a rotation")

// These are the times between two looks at the key file.
const (
	// watchEvery is the time between two looks, for announcements that were
	// missed. watchAgain is that time after a look that failed, and how often
	// the file of an outdated instance is looked at.
	watchEvery = 15 * time.Second
	watchAgain = time.Second
	// watchLimit bounds one look.
	watchLimit = 5 * time.Second
	// confirmedFor is how long a look holds for Seal: who stood still for longer looks first.
	confirmedFor = time.Minute
)

// WatchConfig says how a Box holds its key file against the database. DB and Tables
// are required; Tables as for Rotation.
type WatchConfig struct {
	DB     *db.DB
	Tables []Table
	Logger hclog.Logger
	// Changed is told when the key file turns out to have missed a rotation,
	// with an ErrOutdated, and with nil when it has the keys again. It must not
	// block and may be nil.
	Changed func(outdated error)
	// Every is the time between two looks; zero means 15 s.
	Every time.Duration
}

// watchState is what the last looks came to.
type watchState struct {
	looking sync.Mutex // held by CheckKeyFile

	mu       sync.Mutex
	watched  bool
	outdated error
	// confirmed is when the last look succeeded.
	confirmed time.Time
	// woken holds a value when a look is wanted now.
	woken chan struct{}
}

// Outdated is nil, or why this instance cannot do without another key file: an
// ErrOutdated. Box.Watch finds out.
func (b *Box) Outdated() error {
	b.watchState.mu.Lock()
	defer b.watchState.mu.Unlock()
	return b.watchState.outdated
}

// sealable is why nothing may be sealed now, or nil.
func (b *Box) sealable() error {
	s := &b.watchState
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.outdated != nil:
		return unavailable(s.outdated)
	case s.watched && time.Since(s.confirmed) > confirmedFor:
		b.wake()
		return problem.New(problem.CodeDatabaseUnavailable, "the encryption key could not be checked in the database recently; try "+
			"again in a moment")
	}
	return nil
}

// unavailable is the answer to requests while this instance cannot open
// secrets. It does not show the cause, which names paths.
func unavailable(outdated error) error {
	return problem.New(problem.CodeKeyOutdated,
		"this instance has an old copy of the key file; use another instance, or copy the current key file to this one").
		WithCause(outdated)
}

// wake asks for a look now.
func (b *Box) wake() {
	select {
	case b.watchState.woken <- struct{}{}:
	default:
	}
}

// CheckKeyFile holds the key file against what the database says now, and returns an
// ErrOutdated when the file lacks a key. A file that is newer than what the
// database says is announced. Other errors say that the look failed; nothing
// has changed then. It must not be called within a transaction: it takes a
// connection.
func (b *Box) CheckKeyFile(ctx context.Context, w WatchConfig) error {
	w.complete()
	b.watchState.looking.Lock()
	defer b.watchState.looking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, watchLimit)
	defer cancel()
	id, ok, err := AnnouncedKey(ctx, w.DB.Pool)
	if err != nil {
		return err
	}
	used, err := UsedKeys(ctx, w.DB.Pool, w.Tables)
	if err != nil && !errors.Is(err, ErrDecrypt) { // a value that nobody can open says nothing of the file
		return err
	}
	// A file that is gone or broken leaves what was read of it before, which
	// opens all that it opened then.
	r, fileErr := b.current()
	if fileErr != nil {
		b.mu.Lock()
		r = b.keyring
		b.mu.Unlock()
	}
	if ok {
		used = append(used, id)
	}
	var outdated error
	for _, id := range used {
		if outdated == nil && !r.has(id) {
			outdated = b.lacks(r, id, fileErr)
		}
	}
	if outdated == nil && (!ok || id != r.primary) {
		// Nobody has said anything, or a rotation was cut off before it did, or
		// the database was put back to before it.
		var before *KeyID
		if ok {
			before = &id
			w.Logger.Info("the key file is newer than the database, for example after restoring a backup: its key is now the "+
				"encryption key",
				"key", r.primary, "before", id)
		}
		// Whoever spoke first has woken this watch: the next look holds the file against that.
		if _, err := announce(ctx, w.DB, before, r.primary); err != nil {
			return err
		}
	}
	b.stand(outdated, w)
	return outdated
}

// lacks says which key is missing, and why the file could not help.
func (b *Box) lacks(r *keyring, id KeyID, fileErr error) error {
	err := fmt.Errorf("%w: the database's secrets are encrypted with key %s, but %s has only %s", ErrOutdated, id, b.path, list(r.ids()))
	if fileErr != nil {
		err = fmt.Errorf("%w (%w)", err, fileErr)
	}
	return err
}

// stand notes the outcome of a look, and tells once of each change.
func (b *Box) stand(outdated error, w WatchConfig) {
	s := &b.watchState
	s.mu.Lock()
	before := s.outdated
	s.outdated, s.confirmed = outdated, time.Now()
	s.mu.Unlock()
	switch {
	case outdated != nil && (before == nil || before.Error() != outdated.Error()):
		w.Logger.Error("this instance starts no jobs, polls nothing and encrypts nothing until it has the current key file: copy the "+
			"file from where the key was rotated", "error", outdated)
	case outdated == nil && before != nil:
		w.Logger.Info("the key file has the current key again")
	}
	if w.Changed != nil && (outdated == nil) != (before == nil) {
		w.Changed(outdated)
	}
}

// Watch looks at once, whenever another key is announced, and now and then,
// until the context ends. From its first call on Seal refuses with a problem
// key_outdated when this file has missed a rotation. The right file heals it by
// itself.
func (b *Box) Watch(ctx context.Context, w WatchConfig) {
	w.complete()
	s := &b.watchState
	s.mu.Lock()
	s.watched = true
	s.mu.Unlock()
	defer w.DB.Listener().Listen(db.Subscriber{Channels: []string{channelKey}, OnNotify: func(_, _ string) { b.wake() },
		OnReconnect: b.wake})()
	failing := false
	for ctx.Err() == nil {
		err := b.CheckKeyFile(ctx, w)
		next := w.Every
		switch {
		case errors.Is(err, ErrOutdated):
			b.waitForFile(ctx, w.Every)
			failing = false
			continue
		case err != nil && ctx.Err() == nil:
			next = watchAgain
			if !failing {
				w.Logger.Warn("could not compare the key file with the database", "error", err)
			}
		}
		failing = err != nil
		select {
		case <-time.After(next):
		case <-s.woken:
		case <-ctx.Done():
		}
	}
}

// waitForFile waits until the key file has changed, a look is wanted or the time is over.
func (b *Box) waitForFile(ctx context.Context, limit time.Duration) {
	over := time.After(limit)
	for {
		select {
		case <-time.After(min(watchAgain, limit)):
			b.mu.Lock()
			info, err := os.Lstat(b.path)
			same := err != nil || stampOf(info) == b.stamp
			b.mu.Unlock()
			if !same {
				return
			}
		case <-over:
			return
		case <-b.watchState.woken:
			return
		case <-ctx.Done():
			return
		}
	}
}

// complete sets what was left out.
func (w *WatchConfig) complete() {
	if w.Logger == nil {
		w.Logger = hclog.NewNullLogger()
	}
	if w.Every == 0 {
		w.Every = watchEvery
	}
}
