package guest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// migrationCheck checks a migration, first for the request and again in the
// job.
type migrationCheck struct {
	Preflight
	db    *db.DB
	hosts host.Opener
	// machines are the machines of the hosts. Nil means that logins are not
	// available.
	machines Machines
	limit    time.Duration
	// hostID and ref say where the guest is. self is true if the service runs
	// in it.
	hostID int64
	ref    hypervisor.GuestRef
	self   bool
	order  MigrationRequest
	// able returns an error for a host that cannot move guests within its
	// cluster. With nil, the first call to the host reports that.
	able func(ctx context.Context) error

	source, target migrationSide
	// guest, config and snapshots are what was read of the guest.
	guest     hypervisor.Guest
	config    hypervisor.Config
	snapshots []hypervisor.Snapshot
	// place is what the target node offers.
	place hypervisor.Placement
	// reported are the codes of findings that the hypervisor reported. Nothing
	// is concluded here about these.
	reported map[string]bool
	// targetID is the ID of the guest on the target. It is empty for the
	// strategy cluster.
	targetID hypervisor.GuestID
	// machine and targetMachine are the hosts whose machines are the two nodes,
	// for the strategy transfer.
	machine, targetMachine int64
}

// migrationSide is one of the two hosts as the database knows it.
type migrationSide struct {
	ID, ClusterID     int64
	Name, Driver      string
	EntryNode, Status string
	Quorate           *bool
	Tokens            []string
}

// Codes of findings that only the service reports, in addition to those of
// hypervisor.MigrationCheck.
const (
	findingSelf         = "self_target"
	findingNoNode       = "no_other_node"
	findingBridge       = "bridge_missing"
	findingDriver       = "driver_differs"
	findingToken        = "_token_missing" // behind the capability
	findingUnreachable  = "target_unreachable"
	findingTemplate     = "template"
	findingIDTaken      = "id_taken"
	findingNoStorage    = "no_shared_storage"
	findingUnproven     = "shared_storage_unproven"
	findingVolumes      = "shared_volumes"
	findingSourceStays  = "source_stays"
	findingUnsupported  = "unsupported"
	findingStrategy     = "strategy"
	findingNoFiles      = "no_file_storage"
	findingLeftOut      = "volumes_not_in_backup"
	findingUnused       = "unused_volumes"
	findingNotRetrieved = hypervisor.MigrationIncomplete
)

// newMigrationCheck returns a check with empty lists. The limit bounds each
// question to a hypervisor.
func newMigrationCheck(d *db.DB, hosts host.Opener, limit time.Duration, hostID int64, ref hypervisor.GuestRef,
	order MigrationRequest) *migrationCheck {
	return &migrationCheck{
		db: d, hosts: hosts, limit: limit, hostID: hostID, ref: ref, order: order,
		Preflight: Preflight{TargetHostID: order.TargetHostID, Blockers: []MigrationFinding{}, Warnings: []MigrationFinding{},
			Rejected: []MigrationFinding{}, Disks: []MigrationDisk{}},
	}
}

// block adds a blocker, unless the hypervisor has reported one with its code.
func (m *migrationCheck) block(code, format string, args ...any) {
	if !m.reported[code] {
		m.Blockers = addFinding(m.Blockers, code, fmt.Sprintf(format, args...))
	}
}

// warn adds a warning, by the same rule.
func (m *migrationCheck) warn(code, format string, args ...any) {
	if !m.reported[code] {
		m.Warnings = addFinding(m.Warnings, code, fmt.Sprintf(format, args...))
	}
}

// report appends findings of the hypervisor to a list, unless the list has had
// some with the same code before.
func (m *migrationCheck) report(list []MigrationFinding, found []hypervisor.MigrationFinding) []MigrationFinding {
	known := slices.Clone(list)
	for _, f := range found {
		if !slices.ContainsFunc(known, func(k MigrationFinding) bool { return k.Code == f.Code }) {
			list = addFinding(list, f.Code, f.Message)
			m.reported[f.Code] = true
		}
	}
	return list
}

// maxFindings is how many findings of a list are kept. One blocker is enough to
// refuse a migration, and a plugin may report any number.
const maxFindings = 200

