package lxdapi_test

import (
	"context"
	"errors"
	"testing"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
)

func TestMain(m *testing.M) { lxdtest.Main(m) }

// do starts an operation, waits for its end and gives why it failed.
func do(t testing.TB, client *lxdapi.Client, begin func(context.Context) (*lxdapi.Operation, error)) error {
	t.Helper()
	op, err := begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended, err := client.Wait(t.Context(), op.ID)
	if err != nil {
		t.Fatal(err)
	}
	return ended.Failure()
}

// act changes the state of an instance to its end.
func act(t testing.TB, client *lxdapi.Client, ref lxdapi.InstanceRef, action lxdapi.Action, options lxdapi.ActOptions) error {
	t.Helper()
	return do(t, client, func(ctx context.Context) (*lxdapi.Operation, error) { return client.Act(ctx, ref, action, options) })
}

// force stops an instance without asking it, when the test is over.
func force(t testing.TB, client *lxdapi.Client, ref lxdapi.InstanceRef) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		op, err := client.Act(ctx, ref, lxdapi.Stop, lxdapi.ActOptions{Force: true})
		if err == nil {
			_, err = client.Wait(ctx, op.ID)
		}
		if err != nil && !errors.Is(err, lxdapi.ErrOperationNotFound) {
			t.Error("stopping: ", err)
		}
	})
}

// statusOf is the state that an instance has.
func statusOf(t testing.TB, client *lxdapi.Client, ref lxdapi.InstanceRef) string {
	t.Helper()
	instance, _, err := client.Instance(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return instance.Status
}
