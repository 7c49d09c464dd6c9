package guest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// migrationCheck finds out what a migration would meet, for a request and again for its job.
type migrationCheck struct {
	Preflight
	db    *db.DB
	hosts host.Opener
	// machines are those of the hosts; nil logs in to none.
	machines Machines
	limit    time.Duration
	// hostID and ref are where the guest is; self says that the service runs in it.
	hostID int64
	ref    hypervisor.GuestRef
	self   bool
	order  MigrationOrder
	// able refuses a host that cannot move guests within its cluster; nil lets the first question find that out.
	able func(ctx context.Context) error

	source, target migrationSide
	// guest, config and snapshots are what was read of the guest.
	guest     hypervisor.Guest
	config    hypervisor.Config
	snapshots []hypervisor.Snapshot
	// place is what the target node has.
	place hypervisor.Placement
	// targetID is the id that the guest is to have elsewhere; it is empty for the strategy cluster.
	targetID hypervisor.GuestID
	// machine and targetMachine are the hosts whose machines the two nodes are, for the strategy transfer.
	machine, targetMachine int64
}

// migrationSide is one of the two hosts, as the database knows it.
type migrationSide struct {
	ID, ClusterID     int64
	Name, Driver      string
	EntryNode, Status string
	Quorate           *bool
	Tokens            []string
}

// The codes of findings that only the service has, besides those of hypervisor.MigrationCheck.
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

func newMigrationCheck(d *db.DB, hosts host.Opener, limit time.Duration, hostID int64, ref hypervisor.GuestRef,
	order MigrationOrder) *migrationCheck {
	return &migrationCheck{
		db: d, hosts: hosts, limit: limit, hostID: hostID, ref: ref, order: order,
		Preflight: Preflight{TargetHostID: order.TargetHostID, Blockers: []MigrationFinding{}, Warnings: []MigrationFinding{},
			Rejected: []MigrationFinding{}, Disks: []MigrationDisk{}},
	}
}

// block and warn keep the first finding of a code: what the hypervisor says of it goes before what is worked out here.
func (m *migrationCheck) block(code, format string, args ...any) {
	m.Blockers = addFinding(m.Blockers, code, fmt.Sprintf(format, args...))
}

func (m *migrationCheck) warn(code, format string, args ...any) {
	m.Warnings = addFinding(m.Warnings, code, fmt.Sprintf(format, args...))
}

func addFinding(list []MigrationFinding, code, message string) []MigrationFinding {
	if slices.ContainsFunc(list, func(f MigrationFinding) bool { return f.Code == code }) {
		return list
	}
	return append(list, MigrationFinding{Code: code, Message: message})
}

// look asks database and hypervisors. What the guest's own host fails with is an error; what the other one does is a blocker.
// A guest that moved since it was last seen, or between two of the questions, is looked at once more where it is now.
func (m *migrationCheck) look(ctx context.Context) error {
	fresh := *m
	fresh.Blockers, fresh.Warnings, fresh.Disks = slices.Clone(m.Blockers), slices.Clone(m.Warnings), slices.Clone(m.Disks)
	fresh.Rejected = slices.Clone(m.Rejected)
	err := m.lookOnce(ctx)
	if problem.From(err).Code != problem.CodeNotFound {
		return err
	}
	found, failed := asked(ctx, m, m.hostID, endpoint.Monitoring, func(ctx context.Context, at hypervisor.Host) (hypervisor.GuestRef, error) {
		return find(ctx, at, m.ref)
	})
	if failed != nil || found.Node == "" || found.Node == m.ref.Node {
		return err
	}
	*m = fresh
	m.ref = found
	return m.lookOnce(ctx)
}

func (m *migrationCheck) lookOnce(ctx context.Context) error {
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
			m.block(findingStrategy, "Both hosts are of one cluster, in which the hypervisor moves it: the strategy %s is for another cluster.",
				*wanted)
		case !within && *wanted == ByCluster:
			m.block(findingStrategy, "The two hosts are not of one cluster, so that the hypervisor cannot move it by itself.")
		}
		strategy = *wanted
	}
	m.Strategy = &strategy
	if err := m.chooseNode(ctx, within); err != nil {
		return err
	}
	var err error
	if within {
		err = m.lookWithin(ctx)
	} else {
		err = m.lookAcross(ctx)
	}
	m.Possible = len(m.Blockers) == 0
	return err
}

func (m *migrationCheck) side(ctx context.Context, id int64, s *migrationSide) error {
	err := m.db.Pool.QueryRow(ctx, `SELECT h.id, COALESCE(h.cluster_id, 0), h.name, h.driver, h.entry_node, h.status, c.quorate,
		ARRAY(SELECT capability FROM host_credentials WHERE host_id = h.id)
		FROM hosts h LEFT JOIN clusters c ON c.id = h.cluster_id WHERE h.id = $1`, id).
		Scan(&s.ID, &s.ClusterID, &s.Name, &s.Driver, &s.EntryNode, &s.Status, &s.Quorate, &s.Tokens)
	if errors.Is(err, pgx.ErrNoRows) {
		return problem.New(problem.CodeNotFound, "there is no such host")
	}
	if err != nil {
		return db.Problem(fmt.Errorf("reading a host: %w", err))
	}
	return nil
}

