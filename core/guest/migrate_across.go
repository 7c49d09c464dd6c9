package guest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// checkAcrossClusters checks a migration to another cluster through a backup.
func (m *migrationCheck) checkAcrossClusters(ctx context.Context) error {
	m.Live = false
	if m.self {
		m.block(findingSelf, "The service itself runs in this guest and cannot move itself while the guest is off.")
	}
	if m.guest.Template {
		m.block(findingTemplate, "A template can only be moved within its cluster.")
	}
	// A backup of one kind of hypervisor cannot be restored by another, so
	// nothing else is worth checking.
	if m.source.Driver != m.target.Driver {
		m.block(findingDriver, "The host %s has a different hypervisor.", m.target.Name)
		return nil
	}
	m.checkNodeDisks(func(d hypervisor.Disk) bool { return d.Local })
	// A cluster without quorum accepts no changes. The guest could be stopped,
	// and then neither moved nor started again.
	for _, side := range []migrationSide{m.source, m.target} {
		if side.Quorate != nil && !*side.Quorate {
			m.block(hypervisor.MigrationQuorum, "The cluster of the host %s has no quorum, so it cannot be changed.", side.Name)
		}
	}
	told, err := m.checkNodeResources(ctx)
	if err != nil {
		return err
	}
	if len(m.snapshots) > 0 {
		m.warn(hypervisor.MigrationSnapshots, "%s with the original guest.",
			plan.Plural(len(m.snapshots), "Its snapshot stays", "Its %d snapshots stay"))
	}
	m.warn(findingSourceStays, "The guest on %s is kept: stopped, tagged %s, and no longer started with its node.", m.source.Name,
		movedTag)
	if !m.checkPrerequisites(ctx) || m.TargetNode == "" {
		return nil
	}
	source, err := m.sourcePlace(ctx)
	if err != nil {
		return plugin.Problem(err)
	}
	if err := m.choosePlace(ctx, source); err != nil {
		m.block(findingUnreachable, "The host %s could not be reached: %s", m.target.Name, job.Explain(err))
		return nil
	}
	m.checkImages(told)
	m.checkExcludedVolumes()
	m.copied(func(d hypervisor.Disk) bool { return !d.LeftOut && !d.Unused })
	m.checkTargetStorage(false)
	m.checkBridges()
	if err := m.chooseStrategy(ctx, source); err != nil {
		return err
	}
	m.estimateAcrossClusters()
	return nil
}

// checkExcludedVolumes blocks volumes that backups leave out, because the guest would
// arrive without them. It warns about unused volumes.
func (m *migrationCheck) checkExcludedVolumes() {
	var lacks, unused []hypervisor.Disk
	for _, d := range m.config.Disks {
		switch {
		case d.Unused:
			unused = append(unused, d)
		case d.LeftOut && !d.Local: // those of the node are blocked anyway
			lacks = append(lacks, d)
		}
	}
	if len(lacks) > 0 {
		var reasons strings.Builder
		settable := false
		for _, d := range lacks {
			if d.LeftOutReason != "" {
				fmt.Fprintf(&reasons, " %s: %s.", host.Clean(d.Key), host.Clean(d.LeftOutReason))
			}
			settable = settable || d.LeftOutReason == ""
		}
		if settable {
			reasons.WriteString(" Include all volumes in backups or remove those you do not need, then try again.")
		}
		m.block(findingLeftOut, "The move uses a backup, and backups do not include %s.%s", formatVolumes(lacks), reasons.String())
	}
	if len(unused) > 0 {
		m.warn(findingUnused, "Unused volumes are not moved and stay with the original guest: %s.", formatVolumes(unused))
	}
}

// checkImages blocks images in drives that the target does not have. If the
// hypervisor has reported the images that only the node has, it has left out
// drives that it creates itself; the others are checked by their storage.
func (m *migrationCheck) checkImages(told bool) {
	for _, d := range m.config.Disks {
		if d.Removable && d.Volume != "" && (!told || m.placeStorage(d.Storage) == nil) {
			m.block(hypervisor.MigrationLocalImage, "The drive %s has the image %s; eject it first.", d.Key, d.Volume)
		}
	}
}

