package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/outbound"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// Icons are kept in the database: they are small, a backup has them, and every
// instance can serve what another has fetched. So there is no folder out of
// which a name could lead.

// iconFetchers is how many icons are downloaded at the same time: few, so that
// six hundred of them do not strain a server.
const iconFetchers = 4

// Icon is a picture as it is served.
type Icon struct {
	// Name is the SHA-256 of the data and an extension; it serves as the ETag.
	// Type is the media type.
	Name, Type string
	Data       []byte
}

// iconTypes are the types of pictures that are served, by the extensions of
// their names. SVG is not one of them, because it can contain scripts.
var iconTypes = map[string]string{"png": "image/png", "webp": "image/webp", "jpg": "image/jpeg"}

// pictureOf recognises a picture by its first bytes alone; empty for everything
// that is not served. The type that a server claims is ignored.
func pictureOf(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")): // RFC 2083 section 3.1
		return "png"
	case bytes.HasPrefix(data, []byte("RIFF")) && len(data) >= 12 && string(data[8:12]) == "WEBP": // RFC 9649 section 2.4
		return "webp"
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")): // ISO/IEC 10918-1 annex B
		return "jpg"
	}
	return ""
}

// nameOf returns the name of a picture's file; false for other data.
func nameOf(data []byte) (string, bool) {
	ending := pictureOf(data)
	if ending == "" {
		return "", false
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]) + "." + ending, true
}

// Icon returns the picture of an entry. The problem is not_found, also if the
// entry has none.
func (s *Store) Icon(ctx context.Context, path string) (*Icon, error) {
	icon := &Icon{}
	err := s.DB.Pool.QueryRow(ctx, `SELECT i.name, i.data FROM catalog_entries e JOIN catalog_sources s ON s.name = e.source
		JOIN catalog_icon_references r ON r.source = e.source AND r.reference = e.icon JOIN catalog_icons i ON i.name = r.icon
		WHERE e.path = $1 AND s.enabled`, path).Scan(&icon.Name, &icon.Data)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, problem.New(problem.CodeNotFound, "entry not found in the catalog, or it has no icon")
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading an icon: %w", err))
	}
	if size, ok := sizeOf(icon.Data); ok && tooManyPixels(size) { // stored by an earlier release
		return nil, problem.New(problem.CodeNotFound, "the entry's icon has too many pixels")
	}
	_, ending, _ := strings.Cut(icon.Name, ".")
	icon.Type = iconTypes[ending]
	return icon, nil
}

// reference is the address of a picture, with its state.
type reference struct{ text, etag string }

// fetched is the result of downloading a reference.
type fetched struct {
	reference
	icon sdk.Icon
	err  error
}

// fetchIcons fetches the missing pictures of a source, and once a week checks
// the others for changes. After a failure it tries again after a day, then
// after longer waits.
func (s *Store) fetchIcons(ctx context.Context, run *job.Run, r *row, opened sdk.Catalog) error {
	due, err := s.dueIcons(ctx, r.Name)
	if err != nil {
		return err
	}
	if len(due) == 0 {
		return s.pruneIcons(ctx)
	}
	fetcher, _ := sdk.As[sdk.IconFetcher](opened)
	from := &downloader{Store: s, clients: map[string]*http.Client{}}
	defer from.close()
	queue, done := make(chan reference), make(chan fetched)
	var fetching sync.WaitGroup
	for range iconFetchers {
		fetching.Go(func() {
			for ref := range queue {
				icon, err := from.fetchIcon(ctx, fetcher, ref)
				done <- fetched{ref, icon, err}
			}
		})
	}
	go func() {
		defer close(done)
		defer fetching.Wait()
		defer close(queue)
		for _, ref := range due {
			select {
			case queue <- ref:
			case <-ctx.Done():
				return
			}
		}
	}()
	var failed error
	kept, missed := 0, 0
	for f := range done { // to its end, so that nobody waits for ever
		if ctx.Err() != nil {
			continue
		}
		if f.err != nil {
			missed++
			s.Logger.Debug("could not download an icon", "source", r.Name, "reference", f.text, "error", f.err)
		} else if !f.icon.Unchanged {
			kept++
		}
		failed = errors.Join(failed, s.keepIcon(ctx, r.Name, f))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	run.Note("%s: %d icons checked, %d new, %d not available", r.Name, len(due), kept, missed)
	return errors.Join(failed, s.pruneIcons(ctx))
}

// dueIcons updates the references to those of the entries, and returns those
// that are due.
func (s *Store) dueIcons(ctx context.Context, source string) (due []reference, err error) {
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue(`DELETE FROM catalog_icon_references r WHERE source = $1
			AND NOT EXISTS (SELECT FROM catalog_entries e WHERE e.source = r.source AND e.icon = r.reference)`, source)
		batch.Queue(`INSERT INTO catalog_icon_references (source, reference) SELECT DISTINCT source, icon FROM catalog_entries
			WHERE source = $1 AND icon <> '' ON CONFLICT DO NOTHING`, source)
		if err := tx.Pgx.SendBatch(ctx, batch).Close(); err != nil {
			return fmt.Errorf("storing references of icons: %w", err)
		}
		rows, err := tx.Pgx.Query(ctx, `SELECT reference, etag FROM catalog_icon_references WHERE source = $1 AND next_at <= now()
			ORDER BY reference`, source)
		if err != nil {
			return fmt.Errorf("reading references of icons: %w", err)
		}
		due, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (ref reference, err error) { return ref, row.Scan(&ref.text, &ref.etag) })
		return err
	})
	return due, err
}