// asked puts a question to a host with a capability's token.
func asked[A, T any](ctx context.Context, m *migrationCheck, hostID int64, capability endpoint.Capability,
	question func(ctx context.Context, able A) (T, error)) (T, error) {
	return host.AskWithin(ctx, m.hosts, m.limit, hostID, capability, question)
}

// readGuest reads the guest with its configuration and snapshots.
func (m *migrationCheck) readGuest(ctx context.Context) error {
	_, err := asked(ctx, m, m.hostID, endpoint.Monitoring, func(ctx context.Context, at hypervisor.Host) (none struct{}, err error) {
		if m.guest, err = at.Guest(ctx, m.ref); err != nil {
			return none, err
		}
		if reader, failed := host.Able[hypervisor.ConfigReader](at); failed == nil {
			if m.config, err = reader.Config(ctx, m.ref); err != nil {
				return none, err
			}
		}
		if snapshotter, failed := host.Able[hypervisor.Snapshotter](at); failed == nil {
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
		m.block(hypervisor.MigrationLocked, "The guest is locked at the hypervisor (%s).", m.guest.Lock)
	}
	if m.guest.HA {
		m.warn(hypervisor.MigrationHA, "The hypervisor's high availability looks after the guest: it moves the guest when it finds the time, "+
			"and starts again what it finds stopped.")
	}
	return nil
}

// chooseNode takes the wanted node, or the one that can only be meant: the target host's own, or the other node of a cluster of two.
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
		return problem.InvalidField("the target host has no such node", "value_error", "body", "node")
	case slices.Contains(others, m.target.EntryNode) && (m.target.ID != m.source.ID || len(others) == 1):
		m.TargetNode = m.target.EntryNode
	case len(others) == 1:
		m.TargetNode = others[0]
	case len(others) == 0:
		m.block(findingNoNode, "The target has no other node that is online.")
	default:
		return problem.InvalidField(fmt.Sprintf("say to which node: %v", others), "missing", "body", "node")
	}
	return nil
}

// lookWithin checks a move between two nodes of a cluster.
func (m *migrationCheck) lookWithin(ctx context.Context) error {
	if m.able != nil {
		if err := m.able(ctx); err != nil {
			return err
		}
	}
	if m.source.Quorate != nil && !*m.source.Quorate {
		m.block(hypervisor.MigrationQuorum, "The cluster has no quorum: nothing of it can be changed.")
	}
	if m.TargetNode == "" {
		return nil
	}
	query := hypervisor.MigrationQuery{Node: m.TargetNode}
	if m.order.Storage != nil {
		query.Storage = *m.order.Storage
	}
	check, err := asked(ctx, m, m.hostID, endpoint.Lifecycle, func(ctx context.Context, at hypervisor.Migrator) (
		hypervisor.MigrationCheck, error) {
		return at.CheckMigration(ctx, m.ref, query)
	})
	if err != nil {
		return plugin.Problem(err)
	}
	m.Live = check.Live
	for _, f := range check.Blockers {
		m.block(f.Code, "%s", f.Message)
	}
	for _, f := range check.Warnings {
		m.warn(f.Code, "%s", f.Message)
	}
	told := len(m.Blockers) > 0
	if !told && check.Nodes != nil && m.order.Storage == nil && !slices.Contains(check.Nodes, m.TargetNode) {
		m.block(hypervisor.MigrationNodeForbidden, "The hypervisor does not let the guest go to %s.", m.TargetNode)
	}
	m.bound()
	if m.TargetNode == m.ref.Node {
		return nil
	}
	if err := m.readPlace(ctx, m.hostID, nil); err != nil {
		if !told {
			return plugin.Problem(err)
		}
		m.warn(findingNotRetrieved, "The node %s could not be asked what it has.", m.TargetNode)
		return nil
	}
	m.localDisks(check)
	m.checkTargetStorage(true)
	m.checkBridges()
	m.checkSnapshots()
	m.reckonWithin()
	return nil
}

// bound blocks what the configuration has of the node itself.
func (m *migrationCheck) bound() {
	for _, d := range m.config.Disks {
		switch {
		case d.Local && m.ref.Kind == hypervisor.Container:
			m.block(hypervisor.MigrationBindMount, "%s is a directory or device of the node, which stays there.", d.Key)
		case d.Local:
			m.block(hypervisor.MigrationPassthrough, "%s is a device of the node.", d.Key)
		}
	}
}

