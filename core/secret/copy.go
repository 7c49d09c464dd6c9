package secret

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
)

// ErrCopyInUse: a service runs that would not see a rotation.
var ErrCopyInUse = errors.New("a running service uses a copy of the key file")

// What the ids of db.LockKeys stand for.
const (
	lockRotation = 0
	// lockCopies is shared by the services that work with a copy, and a rotation has it alone.
	lockCopies = 1
)

// These are the times of the hold.
const (
	// copyLook is how often a service looks whether its hold is still there,
	// and copyRetry how soon it tries to have it again.
	copyLook  = 5 * time.Second
	copyRetry = time.Second
	// copyLeaves is how long a rotation waits for services that have just
	// ended: the server notices a moment later.
	copyLeaves = 5 * time.Second
)

// KeyFileCopy states that this process works with a copy of the key file, as systemd
// makes one of a credential. Such a process does not see a rotation, could open
// nothing afterwards, and would seal with a key that will be dropped. While it
// is held, Rotate fails with ErrCopyInUse on every instance.
type KeyFileCopy struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

// RegisterCopy takes the hold. It must be called before Load, which then finds a
// copy that a rotation has overtaken. The error is ErrRotating while a rotation
// runs. If the connection breaks, the hold is taken again; Close ends it.
func RegisterCopy(ctx context.Context, d *db.DB, log hclog.Logger) (*KeyFileCopy, error) {
	lock, err := d.TryLockShared(ctx, db.LockKeys, lockCopies)
	if err != nil {
		return nil, fmt.Errorf("locking the copy of the key file: %w", err)
	}
	if lock == nil {
		return nil, fmt.Errorf("%w: start the service again after the rotation", ErrRotating)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &KeyFileCopy{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		c.keep(ctx, d, lock, log)
	}()
	return c, nil
}

// keep holds the lock until ctx ends, and takes it again after it was lost with
// its connection. In between a rotation may take this instance for ended.
func (c *KeyFileCopy) keep(ctx context.Context, d *db.DB, lock *db.Lock, log hclog.Logger) {
	defer func() {
		if lock != nil {
			lock.Unlock()
		}
	}()
	wait := copyLook
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		if lock != nil && held(ctx, lock) || ctx.Err() != nil {
			continue
		}
		if lock != nil {
			lock.Unlock()
		}
		var err error
		lock, err = d.TryLockShared(ctx, db.LockKeys, lockCopies)
		switch wait = copyRetry; {
		case err != nil: // the database is away, which others tell of
		case lock == nil:
			log.Error("the key is being rotated while this service is running, which will not see the new key: restart the service " +
				"after the rotation")
		default:
			wait = copyLook
		}
	}
}

// held reports whether the lock's connection still lives. It does not wait
// longer than copyLook.
func held(ctx context.Context, lock *db.Lock) bool {
	ctx, cancel := context.WithTimeout(ctx, copyLook)
	defer cancel()
	return lock.Held(ctx)
}

// Close ends the hold. On nil it does nothing.
func (c *KeyFileCopy) Close() {
	if c != nil {
		c.cancel()
		<-c.ended
	}
}

// withoutCopies takes the lock that excludes services with a copy. It waits a
// moment for one that is ending.
func withoutCopies(ctx context.Context, d *db.DB) (*db.Lock, error) {
	for deadline := time.Now().Add(copyLeaves); ; {
		lock, err := d.TryLock(ctx, db.LockKeys, lockCopies)
		if err != nil {
			return nil, fmt.Errorf("finding services with a copy of the key file: %w", err)
		}
		if lock != nil {
			return lock, nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%w and would not see the new key: stop it, rotate, and start it again", ErrCopyInUse)
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
