package appscript

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/catalog"
)

// These are the reasons why an app has no update, in the order in which they
// are checked. ReasonNoScript keeps an adopted app out of a batch: nobody has
// confirmed yet that the entry is the right one.
const (
	ReasonEdited   = "edited"
	ReasonNoEntry  = "no_entry"
	ReasonNoCommit = "no_commit"
	ReasonNoScript = "no_script"
	ReasonCurrent  = "current"
)

// reasons explains to people why an app cannot be updated with others.
var reasons = map[string]string{
	ReasonEdited:   "the app's script was edited: revert it first",
	ReasonNoEntry:  "the catalog has no entry for the app",
	ReasonNoCommit: "the catalog does not report the entry's commit",
	ReasonNoScript: "the app's commit of the entry is unknown: update the app on its own once, or revert its script",
	ReasonCurrent:  "the app's script is up to date with the catalog",
}

// State tells whether an app has an update; the JSON names are those of the
// API.
type State struct {
	Available     bool        `json:"available" doc:"true if the catalog has a different commit of the entry's own files than the script of the app, or if the app's commit is not known"`
	Reason        *string     `json:"reason" enum:"edited,no_entry,no_commit,current" doc:"Why no update is available; null if one is available"`
	Detail        *string     `json:"detail" doc:"The reason as a sentence"`
	Commit        *string     `json:"commit" doc:"Commit of the app's script; null if there is none or the script was edited"`
	CatalogCommit *string     `json:"catalog_commit" doc:"Commit in the catalog; null if the catalog has none"`
	Sum           *string     `json:"sum" doc:"SHA-256 of the bundle that would run; null if no update is available"`
	Pin           *string     `json:"pin" doc:"Commit of the source from which the bundle is built"`
	Diff          *Diff       `json:"diff" doc:"Difference between the bundle that would run and the bundle of the app's script; null if no update is available"`
	Consent       *Consent    `json:"consent" doc:"Consent that an update requires; null if no update is available, or if the host of the app is not enrolled for SSH"`
	Last          *LastUpdate `json:"last" doc:"Result of the last update; null if there was none"`
}

// Diff is the difference between two bundles.
type Diff struct {
	Own     catalog.DiffCount `json:"own" doc:"Changes in the entry's own files"`
	Engine  catalog.DiffCount `json:"engine" doc:"Changes in files that all entries of the source share"`
	Overlay catalog.DiffCount `json:"overlay" doc:"Changes in files that the source adds"`
	Files   []bundle.Change   `json:"files" nullable:"false" doc:"Changed files: the entry's own first, shared ones last"`
}

// Consent is the text to agree to, and whether somebody has agreed.
type Consent struct {
	Text    string     `json:"text"`
	Version int        `json:"version" doc:"Version of the text"`
	Given   bool       `json:"given" doc:"true if a user consented to this text for this bundle on this host"`
	By      *string    `json:"by" example:"admin@example.com"`
	At      *time.Time `json:"at"`
}

// LastUpdate is the last update that was requested.
type LastUpdate struct {
	JobID         int64      `json:"job_id"`
	Status        string     `json:"status" enum:"queued,running,succeeded,failed,canceled,unknown" doc:"Status of the job"`
	Outcome       *string    `json:"outcome" enum:"updated,nothing_to_do,rolled_back,needs_human" doc:"Outcome of the update; null until it has finished, and if it never started"`
	Text          string     `json:"text" doc:"The outcome as a sentence"`
	VersionBefore *string    `json:"version_before" example:"1.4.0" doc:"Version that the app stored before the update; null if it stored none"`
	VersionAfter  *string    `json:"version_after" example:"1.5.0"`
	ExitCode      *int       `json:"exit_code" doc:"Exit code of the script; null if it was stopped before it exited"`
	Snapshot      *string    `json:"snapshot" example:"before-update-17" doc:"Snapshot from before the update, if it still exists; null otherwise"`
	EndedAt       *time.Time `json:"ended_at"`
}