// checkNodeResources reads the devices and images of the node that the guest uses, and
// blocks them. It returns false if the hypervisor cannot report them.
func (m *migrationCheck) checkNodeResources(ctx context.Context) (told bool, err error) {
	check, err := callChecked(ctx, m, m.hostID, endpoint.Lifecycle, func(ctx context.Context, at hypervisor.Migrator) (
		hypervisor.MigrationCheck, error) {
		// A check for the guest's own node reports what is bound to it. The
		// target is in another cluster, which this hypervisor does not know.
		return at.CheckMigration(ctx, m.ref, hypervisor.MigrationQuery{Node: m.ref.Node})
	})
	if unsupported(err) || sdk.KindOf(err) == sdk.Unsupported {
		return false, nil
	}
	if err != nil {
		return false, plugin.Problem(err)
	}
	for _, f := range check.Blockers {
		if slices.Contains([]string{hypervisor.MigrationPassthrough, hypervisor.MigrationLocalImage, hypervisor.MigrationBindMount,
			hypervisor.MigrationQuorum}, f.Code) {
			m.block(f.Code, "%s", f.Message)
		}
	}
	return true, nil
}

// checkPrerequisites reports whether both hosts have the tokens, and their drivers the
// abilities, for a migration. It does not ask the hypervisors, so all that is
// missing is reported at once.
func (m *migrationCheck) checkPrerequisites(ctx context.Context) bool {
	before := len(m.Blockers)
	for _, side := range []migrationSide{m.source, m.target} {
		for _, capability := range []endpoint.Capability{endpoint.Lifecycle, endpoint.Backup} {
			if !slices.Contains(side.Tokens, string(capability)) {
				m.block(string(capability)+findingToken, "The host %s has no token for %s; add one first.", side.Name, capability)
			}
		}
		at, err := m.hosts.Open(ctx, side.ID, endpoint.Monitoring)
		if err != nil {
			// The failure is reported by the next question to this host.
			continue
		}
		for _, able := range []error{can[hypervisor.BackupManager](at), can[hypervisor.ConfigEditor](at), can[hypervisor.Provisioner](at),
			can[hypervisor.LifecycleManager](at)} {
			if able != nil {
				m.block(findingUnsupported, "Host %s: %s", side.Name, job.Explain(able))
			}
		}
		_ = at.Close()
	}
	return len(m.Blockers) == before
}

// can returns an error if the host does not implement A.
func can[A any](at hypervisor.Host) error {
	_, err := host.AsAbility[A](at)
	return err
}

// sourcePlace reads what the guest's own node offers.
func (m *migrationCheck) sourcePlace(ctx context.Context) (hypervisor.Placement, error) {
	query := hypervisor.PlacementQuery{Kind: m.ref.Kind, Node: m.ref.Node, Name: m.guest.Name, Storages: true}
	return callChecked(ctx, m, m.hostID, endpoint.Monitoring, func(ctx context.Context, at hypervisor.Provisioner) (
		hypervisor.Placement, error) {
		return at.Placement(ctx, query)
	})
}

// otherIDs is the number of IDs that are tried in search of one that is not the
// guest's.
const otherIDs = 20

// choosePlace reads what the target node offers and selects an ID: the guest's
// own if it is free. If both sides may see the same storage of disks, the ID
// must differ, because names of volumes contain the ID and two guests would own
// the same volumes.
func (m *migrationCheck) choosePlace(ctx context.Context, source hypervisor.Placement) error {
	if err := m.readPlace(ctx, m.target.ID, m.guest.Number); err != nil {
		return err
	}
	shared := m.sharedVolumes(source)
	if shared != "" && m.guest.Number == nil {
		m.block(findingVolumes, "Both hosts may see the volumes of the storage %s, and both guests would own the same volumes.", shared)
	}
	if m.guest.Number != nil && (m.place.ID == "" || shared != "") {
		if m.place.ID == "" {
			m.warn(findingIDTaken, "The ID %s is taken on %s; the guest gets another ID.", m.ref.ID, m.target.Name)
		} else {
			m.warn(findingVolumes, "Both hosts may see the volumes of the storage %s; the guest gets another ID.", shared)
		}
		for number := *m.guest.Number + 1; number <= *m.guest.Number+otherIDs; number++ {
			if err := m.readPlace(ctx, m.target.ID, &number); err != nil || m.place.ID != "" {
				m.targetID = m.place.ID
				m.TargetRef = string(m.targetID)
				return err
			}
		}
	}
	if m.targetID = m.place.ID; m.targetID == "" {
		m.block(findingIDTaken, "The ID %s is taken on %s, and no free ID was found.", m.ref.ID, m.target.Name)
	}
	m.TargetRef = string(m.targetID)
	return nil
}