// addFinding appends a finding unless the list has the same one or is full.
func addFinding(list []MigrationFinding, code, message string) []MigrationFinding {
	finding := MigrationFinding{Code: code, Message: message}
	if len(list) >= maxFindings || slices.Contains(list, finding) {
		return list
	}
	return append(list, finding)
}

// run reads the database and the hypervisors. An error of the guest's own host
// is returned, an error of the target host is a blocker. If the guest has moved
// since it was last seen, or moves during the check, it is checked once more on
// its new node.
func (m *migrationCheck) run(ctx context.Context) error {
	// The findings of the first attempt are dropped together with its node.
	fresh := *m
	fresh.Blockers, fresh.Warnings, fresh.Disks = slices.Clone(m.Blockers), slices.Clone(m.Warnings), slices.Clone(m.Disks)
	fresh.Rejected = slices.Clone(m.Rejected)
	err := m.checkAtNode(ctx)
	if problem.From(err).Code != problem.CodeNotFound {
		return err
	}
	found, failed := callChecked(ctx, m, m.hostID, endpoint.Monitoring, func(ctx context.Context, at hypervisor.Host) (hypervisor.GuestRef,
		error) {
		return find(ctx, at, m.ref)
	})
	if failed != nil || found.Node == "" || found.Node == m.ref.Node {
		return err
	}
	*m = fresh
	m.ref = found
	return m.checkAtNode(ctx)
}

// checkAtNode checks the guest on the node where it is assumed to be.
func (m *migrationCheck) checkAtNode(ctx context.Context) error {
	m.reported = map[string]bool{}
	if err := m.side(ctx, m.hostID, &m.source); err != nil {
		return err
	}
	if err := m.side(ctx, m.order.TargetHostID, &m.target); err != nil {
		return err
	}
	if err := m.readGuest(ctx); err != nil {
		return err
	}
	strategy, within := ByCluster, m.source.ClusterID == m.target.ClusterID && m.source.ClusterID != 0
	if !within {
		strategy = BySharedStorage
	}
	if wanted := m.order.Strategy; wanted != nil {
		switch {
		case within && *wanted != ByCluster:
			m.block(findingStrategy, "Both hosts are in one cluster, where the hypervisor moves the guest itself; the strategy %s is "+
				"only for another cluster.",
				*wanted)
		case !within && *wanted == ByCluster:
			m.block(findingStrategy, "The hosts are not in the same cluster, so the hypervisor cannot move the guest itself.")
		}
		strategy = *wanted
	}
	m.Strategy = &strategy
	if err := m.chooseNode(ctx, within); err != nil {
		return err
	}
	var err error
	if within {
		err = m.checkWithinCluster(ctx)
	} else {
		err = m.checkAcrossClusters(ctx)
	}
	m.Possible = len(m.Blockers) == 0
	return err
}

// side reads one of the two hosts from the database.
func (m *migrationCheck) side(ctx context.Context, id int64, s *migrationSide) error {
	err := m.db.Pool.QueryRow(ctx, `SELECT h.id, COALESCE(h.cluster_id, 0), h.name, h.driver, h.entry_node, h.status, c.quorate,
		ARRAY(SELECT capability FROM host_credentials WHERE host_id = h.id)
		FROM hosts h LEFT JOIN clusters c ON c.id = h.cluster_id WHERE h.id = $1`, id).
		Scan(&s.ID, &s.ClusterID, &s.Name, &s.Driver, &s.EntryNode, &s.Status, &s.Quorate, &s.Tokens)
	if errors.Is(err, pgx.ErrNoRows) {
		return problem.New(problem.CodeNotFound, "host not found")
	}
	if err != nil {
		return db.Problem(fmt.Errorf("reading a host: %w", err))
	}
	return nil
}

// callChecked calls a host with the token of a capability, within the limit of the
// check.
func callChecked[A, T any](ctx context.Context, m *migrationCheck, hostID int64, capability endpoint.Capability,
	question func(ctx context.Context, able A) (T, error)) (T, error) {
	return host.CallWithTimeout(ctx, m.hosts, m.limit, hostID, capability, question)
}

