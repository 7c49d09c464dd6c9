package poll_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// An instance whose copy of the key file is old says nothing of hosts whose tokens it cannot open.
func TestOldKeySaysNothingOfTheHost(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"known":     problem.New(problem.CodeKeyOutdated, "old").WithCause(secret.ErrOutdated),
		"not known": fmt.Errorf("opening the token: %w", secret.ErrKeyWrong),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			id := f.host(func() hypervisor.Page { return report("", "n1", []hypervisor.Node{node("n1")}, vm(100, "n1", "a")) })
			p := f.poller(f.db)
			f.sync(p, id)
			before := f.Value("SELECT (failures, status)::text FROM hosts")
			guests := f.Value("SELECT string_agg(status, ' ') FROM guests")
			f.answer(id, func(context.Context, hypervisor.InventoryQuery, func(hypervisor.Page) error) error { return err })
			if got := p.Sync(t.Context(), id); !errors.Is(got, secret.ErrOutdated) && !errors.Is(got, secret.ErrKeyWrong) {
				t.Errorf("the caller is told %v", got)
			}
			if got := f.Value("SELECT (failures, status)::text FROM hosts"); got != before {
				t.Errorf("the host was %s and is %s", before, got)
			}
			if got := f.Value("SELECT string_agg(status, ' ') FROM guests"); got != guests {
				t.Errorf("the guest was %s and is %s", guests, got)
			}
		})
	}
}

// An instance that can open no host leaves all polls to others, and polls again when it can.
func TestUnableToPoll(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.host(func() hypervisor.Page { return report("", "n1", []hypervisor.Node{node("n1")}, vm(100, "n1", "a")) })
	var unable atomic.Bool
	var asked atomic.Int64
	unable.Store(true)
	run(t, f.poller(f.db, fast, func(c *poll.Config) {
		c.HostsUnavailable = func() bool { asked.Add(1); return unable.Load() }
	}))
	waittest.Until(t, "the loop has turned a few times", func() bool { return asked.Load() > 5 })
	if n := f.count(id); n != 0 {
		t.Errorf("the host was asked %d times", n)
	}
	unable.Store(false)
	waittest.Until(t, "the host was asked", func() bool { return f.count(id) > 0 })
}
