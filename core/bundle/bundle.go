// Package bundle keeps what runs as root: the files of bundles, by their own checksums, and who has agreed that a bundle may run on a
// host.
//
// A bundle is made by a source, verified when it comes, and kept in the database, where every instance has it and a backup too. A file is
// kept once however many bundles have it, so the engine that all entries of a source share costs its size once for each of its states;
// PostgreSQL compresses it. Every file is held against its checksum again whenever it is read. What nothing refers to goes some time after
// it was last asked for.
package bundle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/catalog"
)

// Store has the bundles and consents of an instance.
type Store struct {
	DB *db.DB
	// References are queries in SQL, each for the checksums of bundles that must stay: those that other nouns refer to.
	References []string
}

// Key says which bundle.
type Key struct {
	// Source is the name of the source, and Slug that of the entry there.
	Source, Slug string
	Purpose      sdk.Purpose
	Pin          sdk.Pin
}

// Bundle is one that is kept.
type Bundle struct {
	// Sum is its own checksum.
	Sum string
	// Manifest is what the source has said of it at its pin.
	Manifest sdk.Manifest
	MadeAt   time.Time
}

// keepFor is how long a bundle stays that nothing refers to, since it was last asked for: plans are looked at again, and jobs may wait.
const keepFor = 30 * 24 * time.Hour

// Find gives the bundle of a key where it is kept, and false where it is not.
func (s *Store) Find(ctx context.Context, k Key) (*Bundle, bool, error) {
	return s.one(ctx, "source = $1 AND slug = $2 AND purpose = $3 AND pin = $4", k.Source, k.Slug, string(k.Purpose), k.Pin.String())
}

// Get gives a bundle of an entry by its checksum, as it was last made; problem not_found where the entry has none.
func (s *Store) Get(ctx context.Context, source, slug, sum string) (*Bundle, error) {
	found, ok, err := s.one(ctx, "source = $1 AND slug = $2 AND bundle = $3 ORDER BY made_at DESC LIMIT 1", source, slug, sum)
	if err == nil && !ok {
		err = problem.New(problem.CodeNotFound, "this bundle of the entry is not stored")
	}
	return found, err
}