// sharedVolumes returns a storage on which the target would create disks and
// that may be the one with the guest's present disks. It is empty if there is
// none.
func (m *migrationCheck) sharedVolumes(source hypervisor.Placement) string {
	for _, d := range m.config.Disks {
		i := slices.IndexFunc(source.Storages, func(s hypervisor.PlacementStorage) bool { return s.Name == d.Storage && s.Shared })
		on := d.Storage
		if m.order.Storage != nil {
			on = *m.order.Storage
		}
		if t := m.placeStorage(on); i >= 0 && t != nil && t.Shared {
			return on
		}
	}
	return ""
}

// chooseStorage selects a storage of backups that both hosts have. Equal names
// prove little. A backup that both list proves that it is the same storage; a
// backup that only one lists proves the opposite. Only a storage that several
// nodes share can be seen by another cluster.
//
// If there is none, the finding lacks says so.
func (m *migrationCheck) chooseStorage(ctx context.Context, source hypervisor.Placement) (lacks *MigrationFinding, err error) {
	own, theirs := sharedBackups(source), sharedBackups(m.place)
	here, err := m.backups(ctx, m.hostID, m.ref.Node, own)
	if err != nil {
		return nil, plugin.Problem(err)
	}
	there, err := m.backups(ctx, m.target.ID, m.TargetNode, theirs)
	if err != nil {
		return &MigrationFinding{findingUnreachable, fmt.Sprintf("The backups of the host %s could not be listed: %s", m.target.Name,
			job.Explain(err))}, nil
	}
	var guesses []string
	for _, name := range own {
		for _, other := range theirs {
			if sameBackups(here[name], there[other]) {
				m.SourceStorage, m.TargetStorage = &name, &other
				return nil, nil
			}
			// Two empty storages of the same name may be the same. The job
			// verifies that with its own backup before anything is lost.
			if name == other && len(here[name])+len(there[other]) == 0 {
				guesses = append(guesses, name)
			}
		}
	}
	if len(guesses) == 0 {
		return &MigrationFinding{findingNoStorage, "No backup storage is known to be shared by both hosts."}, nil
	}
	guessed := mostSimilarStorage(guesses, source, m.place)
	m.SourceStorage, m.TargetStorage = &guessed, &guessed
	among := ""
	if len(guesses) > 1 {
		among = fmt.Sprintf(" Among such storages (%s), %s has the most similar free space on both hosts. If both hosts list a backup on "+
			"another of these storages, Hostler uses that one.", strings.Join(guesses, ", "), guessed)
	}
	m.warn(findingUnproven, "Both hosts have a storage %s without backups. The backup will show whether it is the same storage; if it "+
		"is not, the guest is started again.%s", guessed, among)
	return nil, nil
}

// mostSimilarStorage selects, among storages of equal names, the one whose free space
// the two sides report most similarly: a storage has only one free space,
// whoever asks.
func mostSimilarStorage(names []string, a, b hypervisor.Placement) string {
	apart := func(name string) float64 {
		one, other := freeOf(a, name), freeOf(b, name)
		if one == nil || other == nil {
			return math.Inf(1)
		}
		return math.Abs(float64(*one) - float64(*other))
	}
	return slices.MinFunc(names, func(x, y string) int { return cmp.Compare(apart(x), apart(y)) })
}

