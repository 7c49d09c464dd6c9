package audit

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/heartbeat"
)

// Settings of the sealer.
const (
	defaultSealEvery = 250 * time.Millisecond
	defaultSealBatch = 1000
	// sealPause is how long a sealer waits after a failure.
	sealPause = 5 * time.Second
)

// SealerConfig is what a Sealer needs. The audit log of DB must be that of Chain.
type SealerConfig struct {
	Chain  *Chain
	Logger hclog.Logger
	// Every is the time between two looks for new rows; 250 ms when zero.
	Every time.Duration
	// LagLimit is how long other sessions may keep the end of the chain from
	// this sealer, while rows wait, before its log says so; a minute when zero.
	// Sealers keep it for moments.
	LagLimit time.Duration
	// Batch is how many rows get their places in one transaction; 1,000 when zero.
	Batch int
	// KeyUnavailable reports whether this instance cannot open the chain's key for now:
	// Run leaves the rows to other instances while it does. It must not block;
	// nil stands for never.
	KeyUnavailable func() bool
	// Pulse hears of every turn of Run; nil hears nothing.
	Heartbeat *heartbeat.Monitor
}

// sealAll is the number of full batches after which all pending rows are looked
// through again.
const sealAll = 20

// Sealer gives the rows of the audit log their places in the chain. Every instance
// runs one; they take turns. It is for one goroutine at a time.
type Sealer struct {
	config SealerConfig
	// after is the last id of a full batch, and full how many there were in a
	// row: the next pass goes on behind it instead of stepping over all that
	// was struck off before.
	after int64
	full  int
	// since is when another session was first found at the end of the chain,
	// without a turn of our own after it.
	since time.Time
}

// NewSealer returns a sealer. It does nothing before Run or Seal.
func NewSealer(config SealerConfig) *Sealer {
	if config.Logger == nil {
		config.Logger = hclog.NewNullLogger()
	}
	if config.Every <= 0 {
		config.Every = defaultSealEvery
	}
	if config.LagLimit <= 0 {
		config.LagLimit = time.Minute
	}
	if config.Batch <= 0 {
		config.Batch = defaultSealBatch
	}
	if config.KeyUnavailable == nil {
		config.KeyUnavailable = func() bool { return false }
	}
	return &Sealer{config: config, after: everyID}
}

// Run seals until the context ends: immediately again while there is much to
// do, otherwise at intervals.
func (s *Sealer) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	failing := ""
	s.config.Heartbeat.Beat(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if s.config.KeyUnavailable() {
			s.config.Heartbeat.Beat(sealPause)
			timer.Reset(sealPause)
			continue
		}
		begun := time.Now()
		n, err := s.Seal(ctx)
		// A look is slow while a long transaction prevents the cleaning of
		// deleted pending rows; then looks become rarer.
		next := max(s.config.Every, 10*time.Since(begun))
		switch {
		case err != nil && ctx.Err() == nil:
			if text := err.Error(); text != failing { // once, not at every try
				failing = text
				s.config.Logger.Error("new entries of the audit log get no position in its chain", "error", err)
			}
			next = sealPause
		case n == s.config.Batch:
			next = 0
		}
		if err == nil && !s.since.IsZero() && time.Since(s.since) > s.config.LagLimit && failing == "" {
			failing = "starved"
			s.config.Logger.Error("new entries of the audit log get no position in its chain: another database session holds its lock "+
				"and can change these entries unnoticed",
				"since", s.since.UTC())
		}
		if err == nil && failing != "" && s.since.IsZero() {
			failing = ""
			s.config.Logger.Info("entries of the audit log get their position in its chain again")
		}
		s.config.Heartbeat.Beat(next)
		timer.Reset(next)
	}
}

// Seal makes one pass in one transaction and returns how many rows got a place:
// at most a batch, and 0 if there is nothing to do or another sealer is
// working.
func (s *Sealer) Seal(ctx context.Context) (n int, err error) {
	if s.after == everyID {
		var any bool
		if err := s.config.Chain.db.Pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM audit_pending)").Scan(&any); err != nil {
			return 0, db.Problem(fmt.Errorf("reading new audit entries: %w", err))
		}
		if !any {
			s.since = time.Time{}
			return 0, nil
		}
	}
	last, turn := int64(everyID), false
	err = s.config.Chain.db.Tx(ctx, func(tx *db.Tx) error {
		n, last = 0, everyID
		if err := tx.Pgx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1, 0)", db.LockAudit).Scan(&turn); err != nil {
			return fmt.Errorf("reading the end of the audit chain: %w", err)
		}
		if !turn {
			return nil
		}
		var err error
		n, last, err = s.config.Chain.seal(ctx, tx, s.after, s.config.Batch)
		return err
	})
	s.full++
	if s.after = last; err != nil || n < s.config.Batch || s.full == sealAll {
		s.after, s.full = everyID, 0 // rows of smaller ids may have been committed meanwhile
	}
	if err != nil {
		return 0, fmt.Errorf("sealing audit rows: %w", err)
	}
	switch {
	case turn:
		s.since = time.Time{}
	case s.since.IsZero():
		s.since = time.Now()
	}
	return n, nil
}

// link is a place as it is stored.
type link struct {
	seq, id        int64
	previous, hash digest
}

// everyID is less than any id.
const everyID = math.MinInt64

// seal gives places to the pending rows with the smallest ids behind after, and
// returns their number and the last id. A recorded row that does not exist gets
// a place too, which no row will match: somebody has removed the row.
func (c *Chain) seal(ctx context.Context, tx *db.Tx, after int64, limit int) (n int, last int64, err error) {
	end, hash, err := c.end(ctx, tx)
	if err != nil {
		return 0, 0, err
	}
	rows, err := tx.Pgx.Query(ctx, "SELECT p.audit_id, "+hashed+" FROM audit_pending p "+rowOfEach("p")+" WHERE p.audit_id > $1 ORDER BY "+
		"p.audit_id LIMIT $2", binaryResults, after, limit)
	if err != nil {
		return 0, 0, fmt.Errorf("reading new rows: %w", err)
	}
	links := make([]link, 0, limit)
	ids := make([]int64, 0, limit)
	for rows.Next() {
		if err := isBinary(rows); err != nil {
			rows.Close()
			return 0, 0, err
		}
		raw := rows.RawValues()
		l := link{seq: end.seq + 1, id: int8(raw[0]), previous: end.hash}
		l.hash = hash.row(l.seq, l.previous, raw[1:])
		end.seq, end.hash = l.seq, l.hash
		links, ids = append(links, l), append(ids, l.id)
	}
	if err := rows.Err(); err != nil {
		return 0, 0, fmt.Errorf("reading new rows: %w", err)
	}
	if len(links) == 0 {
		return 0, everyID, nil
	}
	_, err = tx.Pgx.CopyFrom(ctx, pgx.Identifier{"audit_links"}, []string{"seq", "audit_id", "previous", "hash"},
		pgx.CopyFromSlice(len(links), func(i int) ([]any, error) {
			l := &links[i]
			return []any{l.seq, l.id, l.previous[:], l.hash[:]}, nil
		}))
	if err != nil {
		return 0, 0, fmt.Errorf("writing positions: %w", err)
	}
	if _, err := tx.Pgx.Exec(ctx, "DELETE FROM audit_pending WHERE audit_id = ANY($1)", ids); err != nil {
		return 0, 0, fmt.Errorf("removing new rows from the list: %w", err)
	}
	return len(links), ids[len(ids)-1], c.save(ctx, tx, hash, end)
}
