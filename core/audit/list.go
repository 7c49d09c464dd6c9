package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// Filter selects the rows of a list. Zero fields do not restrict it, except the
// teams: without AllTeams and Teams the list is empty.
type Filter struct {
	// Action is a whole action, or the beginning of one followed by "*":
	// "vm.*". A star anywhere else is itself.
	Action string
	// Search is text that the action, the target's name or id, or the actor's
	// e-mail address holds, in any case.
	Search    string
	ActorType string
	// Result is ok, refused or failed.
	Result string
	// Actor is a user's id.
	Actor *int64
	// TargetKind and TargetID are those of the one thing that it was done to.
	TargetKind, TargetID string
	// From is the earliest time and To the first time after the last row.
	From, To time.Time
	// AllTeams shows every row; otherwise only those of Teams are shown, and
	// none of the instance itself.
	AllTeams bool
	Teams    []int64
	// Offset and Limit are the page; Limit 0 means 50.
	Offset, Limit int
}

// listedColumns are the columns of a row in a list. Long details that older
// releases stored are shortened. The limit is twice MaxDetails, because
// PostgreSQL adds spaces to JSON.
var listedColumns = fmt.Sprintf(`id, at, actor_type, actor_id, actor_email, action, target_kind, target_id, target_name, team_id, host_id,
	job_id, result, error, address, request_id, CASE WHEN octet_length(details::text) <= %d THEN details
		ELSE jsonb_build_object('%s', octet_length(details::text), 'beginning', left(details::text, %d)) END AS details`,
	2*MaxDetails, TruncatedFrom, MaxDetails/4)

// List returns a page of the matching rows, the newest first, and the number of
// all. Details longer than MaxListedDetails are shortened; Get returns them
// completely.
func List(ctx context.Context, d *db.DB, f Filter) (rows []Row, total int, err error) {
	if f.impossible() {
		return []Row{}, 0, nil
	}
	var count int64
	if err := f.narrow(d.Gorm(ctx).Model(&Row{})).Count(&count).Error; err != nil {
		return nil, 0, db.Problem(fmt.Errorf("counting audit rows: %w", err))
	}
	if f.Limit == 0 {
		f.Limit = 50
	}
	rows = []Row{}
	err = f.narrow(d.Gorm(ctx)).Select(listedColumns).Order("at DESC, id DESC").Offset(f.Offset).Limit(f.Limit).Find(&rows).Error
	if err != nil {
		return nil, 0, db.Problem(fmt.Errorf("listing audit rows: %w", err))
	}
	for i := range rows {
		if rows[i].Details, err = listed(rows[i].Details); err != nil {
			return nil, 0, fmt.Errorf("shortening the details of audit row %d: %w", rows[i].ID, err)
		}
	}
	return rows, int(count), nil
}

// Get returns a row with all of its details. It does not check the caller. The
// problem is not_found.
func Get(ctx context.Context, d *db.DB, id int64) (*Row, error) {
	var row Row
	err := d.Gorm(ctx).Where("id = ?", id).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, problem.New(problem.CodeNotFound, "audit entry not found")
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading an audit row: %w", err))
	}
	return &row, nil
}

// impossible reports a filter that no row can match: its text cannot be in a
// row, or no team is visible.
func (f Filter) impossible() bool {
	for _, text := range []string{f.Action, f.Search, f.ActorType, f.Result, f.TargetKind, f.TargetID} {
		if strings.ContainsRune(text, 0) || strings.ToValidUTF8(text, "") != text {
			return true
		}
	}
	return !f.AllTeams && len(f.Teams) == 0
}

// narrow adds the conditions of the filter.
func (f Filter) narrow(q *gorm.DB) *gorm.DB {
	if prefix, open := strings.CutSuffix(f.Action, "*"); open {
		q = q.Where("starts_with(action, ?)", prefix)
	} else if f.Action != "" {
		q = q.Where("action = ?", f.Action)
	}
	if f.Search != "" {
		like := "%" + escapeLike(f.Search) + "%"
		q = q.Where(`(action ILIKE @like OR target_name ILIKE @like OR actor_email ILIKE @like OR target_id ILIKE @like)`,
			map[string]any{"like": like})
	}
	if f.ActorType != "" {
		q = q.Where("actor_type = ?", f.ActorType)
	}
	if f.Result != "" {
		q = q.Where("result = ?", f.Result)
	}
	if f.Actor != nil {
		q = q.Where("actor_id = ?", *f.Actor)
	}
	if f.TargetKind != "" {
		q = q.Where("target_kind = ? AND target_id = ?", f.TargetKind, f.TargetID)
	}
	if !f.From.IsZero() {
		q = q.Where("at >= ?", f.From)
	}
	if !f.To.IsZero() {
		q = q.Where("at < ?", f.To)
	}
	if !f.AllTeams {
		q = q.Where("team_id IN ?", f.Teams)
	}
	return q
}

// escapeLike escapes a text for LIKE, whose escape character is the backslash.
func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}
