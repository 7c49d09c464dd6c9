package pvessh

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hostler/hostler/sdk/plugin"
)

// connection is a login. It belongs to one call.
type connection struct {
	client               *ssh.Client
	waits                Timeouts
	hostKey, hostKeyType string
	server               string
	// silent is true once it was closed because nothing was heard any more.
	silent atomic.Bool
}

// watch asks for signs of life until the connection ends, and ends it when none comes.
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

// lost is the error of a connection that ended before what it was for.
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

func (c *connection) close() { _ = c.client.Close() }
