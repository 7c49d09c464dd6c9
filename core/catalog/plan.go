package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/scope"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// Executors tell whether programs can run as root on the machine of a host.
type Executors interface {
	// Node says what is known of the machine that installs on a host run on,
	// and what is in the way of running anything there.
	Node(ctx context.Context, hostID int64) (Node, error)
}

// Node is the machine on which installations for a host run.
type Node struct {
	// Architecture is such as "amd64"; empty while nobody knows.
	Architecture string
	Blockers     []Blocker
}

// Blocker is an obstacle.
type Blocker struct {
	Code string `json:"code" example:"ssh_not_enrolled"`
	Text string `json:"text" example:"no SSH key of the service is on this host"`
}

// Plan is what people see before they agree; the JSON names are those of the
// API.
type Plan struct {
	Slug    string   `json:"slug" example:"wiki"`
	Name    string   `json:"name" example:"Wiki"`
	Source  string   `json:"source" example:"scripts"`
	Purpose string   `json:"purpose" enum:"install,update"`
	Host    PlanHost `json:"host"`

	Sum        *string     `json:"sum" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" doc:"SHA-256 of the bundle to consent to; null if there is no bundle"`
	Pin        *string     `json:"pin" doc:"Commit of the source from which the bundle is built"`
	Commit     *string     `json:"commit" doc:"Last commit that changed the entry's own files"`
	Size       int64       `json:"size" example:"826000" doc:"Total size of all files in bytes"`
	Files      []PlanFile  `json:"files" nullable:"false" doc:"All files that will run, the entry's own first"`
	Privileges []Privilege `json:"privileges" nullable:"false"`

	Unpinned     []UnpinnedDownload `json:"unpinned" nullable:"false" doc:"Places that download content that is not pinned, as far as the source detects them"`
	UnpinnedText string             `json:"unpinned_text" doc:"The unpinned downloads as a sentence"`

	Notes     []Note   `json:"notes" nullable:"false"`
	Prompts   int      `json:"prompts" doc:"Number of questions in the scripts without a default answer"`
	NeedsYes  bool     `json:"needs_yes" doc:"true if one of the questions asks for consent"`
	Overrides []Option `json:"overrides" nullable:"false"`
	Defaults  Defaults `json:"defaults"`

	Storages []PlanStorage `json:"storages" nullable:"false" doc:"Storages of the host's node as of the last poll"`
	Bridges  []string      `json:"bridges" nullable:"false" example:"[\"vmbr0\"]" doc:"Known bridges that guests of the node use"`

	Blockers []Blocker `json:"blockers" nullable:"false" doc:"Reasons why the installation cannot start"`
	Warnings []string  `json:"warnings" nullable:"false"`
	Diff     *PlanDiff `json:"diff" doc:"Difference from the bundle that was last consented to on this host; null if there was none or it is no longer stored"`
	Consent  Consent   `json:"consent"`
}

// PlanHost is the host of an installation.
type PlanHost struct {
	ID   int64  `json:"id" example:"1"`
	Name string `json:"name" example:"lab"`
	Node string `json:"node" example:"pve1" doc:"Node on which the scripts run"`
}

// PlanFile is a file of the bundle.
type PlanFile struct {
	Path       string  `json:"path" example:"ct/wiki.sh"`
	Class      string  `json:"class" enum:"own,engine,overlay" doc:"Owner of the file: the entry, all entries of the source, or the source"`
	Executable bool    `json:"executable"`
	Size       int64   `json:"size" example:"1834"`
	SHA256     string  `json:"sha256" doc:"SHA-256 of the file that will run"`
	Origin     *string `json:"origin_sha256" doc:"SHA-256 of the published file; null for a file that the source adds"`
	Rewritten  int     `json:"rewritten" doc:"Number of places that the source changed in the published file"`
}

// UnpinnedDownload is a place in a file that downloads something without a pin.
type UnpinnedDownload struct {
	File string `json:"file" example:"install/wiki-install.sh"`
	Line int    `json:"line" example:"12"`
	Text string `json:"text"`
}

// PlanStorage is a storage of the host.
type PlanStorage struct {
	Name    string   `json:"name" example:"local-lvm"`
	Type    string   `json:"type" example:"lvmthin"`
	Shared  bool     `json:"shared"`
	Status  string   `json:"status" example:"available"`
	Content []string `json:"content" nullable:"false" doc:"Content types of the storage, as the hypervisor names them"`
	Free    *int64   `json:"free" doc:"Free space in bytes; null if not known"`
	Total   *int64   `json:"total"`
}

