package poll

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Settings of the questions for rights.
const (
	// rightsEvery is the time between two questions for what a token may do,
	// and lackingEvery that for one which lacks something or whose answers
	// leave guests out.
	rightsEvery  = 30 * time.Minute
	lackingEvery = 5 * time.Minute
	// maxChecks bounds the guests that one poll asks for one by one.
	// maxRefusals is how many of them may be anything but gone before the rest
	// waits for the next time.
	maxChecks   = 100
	maxRefusals = 5
	// unnamed stands for a privilege that the hypervisor does not name.
	unnamed = "(not named)"
)

// rightsDue reports whether it is time to ask for the token's rights: by the
// clock, or because the host had failed.
func (m member) rightsDue(now time.Time, interval time.Duration) bool {
	every := rightsEvery
	if m.limited || m.leftOut || len(m.missing) > 0 {
		every = lackingEvery
	}
	return m.failures > 0 || m.rightsAt == nil || m.limited && len(m.missing) == 0 || now.Sub(*m.rightsAt) >= every-interval/2
}

// lacking returns the privileges that the host's token is known to lack.
func (g *good) lacking() []string {
	if g.rights != nil {
		return g.rights.Missing
	}
	return g.missing
}

// limited reports whether the host's token lacks privileges that monitoring
// needs.
func (g *good) limited() bool { return len(g.lacking()) > 0 }

// trouble returns what the host's row says after a good poll: nothing, or that
// the token does not see everything.
func (g *good) trouble() (reason, sentence string) {
	if !g.limited() {
		return "", ""
	}
	return plugin.ReasonPermission,
		"the monitoring token lacks " + strings.Join(g.lacking(), ", ") + ": objects that it cannot see are shown as unknown"
}

// askRights asks for the rights of the token.
func (g *good) askRights(ctx context.Context, at hypervisor.Host) error {
	p, err := at.Permissions(ctx)
	if err != nil {
		return err
	}
	var version hypervisor.Version
	if p.Version == nil {
		// If the answer contains no version, the known one stays.
		version, _ = at.Version(ctx)
	}
	g.told = host.TokenFactsOf(p, version)
	g.rights = &hypervisor.Permissions{
		Missing: words(p.Missing), Extra: words(p.Extra), Recommended: words(p.Recommended),
	}
	return nil
}

// words returns cleaned privileges. The list is never nil.
func words(list []string) []string {
	return append([]string{}, cleanAll(list, maxTags, maxWord)...)
}

// verify finds out why rows are missing: it asks for the token's rights, and
// which of the missing guests are gone. A host that does not answer these
// questions has failed, and nothing of its answer is trusted.
func (p *Poller) verify(ctx context.Context, g *good, left []unlisted) error {
	return p.within(ctx, g.id, func(ctx context.Context, at hypervisor.Host) error {
		if g.rights == nil {
			if err := g.askRights(ctx, at); err != nil {
				return err
			}
		}
		g.verified = true
		return g.check(ctx, at, left)
	})
}

// check asks for guests individually. A list proves nothing, whatever its
// length; a guest is gone only if the hypervisor, asked for that guest, says
// so.
func (g *good) check(ctx context.Context, at hypervisor.Host, left []unlisted) error {
	most := maxRefusals
	if g.limited() {
		most = 1 // most likely the others are refused as well
	}
	for _, guest := range left[:min(len(left), maxChecks)] {
		found, err := at.Guest(ctx, guest.ref)
		var e *sdk.Error
		switch known := errors.As(err, &e); {
		case known && e.Kind == sdk.NotFound, err == nil && g.inv.replaces(found.UID, guest.ref.UID):
			g.gone = append(g.gone, guest)
			continue
		case known && e.Kind == sdk.Denied:
			g.lack(e.Missing)
		case known && e.Kind == sdk.TokenRejected:
			return err
		}
		if most--; most <= 0 || ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// lack adds the privileges that a refusal names.
func (g *good) lack(missing []string) {
	if len(missing) == 0 {
		missing = []string{unnamed}
	}
	g.rights.Missing = append(g.rights.Missing, words(missing)...)
	slices.Sort(g.rights.Missing)
	g.rights.Missing = slices.Compact(g.rights.Missing)
}

// suspect finds out whether an impossible answer comes from a token that has
// lost its rights.
func (p *Poller) suspect(ctx context.Context, m member, hostErr error) error {
	if sdk.KindOf(hostErr) != sdk.Protocol {
		return hostErr
	}
	g := good{member: m}
	if err := p.within(ctx, m.id, g.askRights); err != nil || !g.limited() {
		return hostErr
	}
	if err := p.db.Tx(ctx, func(tx *db.Tx) error { return g.keepRights(ctx, tx.Pgx) }); err != nil && ctx.Err() == nil {
		p.log.Warn("could not record which privileges a token lacks", "host", m.id, "error", err)
	}
	denied := sdk.Errorf(sdk.Denied, "the monitoring token lacks %s, so the answer is incomplete: %w", strings.Join(g.lacking(), ", "),
		hostErr)
	denied.Missing = g.lacking()
	return denied
}
