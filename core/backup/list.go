package backup

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Filter narrows List. A zero field does not filter.
type Filter struct {
	HostID, VM, App int64
	Storage         string
	GuestRef        string
	// Orphaned leaves only backups whose guest no longer exists.
	Orphaned bool
}

// conditions collects the parts of a WHERE clause. add numbers the parameters:
// each ? becomes the placeholder of its argument.
type conditions struct {
	parts []string
	args  []any
}

func (c *conditions) add(wanted bool, condition string, arg any) {
	if wanted {
		c.args = append(c.args, arg)
		c.parts = append(c.parts, strings.ReplaceAll(condition, "?", "$"+strconv.Itoa(len(c.args))))
	}
}

func (c *conditions) clause() string {
	if len(c.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.parts, " AND ")
}

// newest returns the ORDER BY clause and the limits of a page: the newest
// backups first, those without a date last.
func newest(offset, limit int) string {
	return fmt.Sprintf(" ORDER BY b.taken_at DESC NULLS LAST, b.id DESC OFFSET %d LIMIT %d", offset, limit)
}

// List returns one page of the visible backups, newest first, and the number of
// backups on all pages. Count and page are sent in one round trip, but are two
// statements: they may differ by what changed in between.
func (s *Store) List(ctx context.Context, f Filter, visible identity.VisibleTeams, offset, limit int) (all []Backup, total int,
	err error) {
	var where conditions
	where.add(!visible.All, "h.team_id = ANY(?)", visible.Teams)
	where.add(f.HostID != 0, "s.host_id = ?", f.HostID)
	where.add(f.VM != 0, "g.kind = 'vm' AND b.guest_id = ?", f.VM)
	where.add(f.App != 0, "a.id = ?", f.App)
	where.add(f.Storage != "", "s.name = ?", f.Storage)
	where.add(f.GuestRef != "", "b.guest_ref = ?", f.GuestRef)
	where.add(f.Orphaned, "(b.guest_id IS NULL) = ?", true)
	batch := &pgx.Batch{}
	batch.Queue("SELECT count(*)"+join+where.clause(), where.args...).QueryRow(func(row pgx.Row) error { return row.Scan(&total) })
	batch.Queue("SELECT "+columns+join+where.clause()+newest(offset, limit), where.args...).Query(func(rows pgx.Rows) error {
		found, err := db.CollectRows(rows, scan)
		all = make([]Backup, len(found))
		for i := range found {
			all[i] = found[i].Backup
		}
		return err
	})
	if err := s.DB.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, 0, db.Problem(fmt.Errorf("listing backups: %w", err))
	}
	return all, total, nil
}

// Get returns one backup, or the problem not_found. The caller must check
// whether it may be seen.
func (s *Store) Get(ctx context.Context, id int64) (Backup, error) {
	b, err := s.read(ctx, id)
	return b.Backup, err
}

func (s *Store) read(ctx context.Context, id int64) (stored, error) {
	rows, err := s.DB.Pool.Query(ctx, "SELECT "+columns+join+" WHERE b.id = $1", id)
	if err != nil {
		return stored{}, db.Problem(fmt.Errorf("reading a backup: %w", err))
	}
	b, err := pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return b, problem.New(problem.CodeNotFound, "backup not found")
	}
	return b, db.Problem(err)
}