// UpdateState tells whether an app has an update, and what it would change. It
// creates the bundle if it is not stored yet. Problems: not_found, and those of
// catalog.Store.UpdateBundle.
func (s *Store) UpdateState(ctx context.Context, appID int64) (*State, error) {
	c, err := s.candidate(ctx, appID)
	if err != nil {
		return nil, err
	}
	st := &State{}
	if st.Last, err = s.last(ctx, appID); err != nil {
		return nil, err
	}
	if base := c.base(); base != nil {
		st.Commit = base.Commit
	}
	if c.entry != nil && c.entry.Commit != "" {
		st.CatalogCommit = &c.entry.Commit
	}
	if reason := c.reason(); reason != "" {
		st.Reason, st.Detail = &reason, new(reasons[reason])
		return st, nil
	}
	st.Available = true
	b, err := s.Catalog.UpdateBundle(ctx, c.entry)
	if err != nil {
		return nil, err
	}
	st.Sum, st.Pin = &b.Sum, new(b.Manifest.Pin.String())
	if st.Diff, err = s.diff(ctx, c.base(), b); err != nil {
		return nil, err
	}
	hostID, name, err := s.machine(ctx, appID)
	if err != nil || hostID == 0 {
		return st, err
	}
	st.Consent, err = s.consent(ctx, hostID, name, c.entry, b)
	return st, err
}

// candidate is an app with its script and its entry in the catalog.
type candidate struct {
	appID  int64
	newest *Version
	entry  *catalog.Current
}

// candidate reads an app and its entry in the catalog.
func (s *Store) candidate(ctx context.Context, appID int64) (*candidate, error) {
	slug, err := s.slug(ctx, appID)
	if err != nil {
		return nil, err
	}
	c := &candidate{appID: appID}
	if c.newest, err = version(ctx, s.DB.Pool, appID, 0); err != nil {
		return nil, err
	}
	if slug == "" {
		return c, nil
	}
	entries, err := s.Catalog.Current(ctx, []string{slug})
	c.entry = entries[slug]
	return c, err
}

// refused returns why an app cannot be updated; empty if it can, even if there
// is nothing new.
func (c *candidate) refused() string {
	switch {
	case c.newest != nil && c.newest.Source == OriginEdited:
		return ReasonEdited
	case c.entry == nil:
		return ReasonNoEntry
	case c.entry.Commit == "":
		return ReasonNoCommit
	}
	return ""
}

// base returns the newest version of the app's script if it is of the app's
// entry. It returns nil if the state of the app is unknown: the app was
// adopted, or its entry was changed since.
func (c *candidate) base() *Version {
	if v, e := c.newest, c.entry; v != nil && v.Source == OriginUpstream && (e == nil || v.catalogSource == e.Source && v.slug == e.Slug) {
		return v
	}
	return nil
}

// number returns the number of the newest version; 0 if there is none.
func (v *Version) number() int {
	if v == nil {
		return 0
	}
	return v.Version
}

// reason returns why there is no update; empty if there is one.
func (c *candidate) reason() string {
	if reason := c.refused(); reason != "" {
		return reason
	}
	if base := c.base(); base != nil && *base.Commit == c.entry.Commit {
		return ReasonCurrent
	}
	return ""
}

// entry returns the catalog entry of an app. The problem is invalid_state with
// a reason.
func (s *Store) entry(ctx context.Context, slug string) (*catalog.Current, error) {
	if slug != "" {
		entries, err := s.Catalog.Current(ctx, []string{slug})
		if err != nil {
			return nil, err
		}
		if entry := entries[slug]; entry != nil && entry.Commit != "" {
			return entry, nil
		} else if entry != nil {
			return nil, refuse(ReasonNoCommit)
		}
	}
	return nil, refuse(ReasonNoEntry)
}

