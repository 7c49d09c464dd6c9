package guest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plan"
)

// Why a backup does not count.
const (
	// BackupUnfinished has no content: it is being made, or was broken off.
	BackupUnfinished = "unfinished"
	// BackupInFuture says that it was taken at a time that has not come.
	BackupInFuture = "in_future"
	// BackupOfUnknown may be of another guest: two clusters list it, and nothing shows of which guest it is.
	BackupOfUnknown = "owner_unknown"
)

const (
	// BackupSuspicion is, in SQL, why the backup b does not count; null for one that does or was found damaged. Clocks may differ by an
	// hour.
	BackupSuspicion = `CASE WHEN b.size <= 1 THEN '` + BackupUnfinished + `' WHEN b.taken_at > now() + interval '1 hour' THEN '` +
		BackupInFuture + `' WHEN b.doubtful THEN '` + BackupOfUnknown + `' END`

	// GoodBackup is, in SQL, whether the backup b counts as one of its guest.
	GoodBackup = `(b.taken_at IS NOT NULL AND b.verified <> 'failed' AND ` + BackupSuspicion + ` IS NULL)`
)

// suspicionWords say in the middle of a sentence why a backup does not count.
var suspicionWords = map[string]string{
	BackupUnfinished: "which is unfinished",
	BackupInFuture:   "which is dated in the future",
	BackupOfUnknown:  "which may be of a guest of another cluster",
}

// severalWhich makes a flaw one of several backups.
var severalWhich = strings.NewReplacer("which is ", "which are ", "which was ", "which were ")

// toldBackups is of how many storages a plan tells which backups they have.
const toldBackups = 5

// remaining are backups of a guest on one storage, or those of them with the same flaw. at is when the newest was taken.
type remaining struct {
	storage, flaw string
	count         int
	at            time.Time
	size          *int64
}

// backups tells which backups of the guest remain, as their storages were last listed. But is one that is told of elsewhere.
func (on Subject) backups(ctx context.Context, p *plan.Plan, but int64) error {
	if on.db == nil {
		return nil
	}
	type known struct {
		TakenAt   *time.Time
		Storage   string
		Size      *int64
		Damaged   bool
		Suspicion string
	}
	rows, err := on.db.Pool.Query(ctx, `SELECT b.taken_at, s.name, b.size, b.verified = 'failed', COALESCE(`+BackupSuspicion+`, '')
		FROM backups b
		JOIN backup_storages s ON s.id = b.storage_id WHERE b.guest_id = $1 AND b.id <> $2 ORDER BY b.taken_at DESC NULLS LAST, b.id DESC`,
		on.Guest.ID, but)
	if err != nil {
		return db.Problem(fmt.Errorf("looking for the guest's backups: %w", err))
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[known])
	if err != nil {
		return db.Problem(fmt.Errorf("looking for the guest's backups: %w", err))
	}
	bad := func(b known) bool { return b.Damaged || b.Suspicion != "" }
	switch {
	case but != 0:
	case len(all) == 0:
		p.Warn("No backup of %s is known.", on.Guest.Name)
	case !slices.ContainsFunc(all, func(b known) bool { return !bad(b) }):
		p.Warn("No good backup of %s is known.", on.Guest.Name)
	}
	var remain []remaining
	for _, b := range all {
		flaw := suspicionWords[b.Suspicion]
		if b.Damaged {
			flaw = "which was found damaged"
		}
		if flaw != "" {
			flaw = ", " + flaw + ","
		}
		i := slices.IndexFunc(remain, func(r remaining) bool { return r.storage == b.Storage && r.flaw == flaw })
		if i < 0 {
			i = len(remain)
			remain = append(remain, remaining{storage: b.Storage, flaw: flaw, size: b.Size})
			if b.TakenAt != nil {
				remain[i].at = *b.TakenAt
			}
		}
		if remain[i].count++; remain[i].count > 1 {
			remain[i].size = nil
		}
	}
	more := 0
	for i, r := range remain {
		if i >= toldBackups {
			more += r.count
			continue
		}
		if r.count == 1 {
			p.AddSince(plan.KindBackup, r.storage, r.at, "A backup on %s%s remains.", r.storage, r.flaw)
		} else {
			p.AddSince(plan.KindBackup, r.storage, r.at, "%d backups on %s%s remain.", r.count, r.storage, severalWhich.Replace(r.flaw))
		}
		p.Effects[len(p.Effects)-1].SizeBytes = r.size
	}
	if more > 0 {
		p.Add(plan.KindBackup, "", "%s on other storages.", plan.Counted(more, "1 more backup remains", "%d more backups remain"))
	}
	return nil
}
