package pvessh

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hostler/hostler/sdk/plugin"
)

// connection is a logged-in SSH connection. It belongs to one call, which
// closes it.
type connection struct {
	client               *ssh.Client
	waits                Timeouts
	hostKey, hostKeyType string
	server               string
	// silent reports that watch closed the connection because the machine no
	// longer answered.
	silent atomic.Bool
}

// watch sends keepalive requests until the connection ends, and closes it if an
// answer is missing for too long. Without this a machine that loses power would
// leave the call waiting, since TCP notices only when something is sent.
// OpenSSH answers the unknown request "keepalive@openssh.com" with a failure,
// which is a sign of life as well.
func (c *connection) watch() {
	ended := make(chan struct{})
	go func() {
		_ = c.client.Wait()
		close(ended)
	}()
	ticker := time.NewTicker(c.waits.Alive)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return
		case <-ticker.C:
		}
		answered := make(chan struct{})
		go func() { // it ends with the connection
			_, _, _ = c.client.SendRequest("keepalive@openssh.com", true, nil)
			close(answered)
		}()
		late := time.NewTimer(c.waits.Silence)
		select {
		case <-ended:
		case <-answered:
		case <-late.C:
			c.silent.Store(true)
			_ = c.client.Close()
		}
		late.Stop()
	}
}

// lost returns the error of a connection that ended early: the caller's own if
// its context ended, Timeout if the machine went silent, and otherwise
// Unreachable. The texts say that the program's effect is unknown, because
// callers must not repeat it blindly.
func (c *connection) lost(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case c.silent.Load():
		return plugin.Errorf(plugin.Timeout, "the machine stopped answering, so the connection was closed: what ran there may have done "+
			"all, some or none of its work")
	}
	return plugin.Errorf(plugin.Unreachable, "the connection to the machine was lost: what ran there may have done all, some or none of "+
		"its work")
}

// close ends the connection with all its sessions. It may be called several
// times.
func (c *connection) close() { _ = c.client.Close() }