// fetchIcon gets one picture: https addresses directly, everything else from
// the source.
func (d *downloader) fetchIcon(ctx context.Context, fetcher sdk.IconFetcher, ref reference) (icon sdk.Icon, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.IconTime)
	defer cancel()
	switch {
	case strings.Contains(ref.text, "://"):
		icon, err = d.download(ctx, ref)
	case fetcher == nil:
		return icon, plugin.Errorf(plugin.Unsupported, "the source has no icons of its own")
	default:
		icon, err = fetcher.Icon(ctx, ref.text, ref.etag)
	}
	switch {
	case err != nil:
		return icon, err
	case icon.Unchanged && ref.etag == "":
		return icon, plugin.Errorf(plugin.Protocol, "the source reports an icon as unchanged that Hostler does not have")
	case icon.Unchanged:
		return icon, nil
	case len(icon.Data) > sdk.MaxIcon:
		return icon, tooLarge()
	}
	switch size, ok := sizeOf(icon.Data); {
	case !ok:
		return icon, plugin.Errorf(plugin.Protocol, "the icon is not a PNG, WebP or JPEG image")
	case tooManyPixels(size):
		return icon, plugin.Errorf(plugin.Protocol, "the image has %d × %d pixels; an icon can have at most %d pixels", size.X,
			size.Y, maxPixels)
	}
	return icon, nil
}

// tooLarge returns the error of a picture that exceeds the limit.
func tooLarge() error {
	return plugin.Errorf(plugin.Protocol, "the icon has more than %d KiB", sdk.MaxIcon>>10)
}

// keepIcon stores the result for a reference. A picture that was fetched before
// stays if it cannot be fetched again.
func (s *Store) keepIcon(ctx context.Context, source string, f fetched) error {
	return s.DB.Tx(ctx, func(tx *db.Tx) error {
		if f.err != nil {
			_, err := tx.Pgx.Exec(ctx, `UPDATE catalog_icon_references SET checked_at = now(), failures = failures + 1, failure = $3,
				next_at = now() + least(failures + 1, 7) * interval '23 hours' WHERE source = $1 AND reference = $2`, source, f.text,
				outbound.Plain(outbound.Cause(f.err).Error()))
			return err
		}
		const good = `checked_at = now(), failures = 0, failure = '', next_at = now() + interval '167 hours'`
		if f.icon.Unchanged {
			_, err := tx.Pgx.Exec(ctx, "UPDATE catalog_icon_references SET "+good+" WHERE source = $1 AND reference = $2", source, f.text)
			return err
		}
		name, _ := nameOf(f.icon.Data)
		etag := f.icon.ETag
		if len(etag) > 300 || outbound.Plain(etag) != etag {
			etag = ""
		}
		if _, err := tx.Pgx.Exec(ctx, "INSERT INTO catalog_icons (name, data) VALUES ($1, $2) ON CONFLICT DO NOTHING", name,
			f.icon.Data); err != nil {
			return fmt.Errorf("storing an icon: %w", err)
		}
		_, err := tx.Pgx.Exec(ctx, "UPDATE catalog_icon_references SET icon = $3, etag = $4, "+good+" WHERE source = $1 AND reference = $2",
			source,
			f.text, name, etag)
		return err
	})
}

// pruneIcons deletes pictures without a reference.
func (s *Store) pruneIcons(ctx context.Context) error {
	_, err := s.DB.Pool.Exec(ctx, `DELETE FROM catalog_icons i WHERE NOT EXISTS (SELECT FROM catalog_icon_references r WHERE r.icon =
		i.name)`)
	if err != nil {
		return fmt.Errorf("deleting icons: %w", err)
	}
	return nil
}