// readGuest reads the guest, its configuration and its snapshots.
func (m *migrationCheck) readGuest(ctx context.Context) error {
	_, err := callChecked(ctx, m, m.hostID, endpoint.Monitoring, func(ctx context.Context, at hypervisor.Host) (none struct{}, err error) {
		if m.guest, err = at.Guest(ctx, m.ref); err != nil {
			return none, err
		}
		if reader, failed := host.AsAbility[hypervisor.ConfigReader](at); failed == nil {
			if m.config, err = reader.Config(ctx, m.ref); err != nil {
				return none, err
			}
		}
		if snapshotter, failed := host.AsAbility[hypervisor.Snapshotter](at); failed == nil {
			m.snapshots, err = snapshotter.Snapshots(ctx, m.ref)
		}
		return none, err
	})
	if err != nil {
		return plugin.Problem(err)
	}
	m.Node, m.TargetRef = m.ref.Node, string(m.ref.ID)
	m.Running = m.guest.Status == hypervisor.GuestRunning || m.guest.Status == hypervisor.GuestPaused
	if m.guest.Lock != "" {
		m.block(hypervisor.MigrationLocked, "The guest is locked on the hypervisor (%s).", m.guest.Lock)
	}
	if m.guest.HA {
		m.warn(hypervisor.MigrationHA, "The hypervisor's high availability manages the guest: it decides when to move the guest, and "+
			"starts it again if it is stopped.")
	}
	return nil
}

// chooseNode selects the requested node, or the only one that can be meant: the
// target host's own node, or the other node of a cluster of two. Otherwise the
// problem is invalid and lists the nodes.
func (m *migrationCheck) chooseNode(ctx context.Context, within bool) error {
	rows, err := m.db.Pool.Query(ctx, "SELECT name, status FROM nodes WHERE cluster_id = $1 ORDER BY name", m.target.ClusterID)
	if err != nil {
		return db.Problem(fmt.Errorf("reading nodes: %w", err))
	}
	nodes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Name, Status string }])
	if err != nil {
		return db.Problem(fmt.Errorf("reading nodes: %w", err))
	}
	var others []string
	for _, n := range nodes {
		switch {
		case m.order.Node != nil && n.Name == *m.order.Node:
			m.TargetNode = n.Name
			if n.Status != hypervisor.NodeOnline {
				m.block(hypervisor.MigrationNodeOffline, "The node %s is %s.", n.Name, n.Status)
			}
			return nil
		case n.Status == hypervisor.NodeOnline && (!within || n.Name != m.ref.Node):
			others = append(others, n.Name)
		}
	}
	switch {
	case m.order.Node != nil:
		return problem.InvalidField("the target host does not have this node", "value_error", "body", "node")
	case slices.Contains(others, m.target.EntryNode) && (m.target.ID != m.source.ID || len(others) == 1):
		m.TargetNode = m.target.EntryNode
	case len(others) == 1:
		m.TargetNode = others[0]
	case len(others) == 0:
		m.block(findingNoNode, "The target has no other online node.")
	default:
		return problem.InvalidField("choose one of these nodes: "+strings.Join(others, ", "), "missing", "body", "node")
	}
	return nil
}

