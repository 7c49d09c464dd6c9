package change_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/change"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// While a thing is changed no other change of it begins, and what was begun goes on when its caller leaves.
func TestChangesKeepEachOtherOff(t *testing.T) {
	t.Parallel()
	c := change.Change{DB: dbtest.New(t), Exclusive: "thing:1", Limit: time.Minute}
	ctx, leave := context.WithCancel(t.Context())
	err := c.Do(ctx, func(ctx context.Context) error {
		leave()
		if err := ctx.Err(); err != nil {
			t.Errorf("the change ended with its caller: %v", err)
		}
		if until, bounded := ctx.Deadline(); !bounded || time.Until(until) > time.Minute {
			t.Errorf("it may last until %v", until)
		}
		err := c.Do(t.Context(), func(context.Context) error {
			t.Error("two changes at once")
			return nil
		})
		if problem.CodeOf(err) != problem.CodeGuestBusy {
			t.Errorf("another change of it: %v", err)
		}
		other := c
		other.Exclusive = "thing:2"
		return other.Do(t.Context(), func(context.Context) error { return nil })
	})
	if err != nil {
		t.Error(err)
	}
	failed := sdk.Errorf(sdk.Refused, "not today")
	if err := c.Do(t.Context(), func(context.Context) error { return failed }); problem.CodeOf(err) != problem.CodeHypervisorError ||
		!strings.Contains(err.Error(), "not today") {
		t.Errorf("a failure is %v", err)
	}
	if err := c.Do(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Errorf("after a failure: %v", err)
	}
}

func TestLost(t *testing.T) {
	t.Parallel()
	lost := sdk.Errorf(sdk.Unreachable, "the line broke")
	if err := change.ResolveLost(lost, "the thing", true, nil); err != nil {
		t.Errorf("what was done is %v", err)
	}
	for name, c := range map[string]struct {
		unread error
		code   problem.Code
		says   []string
	}{
		"not done": {nil, problem.CodeHypervisorError, []string{"the line broke", "reading the thing afterwards showed no change"}},
		"unread":   {errors.New("secret of the cause"), problem.CodeOutcomeUnknown, []string{"the line broke", "check the thing before"}},
	} {
		known := problem.From(change.ResolveLost(lost, "the thing", false, c.unread))
		for _, text := range c.says {
			if known.Code != c.code || !strings.Contains(known.Detail, text) || strings.Contains(known.Detail, "secret") {
				t.Errorf("%s: %s: %s", name, known.Code, known.Detail)
			}
		}
	}
}
