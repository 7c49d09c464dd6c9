package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	sdk "github.com/hostler/hostler/sdk/catalog"
)

// Source is a source as it is shown; the JSON names are those of the API.
type Source struct {
	Name      string  `json:"name" example:"scripts"`
	Title     string  `json:"title" example:"Community scripts" doc:"Title that the source reports; empty if not known"`
	Version   *string `json:"version" example:"1.4.0" doc:"Version of its plugin; null while the plugin is not running on this instance"`
	Installed bool    `json:"installed" doc:"true if its plugin is pinned on the machine of the instance that responds"`
	Enabled   bool    `json:"enabled"`
	Namespace string  `json:"namespace" example:"folder/" doc:"Prefix of the slugs of its entries; empty for the first source"`

	Trust         *string    `json:"trust" doc:"Statement of the source that says whose code runs as root on your hosts when you use it; null while its plugin is not running on this instance"`
	TrustDigest   *string    `json:"trust_digest" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" doc:"SHA-256 of the statement; required to enable the source"`
	TrustAccepted bool       `json:"trust_accepted" doc:"true if an owner accepted the current statement"`
	TrustedBy     *string    `json:"trusted_by" example:"owner@example.com" doc:"User who accepted the current statement"`
	TrustedAt     *time.Time `json:"trusted_at"`

	Options      []Option `json:"options" nullable:"false" doc:"Settings of the source; empty while its plugin is not running on this instance"`
	AllowPrivate bool     `json:"allow_private" doc:"true if it may connect to private addresses"`
	Popularity   bool     `json:"popularity" doc:"true if Hostler asks a third party how often entries are installed"`

	Entries   int          `json:"entries" example:"613"`
	Pin       *string      `json:"pin" example:"community-scripts/ProxmoxVE@8386465a927ac72f518d1c54ce21fe3c2df03407" doc:"State of the entries: repositories and commits"`
	SyncedAt  *time.Time   `json:"synced_at" doc:"When its entries were last found to be up to date"`
	ChangedAt *time.Time   `json:"changed_at" doc:"When a sync last changed an entry"`
	Failure   *Failure     `json:"failure" doc:"Why the last sync failed; null if it succeeded"`
	Held      *PendingLoss `json:"held" doc:"Removal of entries that waits for approval by an owner; null if none waits"`
}

// Failure is a sync that was not taken.
type Failure struct {
	Reason string    `json:"reason" example:"unreachable" doc:"unreachable, timeout, untrusted, busy, protocol, trust, invalid, not_installed, or a reason that the source defines"`
	Text   string    `json:"text" example:"cannot download the archive"`
	At     time.Time `json:"at"`
	Count  int       `json:"count" example:"1" doc:"Number of failures since the last successful sync"`
}

// PendingLoss is a loss of entries that waits for an owner.
type PendingLoss struct {
	At      time.Time `json:"at"`
	Pin     string    `json:"pin" doc:"State of the source in which the entries are missing"`
	Of      int       `json:"of" example:"613" doc:"Number of entries of the source"`
	Removed []string  `json:"removed" nullable:"false" example:"[\"wiki\"]" doc:"Slugs of the entries that would be removed"`
	Digest  string    `json:"digest" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" doc:"Digest with which an owner accepts the removal"`
}

// Option is an option of a source with its present value.
type Option struct {
	Key         string   `json:"key" example:"base_url"`
	Type        string   `json:"type" enum:"line,text,whole,switch,choice,url,folder" example:"url"`
	Values      []string `json:"values" nullable:"false" doc:"Allowed values of a choice"`
	Default     string   `json:"default_text" doc:"Description of the default"`
	Description string   `json:"description"`
	Required    bool     `json:"required"`
	Secret      bool     `json:"secret" doc:"true if the value is never returned"`
	Min         *int64   `json:"min"`
	Max         *int64   `json:"max"`
	Set         bool     `json:"set"`
	Value       *string  `json:"value" doc:"Current value; null if it is not set, and for secrets"`
}

// row is a source as it is stored.
type row struct {
	Name                              string
	Enabled, AllowPrivate, Popularity bool
	Options                           []byte
	Version                           int64
	TrustDigest, TrustedEmail         string
	TrustedAt                         *time.Time
	Title, Cursor, Pin, Digest        string
	SyncedAt, ChangedAt               *time.Time
	Failure, FailureKind              string
	FailedAt                          *time.Time
	Failures                          int
	Held                              []string
	HeldOf                            int
	HeldPin                           string
	HeldAt                            *time.Time
	Accepted                          []string
	Entries                           int
}

// rowColumns are the columns of a row.
const rowColumns = `s.name, s.enabled, s.allow_private, s.popularity, s.options, s.version, s.trust_digest, s.trusted_email, s.trusted_at,
	s.title, s.cursor, s.pin, s.digest, s.synced_at, s.changed_at, s.failure, s.failure_kind, s.failed_at, s.failures, s.held, s.held_of,
	s.held_pin, s.held_at, s.accepted, (SELECT count(*) FROM catalog_entries e WHERE e.source = s.name)`

// scanRow reads one row with rowColumns.
func scanRow(r pgx.CollectableRow) (*row, error) { return pgx.RowToAddrOfStructByPos[row](r) }

// rows returns all stored sources.
func (s *Store) rows(ctx context.Context) ([]*row, error) {
	found, err := s.DB.Pool.Query(ctx, "SELECT "+rowColumns+" FROM catalog_sources s ORDER BY s.name")
	if err == nil {
		var all []*row
		if all, err = db.CollectRows(found, scanRow); err == nil {
			return all, nil
		}
	}
	return nil, db.Problem(fmt.Errorf("reading the sources of the catalog: %w", err))
}