// checkWithinCluster checks a migration between two nodes of a cluster.
func (m *migrationCheck) checkWithinCluster(ctx context.Context) error {
	if m.able != nil {
		if err := m.able(ctx); err != nil {
			return err
		}
	}
	if m.source.Quorate != nil && !*m.source.Quorate {
		m.block(hypervisor.MigrationQuorum, "The cluster has no quorum, so it cannot be changed.")
	}
	if m.TargetNode == "" {
		return nil
	}
	query := hypervisor.MigrationQuery{Node: m.TargetNode}
	if m.order.Storage != nil {
		query.Storage = *m.order.Storage
	}
	check, err := callChecked(ctx, m, m.hostID, endpoint.Lifecycle, func(ctx context.Context, at hypervisor.Migrator) (
		hypervisor.MigrationCheck, error) {
		return at.CheckMigration(ctx, m.ref, query)
	})
	if err != nil {
		return plugin.Problem(err)
	}
	m.Live = check.Live
	m.Blockers, m.Warnings = m.report(m.Blockers, check.Blockers), m.report(m.Warnings, check.Warnings)
	// If the driver has found blockers, its list of allowed nodes would only
	// repeat them.
	told := len(m.Blockers) > 0
	if !told && check.Nodes != nil && m.order.Storage == nil && !slices.Contains(check.Nodes, m.TargetNode) {
		m.block(hypervisor.MigrationNodeForbidden, "The hypervisor does not allow the guest on %s.", m.TargetNode)
	}
	m.checkNodeDisks(func(d hypervisor.Disk) bool { return d.Local && !d.Shared })
	if m.TargetNode == m.ref.Node {
		return nil
	}
	if err := m.readPlace(ctx, m.hostID, nil); err != nil {
		if !told {
			return plugin.Problem(err)
		}
		m.warn(findingNotRetrieved, "The node %s did not report its storages and bridges.", m.TargetNode)
		return nil
	}
	m.localDisks(check)
	m.checkTargetStorage(true)
	m.checkBridges()
	m.checkSnapshots()
	m.estimateWithinCluster()
	return nil
}

// checkNodeDisks blocks disks of the node itself that do not move with the guest.
func (m *migrationCheck) checkNodeDisks(stays func(hypervisor.Disk) bool) {
	for _, d := range m.config.Disks {
		switch {
		case !stays(d):
		case m.ref.Kind == hypervisor.Container:
			m.block(hypervisor.MigrationBindMount, "%s is a directory or device of the node and cannot be moved.", d.Key)
		default:
			m.block(hypervisor.MigrationPassthrough, "%s is a device of the node.", d.Key)
		}
	}
}

// readPlace reads what the target node offers.
func (m *migrationCheck) readPlace(ctx context.Context, hostID int64, number *int64) (err error) {
	query := hypervisor.PlacementQuery{Kind: m.ref.Kind, Node: m.TargetNode, Name: m.guest.Name, Number: number,
		ID: true, Storages: true, Bridges: true}
	m.place, err = callChecked(ctx, m, hostID, endpoint.Monitoring, func(ctx context.Context, at hypervisor.Provisioner) (
		hypervisor.Placement, error) {
		return at.Placement(ctx, query)
	})
	return err
}

// placeStorage returns the storage of the target node with that name, or nil.
func (m *migrationCheck) placeStorage(name string) *hypervisor.PlacementStorage {
	for i, s := range m.place.Storages {
		if s.Name == name {
			return &m.place.Storages[i]
		}
	}
	return nil
}

// localDisks collects the disks that are copied: those that the hypervisor
// names, or, for a container, those on storages that are not shared.
func (m *migrationCheck) localDisks(check hypervisor.MigrationCheck) {
	for _, d := range check.Disks {
		m.Disks = append(m.Disks, MigrationDisk{Key: d.Key, Storage: d.Storage, SizeBytes: d.SizeBytes})
	}
	if len(check.Disks) > 0 || m.ref.Kind == hypervisor.VM {
		return
	}
	m.copied(func(d hypervisor.Disk) bool {
		s := m.placeStorage(d.Storage)
		return s == nil || !s.Shared
	})
}

// copied collects disks of the configuration that the migration copies.
func (m *migrationCheck) copied(which func(hypervisor.Disk) bool) {
	for _, d := range m.config.Disks {
		if d.Local || d.Removable || d.Storage == "" || !which(d) {
			continue
		}
		disk := MigrationDisk{Key: d.Key, Storage: d.Storage}
		if d.SizeGB != nil {
			size := *d.SizeGB << 30
			disk.SizeBytes = &size
		}
		m.Disks = append(m.Disks, disk)
	}
}

