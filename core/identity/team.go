package identity

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// Team owns hosts. Its name is for people and need not be unique; its slug is
// unique and never changes.
type Team struct {
	ID          int64
	Name        string
	Slug        string
	Description *string
	CreatedAt   time.Time
	// Members and Hosts are how many there are.
	Members, Hosts int
}

// Assets gives away what teams own. Package core/host implements it; this
// package must not depend on hosts.
type Assets interface {
	// Reassign gives all that the team from owns to the team to, within the
	// transaction. Both teams' rows are locked.
	Reassign(ctx context.Context, tx *db.Tx, from, to int64) error
}

// Limits of a team's texts in characters.
const (
	maxTeamName        = 100
	maxTeamDescription = 1000
)

// selectTeams selects teams with the numbers of their members and hosts.
const selectTeams = `SELECT t.id, t.name, t.slug, t.description, t.created_at,
	(SELECT count(*) FROM team_members m WHERE m.team_id = t.id), (SELECT count(*) FROM hosts h WHERE h.team_id = t.id)
FROM teams t `

// ListTeams returns one page of all teams, the default team first and the rest
// by name, and the number of all.
func (s *Store) ListTeams(ctx context.Context, offset, limit int) ([]Team, int, error) {
	var total int
	if err := s.db.Pool.QueryRow(ctx, "SELECT count(*) FROM teams").Scan(&total); err != nil {
		return nil, 0, db.Problem(fmt.Errorf("counting teams: %w", err))
	}
	page, err := teams(s.db.Pool.Query(ctx, selectTeams+"ORDER BY t.id <> $1, lower(t.name), t.id OFFSET $2 LIMIT $3", DefaultTeam, offset,
		limit))
	return page, total, err
}

// Team returns one team. The problem is not_found.
func (s *Store) Team(ctx context.Context, id int64) (*Team, error) {
	found, err := teams(s.db.Pool.Query(ctx, selectTeams+"WHERE t.id = $1", id))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, noTeam()
	}
	return &found[0], nil
}

// teams reads the rows of selectTeams.
func teams(rows pgx.Rows, err error) ([]Team, error) {
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading teams: %w", err))
	}
	found, err := db.CollectRows(rows, func(row pgx.CollectableRow) (t Team, err error) {
		return t, row.Scan(&t.ID, &t.Name, &t.Slug, &t.Description, &t.CreatedAt, &t.Members, &t.Hosts)
	})
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading teams: %w", err))
	}
	return found, nil
}

// noTeam returns the problem of an unknown team.
func noTeam() error { return problem.New(problem.CodeNotFound, "team not found") }

// teamName returns the name of a team. Under govern's lock the team cannot be
// deleted afterwards.
func teamName(ctx context.Context, tx *db.Tx, id int64) (string, error) {
	return readTeamName(ctx, tx, id, "")
}

// lockTeam returns the team's name and locks its row, so that nothing new can
// name the team until the transaction ends: the foreign keys of new hosts and
// members wait.
func lockTeam(ctx context.Context, tx *db.Tx, id int64) (string, error) {
	return readTeamName(ctx, tx, id, " FOR UPDATE")
}

// readTeamName returns the name of a team, with a lock clause if the
// transaction will change it.
func readTeamName(ctx context.Context, tx *db.Tx, id int64, lock string) (name string, err error) {
	err = tx.Pgx.QueryRow(ctx, "SELECT name FROM teams WHERE id = $1"+lock, id).Scan(&name)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", noTeam()
	}
	if err != nil {
		return "", fmt.Errorf("reading the team: %w", err)
	}
	return name, nil
}

// describeTeam makes the team the target of the audit entry. TeamID lets admins
// of the team read the entry.
func describeTeam(ctx context.Context, id int64, name string, details map[string]any) {
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TeamID = &id
		e.TargetKind, e.TargetID, e.TargetName = "team", strconv.FormatInt(id, 10), name
		addDetails(e, details)
	})
}

// checkTeamName returns the trimmed name.
func checkTeamName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return "", problem.InvalidField("must not be empty", "too_short", "body", "name")
	case utf8.RuneCountInString(name) > maxTeamName:
		return "", problem.InvalidField("must have at most 100 characters", "too_long", "body", "name")
	case !printableText(name, ""):
		return "", problem.InvalidField("must be text without control characters", "value_error", "body", "name")
	}
	return name, nil
}

// checkTeamDescription returns the trimmed description, which may have several
// lines; nil for an empty one.
func checkTeamDescription(text *string) (*string, error) {
	if text == nil {
		return nil, nil
	}
	trimmed := strings.TrimSpace(*text)
	switch {
	case trimmed == "":
		return nil, nil
	case utf8.RuneCountInString(trimmed) > maxTeamDescription:
		return nil, problem.InvalidField("must have at most 1000 characters", "too_long", "body", "description")
	case !printableText(trimmed, "\n\r\t"):
		return nil, problem.InvalidField("must be text without control characters", "value_error", "body", "description")
	}
	return &trimmed, nil
}

// printableText reports whether the text is UTF-8 without control characters,
// except those in allowed, and without marks for the writing direction, with
// which a name can be made to look like another one.
func printableText(s, allowed string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) && !strings.ContainsRune(allowed, r)
	})
}