// freeOf returns the free space of a storage in bytes, or nil.
func freeOf(p hypervisor.Placement, name string) *int64 {
	if i := slices.IndexFunc(p.Storages, func(s hypervisor.PlacementStorage) bool { return s.Name == name }); i >= 0 {
		return p.Storages[i].Free
	}
	return nil
}

// sharedBackups returns the storages of backups that nodes share.
func sharedBackups(p hypervisor.Placement) (names []string) {
	for _, s := range p.Storages {
		if s.Backups && s.Available && s.Shared {
			names = append(names, s.Name)
		}
	}
	return names
}

// backups lists the backups on several storages, by storage.
func (m *migrationCheck) backups(ctx context.Context, hostID int64, node string, storages []string) (
	map[string][]hypervisor.Backup, error) {
	all := map[string][]hypervisor.Backup{}
	for _, name := range storages {
		list, err := callChecked(ctx, m, hostID, endpoint.Backup, func(ctx context.Context, at hypervisor.BackupManager) ([]hypervisor.Backup,
			error) {
			return at.Backups(ctx, hypervisor.BackupQuery{Storage: name, Node: node})
		})
		if err != nil {
			return nil, err
		}
		all[name] = list
	}
	return all, nil
}

// sameBackups reports whether two storages list a backup that must be the same.
func sameBackups(a, b []hypervisor.Backup) bool {
	for _, one := range a {
		if slices.ContainsFunc(b, func(other hypervisor.Backup) bool { return sameBackup(one, other) }) {
			return true
		}
	}
	return false
}

// sameBackup recognises a backup that another cluster lists, by its name
// without the storage, its time, its size and its guest. IDs contain the name
// of the storage, which may differ.
func sameBackup(a, b hypervisor.Backup) bool {
	size := func(b hypervisor.Backup) int64 {
		if b.SizeBytes == nil {
			return -1
		}
		return *b.SizeBytes
	}
	return volumeOf(a) == volumeOf(b) && a.TakenAt.Equal(b.TakenAt) && size(a) == size(b) && a.Kind == b.Kind && a.Guest == b.Guest
}

// volumeOf returns the ID of a backup without its storage.
func volumeOf(b hypervisor.Backup) string { return strings.TrimPrefix(b.ID, b.Storage+":") }

// estimateAcrossClusters estimates the downtime.
func (m *migrationCheck) estimateAcrossClusters() {
	if !m.Running {
		m.DowntimeS, m.DowntimeBasis = new(int64), "The guest is not running."
		return
	}
	if m.Bytes == nil {
		m.DowntimeBasis = "The size of a disk is unknown."
		return
	}
	if m.is(ByTransfer) {
		// The data passes four times: backup, checksum, copy and restore.
		seconds := 2*switching + 4**m.Bytes/copyRate
		m.DowntimeS = &seconds
		m.DowntimeBasis = fmt.Sprintf("At most %d GiB, backed up, checked, copied through this service and restored, each at an "+
			"assumed 100 MiB/s, plus %d seconds for stopping and starting.", *m.Bytes>>30, 2*switching)
		return
	}
	seconds := 2*switching + 2**m.Bytes/copyRate
	m.DowntimeS = &seconds
	m.DowntimeBasis = fmt.Sprintf("%d GiB, written and read at an assumed 100 MiB/s, plus %d seconds for stopping and starting.",
		*m.Bytes>>30, 2*switching)
}

// decided returns the checkpoint of the job. The job must not decide again
// after a restart, when the guest is already stopped.
func (m *migrationCheck) decided() *across {
	x := &across{HostID: m.target.ID, HostName: m.target.Name, Node: m.TargetNode, ID: m.targetID, SourceStorage: *m.SourceStorage,
		TargetStorage: *m.TargetStorage, Name: m.guest.Name}
	for _, nic := range m.config.NICs {
		x.MACs = append(x.MACs, strings.ToUpper(nic.MAC))
	}
	slices.Sort(x.MACs)
	if m.is(ByTransfer) {
		x.Transfer = &transfer{Node: m.ref.Node, Machine: m.machine, TargetMachine: m.targetMachine}
	}
	return x
}
