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

// Reasons why a backup does not count as a good one.
const (
	// BackupUnfinished is a backup without content: it is being created, or was
	// interrupted.
	BackupUnfinished = "unfinished"
	// BackupInFuture is a backup with a time in the future, which says nothing
	// about its age.
	BackupInFuture = "in_future"
	// BackupOfUnknown is a backup that may belong to another guest: two
	// clusters list it, and nothing shows whose it is.
	BackupOfUnknown = "owner_unknown"
)

const (
	// BackupSuspicion is an SQL expression for the reason why the backup b does
	// not count. It is null for a backup that counts, and for one that was
	// found damaged. An hour of difference between clocks is tolerated.
	BackupSuspicion = `CASE WHEN b.size <= 1 THEN '` + BackupUnfinished + `' WHEN b.taken_at > now() + interval '1 hour' THEN '` +
		BackupInFuture + `' WHEN b.doubtful THEN '` + BackupOfUnknown + `' END`

	// GoodBackup is an SQL condition: the backup b counts as a backup of its
	// guest.
	GoodBackup = `(b.taken_at IS NOT NULL AND b.verified <> 'failed' AND ` + BackupSuspicion + ` IS NULL)`
)

// suspicionWords are the reasons as relative clauses of a sentence.
var suspicionWords = map[string]string{
	BackupUnfinished: "which is unfinished",
	BackupInFuture:   "which is dated in the future",
	BackupOfUnknown:  "which may belong to a guest of another cluster",
}

// severalWhich turns the clause about one backup into one about several.
var severalWhich = strings.NewReplacer("which is ", "which are ", "which was ", "which were ")

// maxPlanBackups is the number of storages whose backups a plan lists. The rest is
// only counted.
const maxPlanBackups = 5

// remaining summarises backups of a guest on one storage that have the same
// flaw, or none. The time at is that of the newest, and size is set for a
// single backup only.
type remaining struct {
	storage, flaw string
	count         int
	at            time.Time
	size          *int64
}

// backups adds the backups of the guest that remain, as their storages were
// last listed, to a plan. The backup with the ID but is left out, because the
// caller's plan already mentions it; 0 leaves out none. Without a database, as
// in previews, it adds nothing.
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
		return db.Problem(fmt.Errorf("reading the guest's backups: %w", err))
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[known])
	if err != nil {
		return db.Problem(fmt.Errorf("reading the guest's backups: %w", err))
	}
	// A plan that destroys a guest warns if nothing is left to restore it from.
	bad := func(b known) bool { return b.Damaged || b.Suspicion != "" }
	switch {
	case but != 0:
	case len(all) == 0:
		p.Warn("%s has no known backup.", on.Guest.Name)
	case !slices.ContainsFunc(all, func(b known) bool { return !bad(b) }):
		p.Warn("%s has no known good backup.", on.Guest.Name)
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
	// The list is bounded, because one guest may have backups on many storages.
	more := 0
	for i, r := range remain {
		if i >= maxPlanBackups {
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
		p.Add(plan.KindBackup, "", "%s on other storages.", plan.Plural(more, "1 more backup remains", "%d more backups remain"))
	}
	return nil
}
