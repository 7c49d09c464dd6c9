package plan_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
)

// decide ends a draft of one effect that is read at some time, confirmed by a name.
func decide(ctx context.Context, given bool, at time.Time, size int64) (err error, told bool) {
	draft := plan.Begin(ctx)
	if err := draft.Refuse(nil); err != nil {
		return err, false
	}
	c := plan.Confirmation{Code: problem.CodeConfirmRequired, Phrase: "web1", Why: "say so", Given: given}
	err = draft.Finish(ctx, c, func(_ context.Context, p *plan.Plan) error {
		told = true
		p.AddSince(plan.KindUptime, "web1", at, "web1 runs.")
		p.AddSized(plan.KindDisk, "", &size, "A disk goes.")
		return nil
	})
	return err, told
}

func planIn(t *testing.T, err error) *plan.Plan {
	t.Helper()
	var known *problem.Error
	if errors.As(err, &known) {
		if p, ok := known.Members["plan"].(*plan.Plan); ok {
			return p
		}
	}
	if a := plan.ResultIn(err); a != nil {
		return a.Plan
	}
	t.Fatalf("no plan in %v", err)
	return nil
}

func code(err error) problem.Code {
	var known *problem.Error
	if errors.As(err, &known) {
		return known.Code
	}
	return ""
}

func TestDecide(t *testing.T) {
	t.Parallel()
	now := time.Now()
	if err, told := decide(t.Context(), true, now, 1); err != nil || told {
		t.Errorf("nobody asked: %v, told %v", err, told)
	}
	err, _ := decide(t.Context(), false, now, 1)
	refused := planIn(t, err)
	if code(err) != problem.CodeConfirmRequired || *refused.ConfirmPhrase != "web1" || len(refused.Effects) != 2 {
		t.Errorf("%v %+v", err, refused)
	}
	err, _ = decide(plan.WithRequest(t.Context(), plan.Request{Only: true}), true, now.Add(time.Hour), 1)
	if only := planIn(t, err); code(err) != "" || only.Digest != refused.Digest || only.Digest == "" {
		t.Errorf("another digest at another time, or confirmed: %+v and %+v", only, refused)
	}
	seen := plan.WithRequest(t.Context(), plan.Request{Digest: refused.Digest})
	if err, _ := decide(seen, true, now, 1); err != nil {
		t.Errorf("the plan that was seen: %v", err)
	}
	err, _ = decide(seen, true, now, 2)
	if code(err) != problem.CodePlanStale || planIn(t, err).Digest == refused.Digest {
		t.Errorf("another plan than was seen: %v", err)
	}
	if err, _ := decide(seen, false, now, 1); code(err) != problem.CodeConfirmRequired {
		t.Errorf("not confirmed: %v", err)
	}
}

// Another snapshot or backup of the same name is another plan.
func TestDigestHasTimes(t *testing.T) {
	t.Parallel()
	digest := func(kind string, at time.Time) string {
		ctx := plan.WithRequest(t.Context(), plan.Request{Only: true})
		return planIn(t, plan.Begin(ctx).Finish(ctx, plan.Confirmation{}, func(_ context.Context, p *plan.Plan) error {
			p.AddSince(kind, "nightly", at, "It goes.")
			return nil
		})).Digest
	}
	now := time.Now()
	for kind, same := range map[string]bool{plan.KindUptime: true, plan.KindGuest: true, plan.KindData: false, plan.KindSnapshot: false,
		plan.KindBackup: false} {
		if got := digest(kind, now) == digest(kind, now.Add(time.Minute)); got != same {
			t.Errorf("%s: the same digest a minute later is %v", kind, got)
		}
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	busy, none := problem.New(problem.CodeGuestBusy, "job 3 works on it"), plan.Confirmation{}
	only := plan.WithRequest(t.Context(), plan.Request{Only: true})
	if err := plan.Begin(only).RefuseAndStop(only, nil, none); err != nil {
		t.Errorf("nothing refused: %v", err)
	}
	if err := plan.Begin(t.Context()).RefuseAndStop(t.Context(), busy, none); !errors.Is(err, busy) {
		t.Errorf("nobody plans: %v", err)
	}
	if p := planIn(t, plan.Begin(only).RefuseAndStop(only, busy, none)); len(p.Blockers) != 1 || p.Digest == "" {
		t.Errorf("%+v", p)
	}
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	busy, away := problem.New(problem.CodeGuestBusy, "job 3 works on it"), problem.New(problem.CodeHypervisorError, "no answer")
	gone, plain := problem.New(problem.CodeNotFound, "no such thing"), errors.New("broken")
	draft := plan.Begin(t.Context())
	for _, err := range []error{busy, away, gone, plain} {
		if got := draft.Refuse(err); !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
	}
	draft = plan.Begin(plan.WithRequest(t.Context(), plan.Request{Only: true}))
	for err, want := range map[error]error{busy: nil, away: nil, gone: gone, plain: plain} {
		if got := draft.Refuse(err); !errors.Is(got, want) {
			t.Errorf("planning, %v became %v", err, got)
		}
	}
	p := planIn(t, draft.Finish(t.Context(), plan.Confirmation{}, func(context.Context, *plan.Plan) error { return nil }))
	if len(p.Blockers) != 1 || p.Blockers[0].Error != "guest_busy" || len(p.Warnings) != 1 || p.ConfirmPhrase != nil {
		t.Errorf("%+v", p)
	}
}

func TestCounted(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 backups remain", 1: "1 backup remains", 2: "2 backups remain"} {
		if got := plan.Plural(n, "1 backup remains", "%d backups remain"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