// PlanDiff is the difference from an earlier bundle.
type PlanDiff struct {
	Sum       string          `json:"sum" doc:"SHA-256 of the bundle that was consented to"`
	Pin       string          `json:"pin"`
	Consented time.Time       `json:"consented_at"`
	Own       DiffCount       `json:"own"`
	Engine    DiffCount       `json:"engine" doc:"Changes in files that all entries of the source share"`
	Overlay   DiffCount       `json:"overlay" doc:"Changes in files that the source adds"`
	Files     []bundle.Change `json:"files" nullable:"false" doc:"Changed files, the entry's own first"`
}

// DiffCount counts differences.
type DiffCount struct {
	Files   int `json:"files"`
	Added   int `json:"added" doc:"Number of added lines"`
	Removed int `json:"removed" doc:"Number of removed lines"`
}

// Consent is the text to agree to, and whether somebody has agreed.
type Consent struct {
	Text    string     `json:"text"`
	Version int        `json:"version" doc:"Version of the text"`
	Given   bool       `json:"given" doc:"true if a user consented to this text for this bundle on this host"`
	By      *string    `json:"by" example:"admin@example.com"`
	At      *time.Time `json:"at"`
}

// Plan returns everything that is known about an installation or update of an
// entry on a host, and creates the bundle if it is not stored yet. The caller
// is an admin of the host. Problems: not_found, forbidden, catalog_source_error
// if the source cannot provide the bundle, plugin_unavailable.
func (s *Store) Plan(ctx context.Context, path string, hostID int64, purpose sdk.Purpose) (*Plan, error) {
	if _, err := schedule.Require(ctx, s.DB, scope.Host, hostID, identity.Admin); err != nil {
		return nil, err
	}
	f, err := s.find(ctx, path)
	if err != nil {
		return nil, err
	}
	h, err := s.planHost(ctx, hostID)
	if err != nil {
		return nil, err
	}
	e := &f.entry
	p := &Plan{Slug: path, Name: e.Name, Source: f.source, Purpose: string(purpose), Host: h.PlanHost, Pin: text(f.pin),
		Commit: text(e.App.String()),
		Files:  []PlanFile{}, Privileges: privileges(e), Unpinned: []UnpinnedDownload{}, UnpinnedText: Unpinned, Notes: []Note{},
		Prompts:  e.Prompts,
		NeedsYes: e.NeedsYes, Overrides: overrides(e), Storages: h.storages, Bridges: h.bridges, Blockers: []Blocker{}, Warnings: []string{},
		Defaults: Defaults(e.Defaults), Consent: Consent{Version: bundle.TextVersion}}
	for _, n := range e.Notes {
		p.Notes = append(p.Notes, Note{Level: string(n.Level), Text: n.Text})
	}
	if err := s.block(ctx, p, h, e); err != nil {
		return nil, err
	}
	if e.Removed == "" && e.Type == sdk.ContainerEntry {
		b, err := s.bundleOf(ctx, f, purpose)
		if err != nil {
			return nil, err
		}
		if b == nil {
			p.blocked("no_bundle", "the source has no files for this host")
		} else if err := s.show(ctx, p, h, f, b); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// blocked adds a blocker.
func (p *Plan) blocked(code, format string, args ...any) {
	p.Blockers = append(p.Blockers, Blocker{Code: code, Text: fmt.Sprintf(format, args...)})
}

// warn adds a warning.
func (p *Plan) warn(format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...))
}

// blockEntry adds the obstacles in the entry itself.
func (p *Plan) blockEntry(e *sdk.Entry) {
	switch {
	case e.Type != sdk.ContainerEntry:
		p.blocked("entry_type", "it does not create a container: only entries of the type %s can be installed", sdk.ContainerEntry)
	case e.Removed != "":
		p.blocked("removed", "it can no longer be installed: %s", e.Removed)
	case e.Disabled != "":
		p.blocked("disabled", "its authors have disabled it: %s", e.Disabled)
	}
}

// block adds all obstacles.
func (s *Store) block(ctx context.Context, p *Plan, h *planHost, e *sdk.Entry) error {
	p.blockEntry(e)
	if h.status != "online" {
		p.blocked("host_unreachable", "the host does not answer")
	}
	node := Node{Blockers: []Blocker{{Code: "ssh_not_enrolled",
		Text: "programs cannot be run on this host: the service has no SSH access to its machine"}}}
	if s.Executors != nil {
		var err error
		if node, err = s.Executors.Node(ctx, p.Host.ID); err != nil {
			return err
		}
	}
	p.Blockers = append(p.Blockers, node.Blockers...)
	if len(e.Architectures) > 0 && node.Architecture != "" && !slices.Contains(e.Architectures, node.Architecture) {
		p.blocked("architecture", "it does not support %s", node.Architecture)
	}
	if e.Prompts > 0 {
		p.warn("Its scripts ask %d questions without a default answer.", e.Prompts)
	}
	if len(p.Storages) == 0 {
		p.warn("The host has no known storage.")
	}
	return nil
}

