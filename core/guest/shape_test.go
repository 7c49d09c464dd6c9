package guest_test

import (
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// shape is a kind of hypervisor that jobs are tried on, and what differs for them.
type shape struct {
	name string
	// make gives its driver, and the part of that which holds the clusters.
	make func() (hypervisor.Driver, *memdriver.Driver)
	// forgets says that tasks are not listed after their end: what was requested and is not there may have been carried out.
	forgets bool
	// uids says that guests are known by lasting identities, their names being their ids.
	uids bool
}

var (
	tokens = shape{name: "tokens", make: func() (hypervisor.Driver, *memdriver.Driver) {
		d := memdriver.New()
		return d, d
	}}
	certified = shape{name: "certified", forgets: true, uids: true, make: func() (hypervisor.Driver, *memdriver.Driver) {
		d := memdriver.NewCertified()
		return d, d.Driver
	}}
)

// inBothShapes runs a test on a hypervisor of each shape.
func inBothShapes(t *testing.T, test func(t *testing.T, b *lifecycleFixture)) {
	t.Helper()
	for _, s := range []shape{tokens, certified} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			test(t, newLifecycleFixture(t, s))
		})
	}
}

// knows reports whether guests of a kind can do an action.
func (b *lifecycleFixture) knows(t *testing.T, kind hypervisor.GuestKind, action hypervisor.Action) bool {
	t.Helper()
	info, err := hypervisor.Describe(t.Context(), b.served)
	if err != nil {
		t.Fatal(err)
	}
	return info.Knows(kind, action)
}
