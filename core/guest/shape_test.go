package guest_test

import (
	"testing"

	"github.com/hostler/hostler/internal/sampletest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// inBothShapes runs a test on a hypervisor of each shape, or with -short of one of them.
func inBothShapes(t *testing.T, test func(t *testing.T, b *lifecycleFixture)) {
	t.Helper()
	for _, shape := range sampletest.OneOf(t.Name(), memdriver.Shapes()) {
		t.Run(shape.Name, func(t *testing.T) {
			t.Parallel()
			test(t, newLifecycleFixture(t, shape))
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
	return info.HasAction(kind, action)
}