func (s *Store) one(ctx context.Context, condition string, args ...any) (*Bundle, bool, error) {
	b := &Bundle{}
	var manifest []byte
	err := s.DB.Pool.QueryRow(ctx, "SELECT bundle, manifest, made_at FROM bundle_manifests WHERE "+condition, args...).
		Scan(&b.Sum, &manifest, &b.MadeAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	if err == nil {
		err = json.Unmarshal(manifest, &b.Manifest)
	}
	if err == nil && b.Manifest.Sum() != b.Sum {
		err = fmt.Errorf("the manifest of the bundle %.12s has changed", b.Sum)
	}
	if err == nil {
		_, err = s.DB.Pool.Exec(ctx, "UPDATE bundles SET used_at = now() WHERE sum = $1 AND used_at < now() - interval '1 hour'", b.Sum)
	}
	if err != nil {
		return nil, false, db.Problem(fmt.Errorf("reading a bundle: %w", err))
	}
	b.MadeAt = b.MadeAt.UTC()
	return b, true, nil
}

// Fetch gives the bundle of a key: the one that is kept, or else the source's, which is verified and kept. Nothing is kept of one that is
// cut or wrong. Errors are those of the source, and problems of the database. It may be called at the same time on several instances.
func (s *Store) Fetch(ctx context.Context, c sdk.Catalog, k Key) (*Bundle, error) {
	if found, ok, err := s.Find(ctx, k); ok || err != nil {
		return found, err
	}
	files := map[string][]byte{}
	m, err := sdk.ReadBundle(ctx, c, sdk.BundleRequest{Slug: k.Slug, Pin: k.Pin, Purpose: k.Purpose}, sdk.BundleStore{
		File: func(f sdk.File, content io.Reader) error {
			data, err := io.ReadAll(content) // of MaxBundleSize together, which CheckManifest has held
			files[f.Sum] = data
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	if err := s.keep(ctx, k, m, files); err != nil {
		return nil, err
	}
	return &Bundle{Sum: m.Sum(), Manifest: m, MadeAt: time.Now().UTC()}, nil
}

// keep writes a verified bundle. What another instance has written meanwhile is the same.
func (s *Store) keep(ctx context.Context, k Key, m sdk.Manifest, files map[string][]byte) error {
	manifest, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encoding a manifest: %w", err)
	}
	var sums []string
	var contents [][]byte
	for sum, data := range files {
		sums, contents = append(sums, sum), append(contents, data)
	}
	sum := m.Sum()
	return s.DB.Tx(ctx, func(tx *db.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue("SELECT pg_advisory_xact_lock_shared($1, 0)", lockClass) // see Prune
		batch.Queue(`INSERT INTO bundle_files (sum, data) SELECT * FROM unnest($1::text[], $2::bytea[]) t (sum, data)
			WHERE NOT EXISTS (SELECT FROM bundle_files f WHERE f.sum = t.sum) ORDER BY sum ON CONFLICT DO NOTHING`, sums, contents)
		batch.Queue(`INSERT INTO bundles (sum, place, size) VALUES ($1, $2, $3) ON CONFLICT (sum) DO UPDATE SET used_at = now()`, sum, m.Place,
			m.Size())
		batch.Queue(`INSERT INTO bundle_contents (bundle, file) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING`, sum, sums)
		batch.Queue(`INSERT INTO bundle_manifests (source, slug, purpose, pin, bundle, manifest) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT DO NOTHING`, k.Source, k.Slug, string(k.Purpose), k.Pin.String(), sum, string(manifest))
		if err := tx.Pgx.SendBatch(ctx, batch).Close(); err != nil {
			return fmt.Errorf("writing a bundle: %w", err)
		}
		return nil
	})
}

// ErrAltered is a file that is not what its checksum says any more.
var ErrAltered = errors.New("the file is not the verified one")

// Read gives the content of one file of a bundle, held against its checksum; ErrAltered where it is another one.
func (s *Store) Read(ctx context.Context, f sdk.File) ([]byte, error) {
	var data []byte
	err := s.DB.Pool.QueryRow(ctx, "SELECT data FROM bundle_files WHERE sum = $1", f.Sum).Scan(&data)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the file %.200q of a bundle: %w", f.Path, err))
	}
	return data, check(f, data)
}

func check(f sdk.File, data []byte) error {
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != f.Sum || int64(len(data)) != f.Size {
		return fmt.Errorf("%.200q: %w", f.Path, ErrAltered)
	}
	return nil
}

// Each hands over all files of a bundle in the order of its manifest, each held against its checksum. One is in memory
// at a time, and no connection is held while each works.
func (s *Store) Each(ctx context.Context, m sdk.Manifest, each func(sdk.File, io.Reader) error) error {
	for _, f := range m.Files {
		data, err := s.Read(ctx, f)
		if err != nil {
			return err
		}
		if err := each(f, bytes.NewReader(data)); err != nil {
			return err
		}
	}
	return nil
}

// lockClass is that of the advisory lock between keeping and pruning.
const lockClass int32 = 0x62756e64

// Prune deletes one batch of bundles that nothing refers to and that nobody has asked for in the last 30 days, and then of files that no
// bundle has; it says how many rows went, none when nothing is left. A bundle stays while it is the last that was consented to for an
// entry on a host that is there, or one of References has it.
func (s *Store) Prune(ctx context.Context) (n int64, err error) {
	stay := ""
	for _, query := range s.References {
		stay += " AND b.sum NOT IN (" + query + ")"
	}
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		// Whoever keeps a bundle relies on files that are there already: none may go meanwhile.
		if _, err := tx.Pgx.Exec(ctx, "SELECT pg_advisory_xact_lock($1, 0)", lockClass); err != nil {
			return fmt.Errorf("locking bundles: %w", err)
		}
		gone, err := tx.Pgx.Exec(ctx, `DELETE FROM bundles WHERE sum IN (SELECT b.sum FROM bundles b WHERE b.used_at < now() - $1::interval
			AND b.sum NOT IN (SELECT DISTINCT ON (host_id, source, slug) bundle FROM consents WHERE host_id IS NOT NULL
				ORDER BY host_id, source, slug, id DESC)`+stay+` LIMIT 500)`, keepFor)
		if err != nil {
			return fmt.Errorf("deleting bundles: %w", err)
		}
		files, err := tx.Pgx.Exec(ctx, `DELETE FROM bundle_files WHERE sum IN (SELECT f.sum FROM bundle_files f
			WHERE NOT EXISTS (SELECT FROM bundle_contents c WHERE c.file = f.sum) LIMIT 500)`)
		if err != nil {
			return fmt.Errorf("deleting files of bundles: %w", err)
		}
		n = gone.RowsAffected() + files.RowsAffected()
		return nil
	})
	return n, err
}
