package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// maxSync limits the size of a sync, in bytes of JSON.
const maxSync = 64 << 20

// outcome is the effect of a sync.
type outcome struct {
	synced                sdk.SyncResult
	changed, removed, had int
	held                  bool
}

// note writes the result of a sync into the transcript.
func (o outcome) note(run *job.Run, name string) {
	at := o.synced.Begin.Pin.String()
	switch {
	case o.held:
		run.Note("%s: %d of %d entries are missing at %s: nothing was changed; an owner has to accept the loss first",
			name, o.removed, o.had, at)
	case o.changed+o.removed == 0:
		run.Note("%s: nothing has changed, %d entries at %s", name, o.synced.End.Entries, at)
	default:
		run.Note("%s: %d entries at %s, %d new or changed, %d removed", name, o.synced.End.Entries, at, o.changed, o.removed)
	}
}

// syncSource asks a source for its changes and takes them. If the answer does
// not fit the stored entries, it asks once more for everything.
func (s *Store) syncSource(ctx context.Context, r *row, options map[string]string) (o outcome, info sdk.Info, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.SyncTime)
	defer cancel()
	if info, err = s.info(ctx, r.Name); err != nil {
		return o, info, err
	}
	if err := r.trusts(info); err != nil {
		return o, info, err
	}
	opened, err := s.openSource(ctx, r, options)
	if err != nil {
		return o, info, err
	}
	defer func() { _ = opened.Close() }()
	o, err = s.sync(ctx, r, info, opened, r.Cursor)
	if err != nil && r.Cursor != "" && plugin.KindOf(err) == plugin.Protocol {
		o, err = s.sync(ctx, r, info, opened, "")
	}
	return o, info, err
}

// trusts returns nil if somebody has read the source's present statement of
// trust.
func (r *row) trusts(info sdk.Info) error {
	if r.TrustDigest != trustDigest(info) {
		return &refusal{reasonTrust, "the source's statement about whom you trust has changed; an owner has to read it again"}
	}
	return nil
}

// sync makes one sync from a cursor.
func (s *Store) sync(ctx context.Context, r *row, info sdk.Info, opened sdk.Catalog, cursor string) (outcome, error) {
	known, err := s.digests(ctx, s.DB.Pool, r.Name)
	if err != nil {
		return outcome{}, err
	}
	var came []sdk.Entry
	size := 0
	synced, err := sdk.VerifySync(ctx, opened, sdk.SyncRequest{Cursor: cursor}, known, func(step sdk.SyncStep) error {
		if e := step.Entry; e != nil && known[e.Slug] != e.Digest {
			text, err := json.Marshal(e)
			if err != nil {
				return plugin.Errorf(plugin.Protocol, "the times of %s are not valid", e.Slug).WithCause(err)
			}
			if size += len(text); size > maxSync {
				return plugin.Errorf(plugin.Protocol, "the entries are larger than %d MiB", maxSync>>20)
			}
			came = append(came, *e)
		}
		return nil
	})
	if err != nil {
		return outcome{}, err
	}
	s.hook("verified")
	o := outcome{synced: synced, changed: len(came), removed: len(synced.Removed), had: len(known)}
	err = s.DB.Tx(ctx, func(tx *db.Tx) error { return s.take(ctx, tx, r, info, &o, known, came) })
	return o, err
}

// digests returns the digests of a source's entries by slug.
func (s *Store) digests(ctx context.Context, q interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, name string) (map[string]string, error) {
	rows, err := q.Query(ctx, "SELECT slug, digest FROM catalog_entries WHERE source = $1", name)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the digests of entries: %w", err))
	}
	known := map[string]string{}
	var slug, digest string
	_, err = pgx.ForEachRow(rows, []any{&slug, &digest}, func() error { known[slug] = digest; return nil })
	return known, db.Problem(err)
}

// take writes a verified sync. It refuses if the source's configuration or
// entries have changed since the sync began.
func (s *Store) take(ctx context.Context, tx *db.Tx, r *row, info sdk.Info, o *outcome, known map[string]string, came []sdk.Entry) error {
	now, err := stored(ctx, tx.Pgx, r.Name, "FOR UPDATE OF s")
	if err != nil {
		return err
	}
	present, err := s.digests(ctx, tx.Pgx, r.Name)
	if err != nil {
		return err
	}
	if now.Version != r.Version || !now.Enabled || sdk.CatalogDigest(present) != sdk.CatalogDigest(known) {
		return &refusal{reasonChanged, "the source was changed while it was being queried"}
	}
	gone := slices.Sorted(slices.Values(o.synced.Removed))
	if o.held = tooMany(len(gone), len(known)) && !accepted(now.Accepted, gone); o.held {
		return hold(ctx, tx, r.Name, o.synced.Begin.Pin, gone, len(known))
	}
	categories := make(map[string]string, len(o.synced.Begin.Categories))
	for _, c := range o.synced.Begin.Categories {
		categories[c.Key] = c.Name
	}
	if len(gone) > 0 {
		if _, err := tx.Pgx.Exec(ctx, "DELETE FROM catalog_entries WHERE source = $1 AND slug = ANY ($2)", r.Name, gone); err != nil {
			return fmt.Errorf("removing entries: %w", err)
		}
	}
	if err := upsert(ctx, tx, r.Name, categories, came); err != nil {
		return err
	}
	s.hook("applied")
	return s.taken(ctx, tx, r, info, o, now)
}

