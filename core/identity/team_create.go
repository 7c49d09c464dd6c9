package identity

import (
	"context"
	"errors"
	"fmt"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// NewTeam is the input of CreateTeam.
type NewTeam struct {
	Name        string
	Description *string
	// Slug nil derives one from the name.
	Slug *string
}

// Check returns all faults of the fields as one problem invalid, and trims the
// texts.
func (in *NewTeam) Check() error {
	name, nameErr := checkTeamName(in.Name)
	description, descriptionErr := checkTeamDescription(in.Description)
	in.Name, in.Description = name, description
	return allFaults(nameErr, descriptionErr, checkSlug(in.Slug))
}

// allFaults joins the faults of several errors into one problem. An error that
// is no fault is returned alone.
func allFaults(errs ...error) error {
	var faults []problem.Fault
	for _, err := range errs {
		var p *problem.Error
		switch {
		case err == nil:
		case errors.As(err, &p) && p.Code == problem.CodeInvalid:
			faults = append(faults, p.Faults...)
		default:
			return err
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return problem.Invalid(faults...)
}

// CreateTeam makes a team. Problems: invalid for faulty fields, conflict for a
// given slug that is in use.
func (s *Store) CreateTeam(ctx context.Context, caller *Caller, in NewTeam) (*Team, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	var made *Team
	err := s.db.Tx(ctx, func(tx *db.Tx) (err error) {
		if _, err = govern(ctx, tx, caller, Owner); err != nil {
			return err
		}
		if made, err = insertTeam(ctx, tx, in); err != nil {
			return err
		}
		describeTeam(ctx, made.ID, made.Name, map[string]any{"slug": made.Slug})
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// MaxTeams is the largest number of teams.
const MaxTeams = 10_000

// insertTeam stores a team, with a slug made from the name if none was given.
func insertTeam(ctx context.Context, tx *db.Tx, in NewTeam) (*Team, error) {
	if err := db.CheckRowLimit(ctx, tx, "teams", "teams", MaxTeams); err != nil {
		return nil, err
	}
	t := &Team{Name: in.Name, Description: in.Description}
	var err error
	if in.Slug != nil {
		t.Slug = *in.Slug
	} else if t.Slug, err = freeSlug(ctx, tx, in.Name); err != nil {
		return nil, err
	}
	err = tx.Pgx.QueryRow(ctx, "INSERT INTO teams (name, slug, description) VALUES ($1, $2, $3) RETURNING id, created_at", t.Name, t.Slug,
		t.Description).
		Scan(&t.ID, &t.CreatedAt)
	if db.IsDuplicate(err, "teams_slug_key") {
		return nil, problem.New(problem.CodeConflict, "a team with this slug already exists").With("field", "slug")
	}
	if err != nil {
		return nil, fmt.Errorf("creating the team: %w", err)
	}
	return t, nil
}