// refuse returns the problem invalid_state with a reason.
func refuse(reason string) error {
	return problem.New(problem.CodeInvalidState, "%s", reasons[reason]).With("reason", reason)
}

// diff returns the difference of a bundle from that of a version; the whole
// bundle for nil. If the source has a bundle for updates at the version's pin,
// that one is compared, because the bundle of an installation has other files.
func (s *Store) diff(ctx context.Context, v *Version, b *bundle.Bundle) (*Diff, error) {
	if v == nil {
		return s.compare(ctx, sdk.Manifest{}, b)
	}
	pin, _ := sdk.ParsePin(*v.Pin)
	before, ok, err := s.Bundles.Find(ctx, bundle.Key{Source: v.catalogSource, Slug: v.slug, Purpose: sdk.Update, Pin: pin})
	if err == nil && !ok {
		before, err = s.Bundles.Get(ctx, v.catalogSource, v.slug, *v.Bundle)
	}
	if err != nil {
		return nil, err
	}
	return s.compare(ctx, before.Manifest, b)
}

// compare returns the differences between two bundles, which the user sees
// before agreeing.
func (s *Store) compare(ctx context.Context, before sdk.Manifest, b *bundle.Bundle) (*Diff, error) {
	d := &Diff{}
	var err error
	if d.Files, err = s.Bundles.Compare(ctx, before, b.Manifest); err != nil {
		return nil, fmt.Errorf("comparing two bundles: %w", err)
	}
	d.Own, d.Engine, d.Overlay = catalog.Count(d.Files)
	return d, nil
}

// machine returns the host, with its name, on whose machine the app's container
// is; 0 if that machine is not enrolled.
func (s *Store) machine(ctx context.Context, appID int64) (id int64, name string, err error) {
	var at int64
	var node string
	err = s.DB.Pool.QueryRow(ctx, "SELECT g.host_id, g.node FROM apps a JOIN guests g ON g.id = a.guest_id WHERE a.id = $1", appID).
		Scan(&at, &node)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, "", nil
	}
	if err == nil {
		id, err = host.HostOfNode(ctx, s.DB, at, node)
	}
	switch {
	case problem.CodeOf(err) == problem.CodeSSHNotEnrolled:
		return 0, "", nil
	case err == nil:
		err = s.DB.Pool.QueryRow(ctx, "SELECT name FROM hosts WHERE id = $1", id).Scan(&name)
	}
	if err != nil {
		return 0, "", db.Problem(fmt.Errorf("reading an app's machine: %w", err))
	}
	return id, name, nil
}

// consent returns the text for letting a bundle run on a host.
func (s *Store) consent(ctx context.Context, hostID int64, hostName string, entry *catalog.Current, b *bundle.Bundle) (*Consent, error) {
	c := &Consent{Text: entry.ConsentText(hostName, &b.Manifest, b.Sum), Version: bundle.TextVersion}
	given, err := s.Bundles.FindConsent(ctx, hostID, sdk.Update, b.Sum)
	if err == nil && given != nil {
		c.Given, c.By, c.At = true, &given.ActorEmail, &given.GivenAt
	}
	return c, err
}

// last returns the last update of an app.
func (s *Store) last(ctx context.Context, appID int64) (*LastUpdate, error) {
	l := &LastUpdate{}
	err := s.DB.Pool.QueryRow(ctx, `SELECT u.job_id, j.status, u.outcome, u.text, u.version_before, u.version_after, u.exit_code, u.snapshot,
		u.ended_at FROM app_updates u JOIN jobs j ON j.id = u.job_id WHERE u.app_id = $1 ORDER BY u.job_id DESC LIMIT 1`, appID).
		Scan(&l.JobID, &l.Status, &l.Outcome, &l.Text, &l.VersionBefore, &l.VersionAfter, &l.ExitCode, &l.Snapshot, &l.EndedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the last update of an app: %w", err))
	}
	if l.EndedAt != nil {
		l.EndedAt = new(l.EndedAt.UTC())
	}
	return l, nil
}