// bundleOf returns the bundle of an entry at the pin of the last sync; nil if
// the source has none. The entry's own files are those of its own pin, and the
// engine is that of the sync.
func (s *Store) bundleOf(ctx context.Context, f *found, purpose sdk.Purpose) (*bundle.Bundle, error) {
	pin, ok := sdk.ParsePin(f.pin)
	if !ok {
		return nil, fmt.Errorf("the pin of the source %s is not valid", f.source)
	}
	key := bundle.Key{Source: f.source, Slug: f.slug, Purpose: purpose, Pin: pin}
	if b, is, err := s.Bundles.Find(ctx, key); is || err != nil {
		return b, err // also while the source is away
	}
	r, err := stored(ctx, s.DB.Pool, f.source, "")
	if err != nil {
		return nil, err
	}
	options, err := s.open(r)
	if err != nil {
		return nil, err
	}
	info, err := s.info(ctx, f.source)
	if err != nil {
		return nil, s.sourceProblem(err, info, options)
	}
	if err := r.trusts(info); err != nil {
		return nil, s.sourceProblem(err, info, options)
	}
	opened, err := s.openSource(ctx, r, options)
	if err != nil {
		return nil, s.sourceProblem(err, info, options)
	}
	defer func() { _ = opened.Close() }() // it was only read
	b, err := s.Bundles.Fetch(ctx, opened, key)
	if err != nil && plugin.KindOf(err) == plugin.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, s.sourceProblem(err, info, options)
	}
	return b, nil
}

// sourceProblem returns the problem for the error of a source.
func (s *Store) sourceProblem(err error, info sdk.Info, options map[string]string) error {
	var known *problem.Error
	var said *plugin.Error
	if errors.As(err, &known) && !errors.As(err, &said) {
		return err // the database's
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	reason, text := because(err, info, options)
	p := problem.New(problem.CodeCatalogSourceError, "%s", text).With("reason", reason).WithCause(err)
	if reason == string(plugin.Busy) {
		p.RetryAfter = 60
	}
	return p
}

// show describes a bundle.
func (s *Store) show(ctx context.Context, p *Plan, h *planHost, f *found, b *bundle.Bundle) error {
	m := &b.Manifest
	p.Sum, p.Size = &b.Sum, m.Size()
	for _, class := range []sdk.FileClass{sdk.OwnFile, sdk.OverlayFile, sdk.EngineFile} {
		for _, file := range m.Files {
			if file.Class == class {
				p.Files = append(p.Files, PlanFile{Path: file.Path, Class: string(class), Executable: file.Executable, Size: file.Size,
					SHA256: file.Sum, Origin: text(file.Origin), Rewritten: file.Rewritten})
			}
		}
	}
	for _, u := range m.Unpinned {
		p.Unpinned = append(p.Unpinned, UnpinnedDownload(u))
	}
	p.Consent.Text = consentText(h, &f.entry, m, b.Sum)
	if m.Purpose == sdk.Update {
		p.Consent.Text = updateText(h.Name, f.entry.Name, m, b.Sum)
	}
	given, err := s.Bundles.FindConsent(ctx, p.Host.ID, m.Purpose, b.Sum)
	if err != nil {
		return err
	}
	if given != nil {
		p.Consent.Given, p.Consent.By, p.Consent.At = true, text(given.ActorEmail), &given.GivenAt
	}
	return s.compare(ctx, p, f, b)
}

// compare describes the difference from the bundle to which somebody last
// agreed on the host.
func (s *Store) compare(ctx context.Context, p *Plan, f *found, b *bundle.Bundle) error {
	last, err := s.Bundles.LastConsent(ctx, p.Host.ID, f.source, f.slug)
	if err != nil || last == nil {
		return err
	}
	before, err := s.Bundles.Get(ctx, f.source, f.slug, last.Sum)
	if problem.CodeOf(err) == problem.CodeNotFound {
		p.warn("The bundle that was last consented to on this host is no longer stored.")
		return nil
	}
	if err != nil {
		return err
	}
	changes, err := s.Bundles.Compare(ctx, before.Manifest, b.Manifest)
	if err != nil {
		return fmt.Errorf("comparing two bundles: %w", err)
	}
	p.Diff = &PlanDiff{Sum: last.Sum, Pin: last.Pin, Consented: last.GivenAt, Files: changes}
	p.Diff.Own, p.Diff.Engine, p.Diff.Overlay = Count(changes)
	return nil
}

// Count counts differences by the owner of the files.
func Count(changes []bundle.Change) (own, engine, overlay DiffCount) {
	counts := map[string]*DiffCount{"own": &own, "engine": &engine, "overlay": &overlay}
	for _, c := range changes {
		if count := counts[c.Class]; count != nil {
			count.Files++
			count.Added += c.Added
			count.Removed += c.Removed
		}
	}
	return own, engine, overlay
}