// readPlace asks what the target node has.
func (m *migrationCheck) readPlace(ctx context.Context, hostID int64, number *int64) (err error) {
	query := hypervisor.PlacementQuery{Kind: m.ref.Kind, Node: m.TargetNode, Name: m.guest.Name, Number: number,
		ID: true, Storages: true, Bridges: true}
	m.place, err = asked(ctx, m, hostID, endpoint.Monitoring, func(ctx context.Context, at hypervisor.Provisioner) (
		hypervisor.Placement, error) {
		return at.Placement(ctx, query)
	})
	return err
}

func (m *migrationCheck) placeStorage(name string) *hypervisor.PlacementStorage {
	for i, s := range m.place.Storages {
		if s.Name == name {
			return &m.place.Storages[i]
		}
	}
	return nil
}

// localDisks are those that the hypervisor names, and where it names none, those on storages that nodes do not share.
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

// copied takes the disks of the configuration that a move copies.
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

// checkTargetStorage looks whether the disks fit: on the wanted storage, or on those of the same names.
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
	if m.order.Storage != nil {
		wants[*m.order.Storage] += 0
	}
	for name, bytes := range wants {
		s := m.placeStorage(name)
		switch {
		case s == nil && within && m.order.Storage == nil && m.ref.Kind == hypervisor.VM:
			// The hypervisor itself says whether the node has what the VM needs; the token may not see all storages.
			m.warn(findingNotRetrieved, "Whether the node %s has the storage %s could not be looked at.", m.TargetNode, name)
		case s == nil:
			m.block(hypervisor.MigrationStorage, "The node %s has no storage %s.", m.TargetNode, name)
		case m.ref.Kind == hypervisor.VM && !s.VMs, m.ref.Kind == hypervisor.Container && !s.Containers:
			m.block(hypervisor.MigrationStorage, "The storage %s of the node %s holds no such disks.", name, m.TargetNode)
		case !s.Available:
			m.block(hypervisor.MigrationStorage, "The storage %s of the node %s is not available.", name, m.TargetNode)
		case s.Free != nil && *s.Free < bytes && s.Thin:
			m.warn(hypervisor.MigrationRoom, "%s", thinRoom(*s, bytes))
		case s.Free != nil && *s.Free < bytes:
			m.block(hypervisor.MigrationRoom, "The storage %s of the node %s has room for %d GiB, and %d GiB are needed.", name, m.TargetNode,
				*s.Free>>30, gibibytes(bytes))
		}
	}
}

// checkBridges looks for the bridges of the guest's NICs.
func (m *migrationCheck) checkBridges() {
	if len(m.place.Bridges) == 0 && len(m.config.NICs) > 0 {
		m.warn(findingNotRetrieved, "Which bridges the node %s has could not be looked at.", m.TargetNode)
		return
	}
	for _, nic := range m.config.NICs {
		if nic.Bridge != "" && !slices.Contains(m.place.Bridges, nic.Bridge) {
			m.block(findingBridge, "The node %s has no bridge %s, which %s is attached to.", m.TargetNode, nic.Bridge, nic.Key)
		}
	}
}

// checkSnapshots tells of snapshots on disks that are copied.
func (m *migrationCheck) checkSnapshots() {
	switch {
	case len(m.snapshots) == 0 || len(m.Disks) == 0:
	case m.Running && m.Live:
		m.block(hypervisor.MigrationSnapshots, "The guest runs and has %d snapshots on disks that are copied; delete them or stop it first.",
			len(m.snapshots))
	case !slices.ContainsFunc(m.Blockers, func(f MigrationFinding) bool { return f.Code == hypervisor.MigrationSnapshots }):
		m.warn(hypervisor.MigrationSnapshots, "The guest has %d snapshots on disks that are copied, which some storages refuse.",
			len(m.snapshots))
	}
}

const (
	// copyRate is what copying is reckoned with, in bytes a second: a disk or a gigabit network that is used otherwise too.
	copyRate = 100 << 20
	// switching is what stopping and starting a guest is reckoned with, in seconds.
	switching = 30
)

// reckonWithin tells for how long the guest will be away.
func (m *migrationCheck) reckonWithin() {
	seconds := int64(0)
	switch {
	case !m.Running:
		m.DowntimeBasis = "It does not run."
	case m.Live:
		seconds, m.DowntimeBasis = 1, "It goes on running; the switch to the other node takes about a second at most."
	case m.Bytes == nil:
		m.DowntimeBasis = "The size of a disk is not known."
		return
	default:
		seconds = switching + *m.Bytes/copyRate
		m.DowntimeBasis = fmt.Sprintf("%d GiB at an assumed 100 MiB a second, and %d seconds for stopping and starting.", *m.Bytes>>30,
			switching)
	}
	m.DowntimeS = &seconds
}