// checkTargetStorage checks whether the disks fit: on the requested storage, or
// on storages of the same names.
func (m *migrationCheck) checkTargetStorage(within bool) {
	wants := map[string]int64{}
	known, total := true, int64(0)
	for _, d := range m.Disks {
		on := d.Storage
		if m.order.Storage != nil {
			on = *m.order.Storage
		}
		size := int64(0)
		if d.SizeBytes != nil {
			size = *d.SizeBytes
		} else {
			known = false
		}
		wants[on] += size
		total += size
	}
	if known {
		m.Bytes = &total
	}
	// The requested storage must exist even if no disk is copied to it.
	if m.order.Storage != nil {
		wants[*m.order.Storage] += 0
	}
	for name, bytes := range wants {
		s := m.placeStorage(name)
		switch {
		case s == nil && within && m.order.Storage == nil && m.ref.Kind == hypervisor.VM:
			// The hypervisor itself checks that the node has what the VM needs.
			// The token may not see all storages.
			m.warn(findingNotRetrieved, "Could not check whether the node %s has the storage %s.", m.TargetNode, name)
		case s == nil:
			m.block(hypervisor.MigrationStorage, "The node %s has no storage %s.", m.TargetNode, name)
		case m.ref.Kind == hypervisor.VM && !s.VMs, m.ref.Kind == hypervisor.Container && !s.Containers:
			m.block(hypervisor.MigrationStorage, "The storage %s of the node %s does not accept these disks.", name, m.TargetNode)
		case !s.Available:
			m.block(hypervisor.MigrationStorage, "The storage %s of the node %s is not available.", name, m.TargetNode)
		case s.Free != nil && *s.Free < bytes && s.Thin:
			m.warn(hypervisor.MigrationRoom, "%s", thinRoom(*s, bytes))
		case s.Free != nil && *s.Free < bytes:
			m.block(hypervisor.MigrationRoom, "The storage %s of the node %s has %d GiB free, but %d GiB are needed.", name, m.TargetNode,
				*s.Free>>30, gibibytes(bytes))
		}
	}
}

// checkBridges checks that the target node has the bridges of the guest's NICs.
func (m *migrationCheck) checkBridges() {
	if len(m.place.Bridges) == 0 && len(m.config.NICs) > 0 {
		m.warn(findingNotRetrieved, "Could not read which bridges the node %s has.", m.TargetNode)
		return
	}
	for _, nic := range m.config.NICs {
		if nic.Bridge != "" && !slices.Contains(m.place.Bridges, nic.Bridge) {
			m.block(findingBridge, "The node %s does not have the bridge %s, to which %s is attached.", m.TargetNode, nic.Bridge, nic.Key)
		}
	}
}

// checkSnapshots reports snapshots on disks that are copied.
func (m *migrationCheck) checkSnapshots() {
	switch {
	case len(m.snapshots) == 0 || len(m.Disks) == 0:
	case m.Running && m.Live:
		m.block(hypervisor.MigrationSnapshots, "The guest is running and has %s on disks that are copied; stop the guest or delete all "+
			"snapshots first.", counted(m.snapshots))
	case !slices.ContainsFunc(m.Blockers, func(f MigrationFinding) bool { return f.Code == hypervisor.MigrationSnapshots }):
		m.warn(hypervisor.MigrationSnapshots, "The guest has %s on disks that are copied. Some storages refuse this.",
			counted(m.snapshots))
	}
}

// counted counts snapshots for a sentence.
func counted(snapshots []hypervisor.Snapshot) string {
	return plan.Plural(len(snapshots), "1 snapshot", "%d snapshots")
}

const (
	// copyRate is the assumed speed of copying in bytes per second: a disk or a
	// gigabit network that others use too.
	copyRate = 100 << 20
	// switching is the assumed time for stopping and starting a guest, in
	// seconds.
	switching = 30
)

// estimateWithinCluster estimates the downtime of a migration within the cluster.
func (m *migrationCheck) estimateWithinCluster() {
	seconds := int64(0)
	switch {
	case !m.Running:
		m.DowntimeBasis = "The guest is not running."
	case m.Live:
		seconds, m.DowntimeBasis = 1, "The guest keeps running; the switch to the other node takes at most about a second."
	case m.Bytes == nil:
		m.DowntimeBasis = "The size of a disk is unknown."
		return
	default:
		seconds = switching + *m.Bytes/copyRate
		m.DowntimeBasis = fmt.Sprintf("%d GiB at an assumed 100 MiB/s, plus %d seconds for stopping and starting.", *m.Bytes>>30,
			switching)
	}
	m.DowntimeS = &seconds
}
