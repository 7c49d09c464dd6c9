package backup

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Protect sets or removes the protection of a backup at the hypervisor and
// returns the backup with its new state. It writes the audit log before it
// contacts the hypervisor, so that no change goes unrecorded.
//
// Problems: not_found, capability_missing, unsupported, and those of host.Call.
func (s *Store) Protect(ctx context.Context, id int64, protected bool) (Backup, error) {
	b, err := s.read(ctx, id)
	if err != nil {
		return Backup{}, err
	}
	if err := s.require(ctx, b.HostID); err != nil {
		return Backup{}, err
	}
	audit.Describe(ctx, func(e *audit.Entry) { e.Detail("protected", protected) })
	if err := s.DB.Tx(ctx, func(tx *db.Tx) error { return audit.Write(ctx, tx) }); err != nil {
		return Backup{}, err
	}
	_, err = host.CallWithTimeout(ctx, s.Actor.Hosts, changeLimit, b.HostID, endpoint.Backup,
		func(ctx context.Context, at hypervisor.BackupManager) (struct{}, error) {
			return struct{}{}, at.ProtectBackup(ctx, b.at, protected)
		})
	if err != nil {
		return Backup{}, plugin.Problem(err)
	}
	if _, err := s.DB.Pool.Exec(ctx, "UPDATE backups SET protected = $2 WHERE id = $1", id, protected); err != nil {
		return Backup{}, db.Problem(fmt.Errorf("recording that a backup is protected: %w", err))
	}
	return s.Get(ctx, id)
}

// require refuses a host without a token for backups, or whose driver cannot
// manage backups.
func (s *Store) require(ctx context.Context, hostID int64) error {
	return s.Actor.Hosts.Require(ctx, hostID, endpoint.Backup, func(at hypervisor.Host) error {
		_, err := host.AsAbility[hypervisor.BackupManager](at)
		return err
	})
}
