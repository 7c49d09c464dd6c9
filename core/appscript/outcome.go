package appscript

import (
	"context"
	"fmt"
	"slices"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/nodeunit"
	sdk "github.com/hostler/hostler/sdk/catalog"
)

// These are the results of an update.
const (
	OutcomeUpdated    = "updated"
	OutcomeUnchanged  = "nothing_to_do"
	OutcomeRolledBack = "rolled_back"
	OutcomeNeedsHuman = "needs_human"
)

// refusals are the reasons for exit statuses with which scripts report that
// they did not begin; see catalog.Exit.
var refusals = []string{"needs_human", "aborted", "under_provisioned", "disk_nearly_full", "refused_upstream", "unsupported_release",
	"unsupported_architecture", "wrong_shell", "not_root"}

// outcome is the result of an update.
type outcome struct {
	Outcome string `json:"outcome"`
	Text    string `json:"text"`
	// Back says that the container must be rolled back before the job can end.
	Back bool `json:"back,omitempty"`
	// Canceled says that a cancellation stopped the script, and Unknown that
	// the state of the container is unknown.
	Canceled bool `json:"canceled,omitempty"`
	Unknown  bool `json:"unknown,omitempty"`
}

// decideOutcome looks at the app after the script has run, and decides.
func (u *update) decideOutcome(ctx context.Context) error {
	r := u.progress.Ran
	failure, exit := u.failure(r)
	refused := exit != nil && slices.Contains(refusals, exit.Reason) && r.Asked == "" && !r.Canceled
	times := u.probes()
	if failure != "" && !refused {
		times = 1 // it is set back in any case
	}
	now, worse, err := u.observeUntil(ctx, u.progress.Before, times)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	v := &outcome{Canceled: r.Canceled}
	u.progress.After, u.progress.Verdict = now, v
	switch before := u.progress.Before; {
	case failure != "" && !r.Begun && !r.Gone:
		v.Outcome, v.Text = OutcomeNeedsHuman, failure+"; the script did not run"
	case err != nil && failure == "":
		v.Back, v.Text = true, "the app cannot be checked after the update: "+job.Explain(err)
	case refused && err == nil && worse == "" && now.same(before):
		v.Outcome, v.Text = OutcomeNeedsHuman, failure+"; nothing was changed"
	case failure != "":
		v.Back, v.Text = true, failure
	case worse != "":
		v.Back, v.Text = true, "the script succeeded, but "+worse
	case now.Version != before.Version:
		v.Outcome, v.Text = OutcomeUpdated, fmt.Sprintf("updated from %s to %s", orNone(before.Version), orNone(now.Version))
	case now.same(before):
		v.Outcome, v.Text = OutcomeUnchanged, "nothing to do: "+unchanged(now)
	case now.Version != "":
		v.Outcome, v.Text = OutcomeUnchanged, "nothing to do: the app is still at version "+
			now.Version+"; system packages in its container were changed"
	default:
		v.Outcome, v.Text = OutcomeUpdated, "updated: system packages in the container were changed; the app does not report a version"
	}
	return u.save(ctx)
}

// orNone returns a version for a sentence.
func orNone(version string) string {
	if version == "" {
		return "no version"
	}
	return version
}

// unchanged says how an update without an effect was recognised.
func unchanged(o *observation) string {
	if o.Version != "" {
		return "the app is still at version " + o.Version
	}
	return "the app does not report a version, and no system package was changed"
}

// same reports whether version and packages are as before.
func (o *observation) same(before *observation) bool {
	return o.Version == before.Version && o.Packages == before.Packages
}

// failure returns why a run did not succeed; empty if it did. It includes the
// meaning of the exit status, if the source explains it.
func (u *update) failure(r *ran) (text string, exit *sdk.Exit) {
	switch {
	case r.Gone:
		return "it could not be determined how the script ended", nil
	case r.Canceled:
		return "the script was stopped", nil
	case r.Changed:
		return "the bundle in the container was not the one that was agreed to", nil
	case r.TimedOut:
		return fmt.Sprintf("the script did not end within %s", u.limit()), nil
	case r.Phase == nodeunit.Rebooted:
		return "the container went down while the script was running", nil
	case r.Phase == nodeunit.Prepared:
		return "the script was not started", nil
	case r.Phase != nodeunit.Ended:
		return "it is unknown how the script ended", nil
	case r.Signal != "":
		return "the script was killed by the signal " + r.Signal, nil
	case r.Asked != "":
		return "the script asked a question, or needed something unpinned: " + r.Asked, nil
	case r.ExitCode != 0:
		text = fmt.Sprintf("the script failed (exit status %d)", r.ExitCode)
		for i, e := range u.params.Launch.Exits {
			if e.Status == r.ExitCode {
				exit = &u.params.Launch.Exits[i]
				text += ": " + host.Clean(e.Text)
			}
		}
		if other := u.otherSystem(); exit != nil && exit.Reason == "refused_upstream" && other != "" {
			text += " " + other
		}
		return text, exit
	case u.params.Launch.Succeeded != "" && !u.progress.Succeeded:
		return "the script ended without reporting success", nil
	}
	return "", nil
}
