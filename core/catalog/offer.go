package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// Offer is an entry as it can be installed on a host: what would run there, and
// the text to agree to.
type Offer struct {
	Path, Source, Slug string
	Entry              sdk.Entry
	// Host is where it would run.
	Host   PlanHost
	Bundle *bundle.Bundle
	// ConsentText is the text that users agree to.
	ConsentText string
}

// Key names the bundle for a consent.
func (o *Offer) Key() bundle.Key {
	m := &o.Bundle.Manifest
	return bundle.Key{Source: o.Source, Slug: o.Slug, Purpose: m.Purpose, Pin: m.Pin}
}

// Offer returns what an entry installs on a host: the stored bundle with a
// checksum, which may be of an earlier state of the catalog, or for an empty
// sum the bundle of the present state, which is created if it is not stored.
// Problems: not_found; invalid_state for an entry that cannot be installed and
// for a bundle that is not stored or has another purpose; catalog_source_error.
func (s *Store) Offer(ctx context.Context, path string, hostID int64, sum string) (*Offer, error) {
	f, err := s.find(ctx, path)
	if err != nil {
		return nil, err
	}
	h, err := s.planHost(ctx, hostID)
	if err != nil {
		return nil, err
	}
	e := &f.entry
	p := &Plan{}
	if p.blockEntry(e); len(p.Blockers) > 0 {
		return nil, problem.New(problem.CodeInvalidState, "%s cannot be installed: %s", e.Name, p.Blockers[0].Text).
			With("reason", p.Blockers[0].Code)
	}
	var b *bundle.Bundle
	if sum == "" {
		b, err = s.bundleOf(ctx, f, sdk.Install)
	} else if b, err = s.Bundles.Get(ctx, f.source, f.slug, sum); problem.CodeOf(err) == problem.CodeNotFound {
		b, err = nil, nil
	}
	switch {
	case err != nil:
		return nil, err
	case b == nil || b.Manifest.Purpose != sdk.Install:
		return nil, problem.New(problem.CodeInvalidState, "the bundle that installs %s was not found: request the plan again", e.Name).
			With("reason", "no_bundle")
	}
	return &Offer{Path: path, Source: f.source, Slug: f.slug, Entry: *e, Host: h.PlanHost, Bundle: b,
		ConsentText: consentText(h, e, &b.Manifest, b.Sum)}, nil
}

// Launch asks the source how to run the bundle of an offer, and verifies the
// answer against the bundle. It fills in slug, pin, purpose and place of the
// request. An error of the kind plugin.Invalid with a field concerns a value of
// the request; all others are problems: catalog_source_error.
func (s *Store) Launch(ctx context.Context, o *Offer, request sdk.LaunchRequest) (sdk.Launch, error) {
	m := &o.Bundle.Manifest
	request.Slug, request.Pin, request.Purpose, request.Place = o.Slug, m.Pin, m.Purpose, m.Place
	r, err := stored(ctx, s.DB.Pool, o.Source, "")
	if err != nil {
		return sdk.Launch{}, err
	}
	options, err := s.open(r)
	if err != nil {
		return sdk.Launch{}, err
	}
	info, err := s.info(ctx, o.Source)
	if err == nil {
		err = r.trusts(info)
	}
	if err != nil {
		return sdk.Launch{}, s.sourceProblem(err, info, options)
	}
	opened, err := s.openSource(ctx, r, options)
	if err != nil {
		return sdk.Launch{}, s.sourceProblem(err, info, options)
	}
	defer func() { _ = opened.Close() }() // it was only read
	launch, err := opened.Launch(ctx, request)
	var said *plugin.Error
	if errors.As(err, &said) && said.Kind == plugin.Invalid && said.Field != "" {
		return sdk.Launch{}, said
	}
	if err == nil {
		err = sdk.CheckLaunch(launch, *m)
	}
	if err != nil {
		return sdk.Launch{}, s.sourceProblem(fmt.Errorf("reading how the bundle is run: %w", unsaid(err, o, request)), info, options)
	}
	return launch, nil
}

// unsaid returns the error of a source without its text, if that would repeat a
// secret of the request.
func unsaid(err error, o *Offer, request sdk.LaunchRequest) error {
	for _, option := range o.Entry.Overrides {
		if value := request.Overrides[option.Key]; option.Secret && value != "" && strings.Contains(err.Error(), value) {
			return plugin.Errorf(plugin.KindOf(err), "the source failed")
		}
	}
	return err
}