// stored returns one source. A source that was never stored is a row that is
// off.
func stored(ctx context.Context, q secret.Querier, name, lock string) (*row, error) {
	found, err := q.Query(ctx, "SELECT "+rowColumns+" FROM catalog_sources s WHERE s.name = $1 "+lock, name)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a source of the catalog: %w", err))
	}
	r, err := pgx.CollectExactlyOneRow(found, scanRow)
	if errors.Is(err, pgx.ErrNoRows) {
		return &row{Name: name}, nil
	}
	return r, db.Problem(err)
}

// SourceList returns all sources whose plugins are installed or were
// configured.
func (s *Store) SourceList(ctx context.Context) ([]*Source, error) {
	rows, err := s.rows(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range s.Sources.CatalogNames() {
		if !slices.ContainsFunc(rows, func(r *row) bool { return r.Name == name }) {
			rows = append(rows, &row{Name: name})
		}
	}
	slices.SortFunc(rows, func(a, b *row) int { return strings.Compare(a.Name, b.Name) })
	all := make([]*Source, len(rows))
	failed := make([]error, len(rows))
	var asking sync.WaitGroup
	for i, r := range rows {
		asking.Go(func() { all[i], failed[i] = s.tell(ctx, r) })
	}
	asking.Wait()
	return all, errors.Join(failed...)
}

// Source returns one source. The problem is not_found if its plugin is not
// installed and it was never configured.
func (s *Store) Source(ctx context.Context, name string) (*Source, error) {
	r, err := stored(ctx, s.DB.Pool, name, "")
	if err != nil {
		return nil, err
	}
	if err := s.known(r); err != nil {
		return nil, err
	}
	return s.tell(ctx, r)
}

// known returns not_found for a source that is neither stored nor installed.
func (s *Store) known(r *row) error {
	if r.Version == 0 && !s.installed(r.Name) {
		return problem.New(problem.CodeNotFound, "source not found")
	}
	return nil
}

// installed reports whether a plugin provides the source.
func (s *Store) installed(name string) bool { return slices.Contains(s.Sources.CatalogNames(), name) }

// tell combines a source with the description of its plugin, if that runs.
func (s *Store) tell(ctx context.Context, r *row) (*Source, error) {
	told := &Source{
		Name: r.Name, Title: r.Title, Installed: s.installed(r.Name), Enabled: r.Enabled, Namespace: strings.TrimSuffix(pathOf(r.Name, "-"),
			"-"),
		TrustedBy: host.CleanOrNil(r.TrustedEmail), TrustedAt: utc(r.TrustedAt), Options: []Option{}, AllowPrivate: r.AllowPrivate,
		Popularity: r.Popularity, Entries: r.Entries, Pin: host.CleanOrNil(r.Pin), SyncedAt: utc(r.SyncedAt), ChangedAt: utc(r.ChangedAt),
		Failure: r.failed(), Held: r.held(),
	}
	if !told.Installed {
		return told, nil
	}
	info, err := s.info(ctx, r.Name)
	if err != nil {
		s.Logger.Debug("could not read a source's info", "source", r.Name, "error", err)
		return told, nil
	}
	options, err := s.open(r)
	if err != nil {
		return nil, err
	}
	digest := trustDigest(info)
	told.Title, told.Version, told.Trust, told.TrustDigest = info.Title, &info.Version, &info.Trust, &digest
	told.TrustAccepted = r.TrustDigest == digest
	for _, o := range info.Options {
		told.Options = append(told.Options, describe(o, options))
	}
	return told, nil
}

// describe converts an option with its present value. The value of a secret is
// never shown.
func describe(o sdk.Option, set map[string]string) Option {
	told := Option{Key: o.Key, Type: string(o.Type), Values: append([]string{}, o.Values...), Default: o.Default, Description: o.Description,
		Required: o.Required, Secret: o.Secret}
	if o.Min != 0 || o.Max != 0 {
		told.Min, told.Max = &o.Min, &o.Max
	}
	value, is := set[o.Key]
	told.Set = is
	if is && !o.Secret {
		told.Value = &value
	}
	return told
}

// failed returns the last failure, or nil.
func (r *row) failed() *Failure {
	if r.FailedAt == nil || r.Failures == 0 {
		return nil
	}
	return &Failure{Reason: r.FailureKind, Text: r.Failure, At: r.FailedAt.UTC(), Count: r.Failures}
}

// held returns the sync that waits for an owner's consent, or nil.
func (r *row) held() *PendingLoss {
	if r.HeldAt == nil {
		return nil
	}
	h := &PendingLoss{At: r.HeldAt.UTC(), Pin: r.HeldPin, Of: r.HeldOf, Removed: []string{}, Digest: heldDigest(r.HeldPin, r.Held)}
	for _, slug := range r.Held {
		h.Removed = append(h.Removed, pathOf(r.Name, slug))
	}
	return h
}

// open decrypts a source's options.
func (s *Store) open(r *row) (map[string]string, error) {
	options := map[string]string{}
	if r.Options == nil {
		return options, nil
	}
	text, err := s.Keys.Open(r.Options, binding(r.Name))
	if err != nil {
		return nil, fmt.Errorf("decrypting a source's options: %w", err)
	}
	if err := json.Unmarshal([]byte(text.Reveal()), &options); err != nil {
		return nil, errors.New("a source's options are not valid") // the error may tell some of them
	}
	return options, nil
}

// binding returns what the encrypted options of a source are bound to.
func binding(name string) secret.Binding {
	return secret.Binding{Table: SealedTable.Name, Column: SealedTable.Column, Row: secret.Row(name)}
}

// utc converts an optional time.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	return new(t.UTC())
}
