package guest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// chooseStrategy selects the first possible strategy between clusters, or checks the
// requested one.
func (m *migrationCheck) chooseStrategy(ctx context.Context, source hypervisor.Placement) error {
	m.reject(ByCluster, "The hosts are not in the same cluster.")
	wanted := m.order.Strategy
	if wanted == nil || *wanted == BySharedStorage {
		lacks, err := m.chooseStorage(ctx, source)
		if err != nil || lacks == nil {
			return err
		}
		if wanted != nil {
			m.block(lacks.Code, "%s", lacks.Message)
			return nil
		}
		none, err := m.chooseFiles(ctx, source)
		if err != nil {
			return err
		}
		if len(none) > 0 {
			m.block(lacks.Code, "%s", lacks.Message)
			m.reject(ByTransfer, sentences(none))
			return nil
		}
		m.Strategy = new(ByTransfer)
		m.reject(BySharedStorage, lacks.Message)
		return nil
	}
	if *wanted != ByTransfer {
		return nil
	}
	none, err := m.chooseFiles(ctx, source)
	for _, f := range none {
		m.block(f.Code, "%s", f.Message)
	}
	return err
}

// reject records why a strategy is not possible. It is shown to the user, who
// may be able to change that.
func (m *migrationCheck) reject(strategy, why string) {
	m.Rejected = addFinding(m.Rejected, strategy, why)
}

// chooseFiles finds the machines of both nodes, and on each a storage that
// keeps backups as files and has enough space. It returns the findings for what
// is missing.
func (m *migrationCheck) chooseFiles(ctx context.Context, source hypervisor.Placement) (none []MigrationFinding, err error) {
	lack := func(code, format string, args ...any) { none = addFinding(none, code, fmt.Sprintf(format, args...)) }
	for _, side := range []struct {
		hostID int64
		node   string
		into   *int64
	}{{m.hostID, m.ref.Node, &m.machine}, {m.target.ID, m.TargetNode, &m.targetMachine}} {
		if m.machines == nil {
			lack(findingUnsupported, "SSH access to machines is not configured.")
			continue
		}
		*side.into, err = m.machines.Machine(ctx, side.hostID, side.node)
		if err == nil {
			continue
		}
		switch refused := problem.From(err); refused.Code {
		case problem.CodeUnsupported, problem.CodeSSHNotEnrolled, problem.CodeConsentRequired:
			none = append(none, MigrationFinding{string(refused.Code), fmt.Sprintf("Cannot log in to the machine of the node %s: %s.",
				side.node, refused.Detail)})
		default:
			return nil, err
		}
	}
	if len(none) > 0 {
		return none, nil
	}
	if m.Bytes == nil {
		m.warn(findingNotRetrieved, "The size of a disk is unknown, so the free space for its backup was not checked.")
	}
	here, why := m.fileStorage(ctx, m.hostID, m.ref.Node, source, nil)
	if here == "" {
		lack(findingNoFiles, "No storage of the node %s can store the backup as a file: %s.", m.ref.Node, why)
	}
	there, why := m.fileStorage(ctx, m.target.ID, m.TargetNode, m.place, m.Disks)
	if there == "" {
		lack(findingNoFiles+"_there", "No storage of the node %s can store the backup as a file: %s.", m.TargetNode, why)
	}
	if len(none) == 0 {
		m.SourceStorage, m.TargetStorage = &here, &there
	}
	return none, nil
}

// fileStorage returns the storage of a node with the most free space among
// those that keep backups as files. If there is none, it returns why. The
// argument disks lists disks that need space on the same storages.
func (m *migrationCheck) fileStorage(ctx context.Context, hostID int64, node string, p hypervisor.Placement, disks []MigrationDisk) (
	name, why string) {
	all := slices.Clone(p.Storages)
	all = slices.DeleteFunc(all, func(s hypervisor.PlacementStorage) bool { return !s.Backups || !s.Available })
	free := func(s hypervisor.PlacementStorage) int64 {
		if s.Free == nil {
			return math.MaxInt64
		}
		return *s.Free
	}
	slices.SortStableFunc(all, func(a, b hypervisor.PlacementStorage) int { return cmp.Compare(free(b), free(a)) })
	why = "it has no available storage for backups"
	for i, s := range all {
		reason := ""
		if needed := m.backupRoom(s.Name, disks); free(s) < needed {
			reason = fmt.Sprintf("%s has %d GiB free, but up to %d GiB may be needed", s.Name, free(s)>>30, (needed+1<<30-1)>>30)
		} else if _, err := callChecked(ctx, m, hostID, endpoint.Backup, func(ctx context.Context, at hypervisor.BackupFileLocator) (
			hypervisor.BackupFile, error) {
			return at.BackupFile(ctx, hypervisor.BackupQuery{Storage: s.Name, Node: node}, hypervisor.Backup{})
		}); err != nil {
			reason = job.Explain(err)
		} else {
			return s.Name, ""
		}
		if i == 0 {
			why = reason
		} else {
			why += "; " + reason
		}
	}
	return "", why
}

// backupRoom returns the space in bytes that a storage needs for the backup and
// for those of the disks that will be on it.
func (m *migrationCheck) backupRoom(storage string, disks []MigrationDisk) (bytes int64) {
	if m.Bytes != nil {
		bytes = *m.Bytes
	}
	for _, d := range disks {
		on := d.Storage
		if m.order.Storage != nil {
			on = *m.order.Storage
		}
		if on == storage && d.SizeBytes != nil {
			bytes += *d.SizeBytes
		}
	}
	return bytes
}