// taken stores the cursor of the source.
func (s *Store) taken(ctx context.Context, tx *db.Tx, r *row, info sdk.Info, o *outcome, now *row) error {
	type category struct {
		Key  string `json:"key"`
		Name string `json:"name"`
	}
	all := []category{}
	for _, c := range o.synced.Begin.Categories {
		all = append(all, category(c))
	}
	text, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("encoding categories: %w", err)
	}
	pin := o.synced.Begin.Pin.String()
	_, err = tx.Pgx.Exec(ctx, `UPDATE catalog_sources SET title = $2, cursor = $3, pin = $4, digest = $5, categories = $6, synced_at = now(),
		tried_at = now(), changed_at = CASE WHEN $7 THEN now() ELSE changed_at END, failure = '', failure_kind = '', failed_at = NULL,
		failures = 0, held = '{}', held_of = 0, held_pin = '', held_at = NULL, accepted = '{}' WHERE name = $1`, r.Name, info.Title,
		o.synced.End.Cursor, pin, o.synced.End.Digest, string(text), o.changed+o.removed > 0 || now.Pin != pin)
	if err != nil {
		return fmt.Errorf("recording a sync: %w", err)
	}
	return nil
}

// separator separates the texts of a list on their way to PostgreSQL. No entry
// contains a control character.
const separator = "\x1f"

// upsert writes entries in one statement.
func upsert(ctx context.Context, tx *db.Tx, source string, categories map[string]string, came []sdk.Entry) error {
	if len(came) == 0 {
		return nil
	}
	var slugs, paths, digests, types, names, summaries, keys, tags, variants, icons, words, texts []string
	var created, updated []*time.Time
	var can []bool
	for i := range came {
		e := &came[i]
		text, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("encoding an entry: %w", err)
		}
		slugs, paths, digests = append(slugs, e.Slug), append(paths, pathOf(source, e.Slug)), append(digests, e.Digest)
		types, names, summaries = append(types, string(e.Type)), append(names, e.Name), append(summaries, summary(e.Description))
		keys, tags = append(keys, strings.Join(e.Categories, separator)), append(tags, strings.Join(e.Tags, separator))
		variants, icons = append(variants, e.VariantOf), append(icons, e.Icon)
		words, texts = append(words, searched(e, categories)), append(texts, string(text))
		created, updated, can = append(created, timeOf(e.Created)), append(updated, timeOf(e.Updated)), append(can, installable(e))
	}
	_, err := tx.Pgx.Exec(ctx, `INSERT INTO catalog_entries (source, slug, path, digest, entry_type, name, summary, categories, tags,
		created_at,
		updated_at, installable, variant_of, icon, words, entry)
		SELECT $1, slug, path, digest, entry_type, name, summary, string_to_array(categories, E'\x1f'), string_to_array(tags, E'\x1f'),
			created_at,
			updated_at, installable, variant_of, icon, words, entry::json
		FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::timestamptz[],
			$11::timestamptz[], $12::boolean[], $13::text[], $14::text[], $15::text[], $16::text[])
			t (slug, path, digest, entry_type, name, summary, categories, tags, created_at, updated_at, installable, variant_of, icon, words, entry)
		ON CONFLICT (source, slug) DO UPDATE SET digest = excluded.digest, entry_type = excluded.entry_type, name = excluded.name,
			summary = excluded.summary, categories = excluded.categories, tags = excluded.tags, created_at = excluded.created_at,
			updated_at = excluded.updated_at, installable = excluded.installable, variant_of = excluded.variant_of, icon = excluded.icon,
			words = excluded.words, entry = excluded.entry`,
		source, slugs, paths, digests, types, names, summaries, keys, tags, created, updated, can, variants, icons, words, texts)
	if err != nil {
		return fmt.Errorf("writing entries: %w", err)
	}
	return nil
}

// timeOf returns nil for an unknown time and for one outside the range of
// PostgreSQL.
func timeOf(t time.Time) *time.Time {
	if t.IsZero() || t.Year() < 1970 || t.Year() > 9999 {
		return nil
	}
	return &t
}

// tooMany reports whether a loss of entries waits for an owner: more than a
// fifth.
func tooMany(gone, had int) bool { return gone*5 > had }

// accepted reports whether an owner has accepted the loss of all these entries.
func accepted(by, gone []string) bool {
	for _, slug := range gone {
		if !slices.Contains(by, slug) {
			return false
		}
	}
	return true
}

// hold stores a loss for an owner and takes nothing of the sync.
func hold(ctx context.Context, tx *db.Tx, name string, pin sdk.Pin, gone []string, had int) error {
	_, err := tx.Pgx.Exec(ctx, `UPDATE catalog_sources SET held = $2, held_of = $3, held_pin = $4, held_at = now(), tried_at = now(),
		failure = '',
		failure_kind = '', failed_at = NULL, failures = 0 WHERE name = $1`, name, gone, had, pin.String())
	if err != nil {
		return fmt.Errorf("storing a loss: %w", err)
	}
	return nil
}

// heldDigest returns the digest of a loss.
func heldDigest(pin string, gone []string) string {
	sum := sha256.Sum256([]byte(pin + "\n" + strings.Join(gone, "\n")))
	return hex.EncodeToString(sum[:])
}
