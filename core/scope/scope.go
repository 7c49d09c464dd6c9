// Package scope finds the team that a thing belongs to: the one question behind "may this caller see it".
package scope

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// Kinds of things.
const (
	Host = "host"
	VM   = "vm"
	App  = "app"
	Job  = "job"
	// Backup is one of the cache.
	Backup = "backup"
	// Draft is one of changes of firewalls.
	Draft = "draft"
	// Template is one of rules of firewalls.
	Template = "template"
	// Channel is one by which people are told.
	Channel = "channel"
	// Alert is one that is open or was.
	Alert = "alert"
	// Recording is one of a console.
	Recording = "recording"
	// Entry is one of the audit log.
	Entry = "entry"
)

// Thing is something that a team owns, by way of its host or by itself.
type Thing struct {
	Kind   string
	ID     int64
	Name   string
	TeamID int64
	// HostID is zero when no host is concerned, or it is gone.
	HostID int64
}

// queries give name, team and host of a thing. What has lost its host belongs to the instance.
var queries = map[string]string{
	Host: `SELECT name, team_id, id FROM hosts WHERE id = $1`,
	VM:   `SELECT g.name, h.team_id, h.id FROM guests g JOIN hosts h ON h.id = g.host_id WHERE g.id = $1 AND g.kind = 'vm'`,
	App:  `SELECT a.name, coalesce(h.team_id, 1), coalesce(h.id, 0) FROM apps a LEFT JOIN hosts h ON h.id = a.host_id WHERE a.id = $1`,
	Backup: `SELECT COALESCE(NULLIF(b.name, ''), b.guest_ref), h.team_id, h.id
		FROM backups b JOIN backup_storages s ON s.id = b.storage_id JOIN hosts h ON h.id = s.host_id WHERE b.id = $1`,
	Draft:     `SELECT d.name, h.team_id, h.id FROM firewall_drafts d JOIN hosts h ON h.id = d.host_id WHERE d.id = $1`,
	Template:  `SELECT name, team_id, 0 FROM firewall_templates WHERE id = $1`,
	Channel:   `SELECT name, team_id, 0 FROM notification_channels WHERE id = $1`,
	Alert:     `SELECT target_name, coalesce(team_id, 1), coalesce(host_id, 0) FROM alerts WHERE id = $1`,
	Recording: `SELECT target_kind || ' ' || target_name, team_id, coalesce(host_id, 0) FROM console_recordings WHERE id = $1`,
	Entry:     `SELECT action, coalesce(team_id, 1), coalesce(host_id, 0) FROM audit WHERE id = $1`,
	Job:       `SELECT target_name, coalesce(team_id, 1), coalesce(host_id, 0) FROM jobs WHERE id = $1`,
}

// Resolve finds a thing by its kind and id, whoever asks; an unknown one is problem not_found.
func Resolve(ctx context.Context, d *db.DB, kind string, id int64) (Thing, error) {
	query, ok := queries[kind]
	if !ok {
		return Thing{}, fmt.Errorf("unknown kind of object %q", kind)
	}
	t := Thing{Kind: kind, ID: id}
	err := d.Pool.QueryRow(ctx, query, id).Scan(&t.Name, &t.TeamID, &t.HostID)
	if errors.Is(err, pgx.ErrNoRows) {
		return Thing{}, problem.New(problem.CodeNotFound, "%s not found", kind)
	}
	if err != nil {
		return Thing{}, db.Problem(fmt.Errorf("reading the %s: %w", kind, err))
	}
	return t, nil
}
