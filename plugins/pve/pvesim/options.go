package pvesim

import (
	"fmt"
	"time"
)

// Scenarios that [Options.Scenario] names.
const (
	ScenarioOne     = "one"     // one standalone host
	ScenarioCluster = "cluster" // several nodes in one cluster
	ScenarioFleet   = "fleet"   // several clusters and standalone hosts; see NewFleet
)

// Options says what to simulate. The zero value is a standalone host with twelve guests.
type Options struct {
	// Scenario is one of the Scenario constants; empty means ScenarioOne, or
	// ScenarioCluster when Nodes is above 1.
	Scenario string
	// Nodes is the number of nodes: default 1, in a cluster 3, in a fleet 6
	// over all hosts together.
	Nodes int
	// FleetNodes is how many nodes each installation of a fleet has; zero means
	// clusters of three and standalone hosts in turn.
	FleetNodes int
	// Loopbacks lets each node of a cluster listen at an address of its own,
	// from 127.0.0.1 on, all on one port, and the cluster tell these as its
	// nodes' addresses. Start is then to be given 127.0.0.1.
	Loopbacks bool
	// Guests is the number of guests over all nodes. Default 12 per host; negative means none.
	Guests int
	// Seed makes names, figures, secrets and identifiers repeatable. Zero is a seed like any other.
	Seed uint64
	// Recommended gives the service's roles what today's releases want besides
	// the roles of the product's token script.
	Recommended bool
	// Latency is added to every answer.
	Latency time.Duration
	// AuthDelay is how late a 401 comes. Zero means the real server's three
	// seconds; negative means at once.
	AuthDelay time.Duration
	// RebootTime is how long a node that reboots is away; zero means 90 s.
	RebootTime time.Duration
	// ResourcesLag is the age that the figures in /cluster/resources may reach:
	// zero means the real ten seconds, negative means always fresh.
	ResourcesLag time.Duration
	// TaskDuration is how long an ordinary task runs: zero means half a second,
	// negative means that it is over before its UPID is answered.
	TaskDuration time.Duration
	// LongPStart gives UPIDs a process start of nine hexadecimal digits, as
	// hosts have after about 497 days.
	LongPStart bool
	// Version is what /version reports; default 9.2.11. Older ones lack what
	// came later: parameters and endpoints, the message in error bodies (8.4),
	// privileges (8, 9), pressure and host memory figures (9), the uniform text
	// of a 401 (9.1.5).
	Version string
	// ClusterName is the name in /cluster/status; default "sim".
	ClusterName string
	// FirstVMID is the lowest guest id; default 100.
	FirstVMID int
	// OfflineStatus is what the entry node answers for a node that is off: 595 or 596. Default 596.
	OfflineStatus int
	// Bare leaves out the service user, its roles and tokens, and the guests:
	// an installation as it comes.
	Bare bool
	// SharedStorages are storages for backups that other clusters have too.
	SharedStorages []*SharedStorage
	// FleetStorage is the name of a storage for backups that all installations
	// of a fleet have; empty for none.
	FleetStorage string
	// BackupFolder is a folder of this machine below which the backups on the
	// storage "local" of the first node are files, in dump, as they are on a
	// real node: a file that somebody brings there is a backup, and one that is
	// gone is none. Empty keeps them in memory.
	BackupFolder string
	// NodePrefix starts every node name; default "pve".
	NodePrefix string
}

// Defaults of the options, as measured at the original.
const (
	defaultAuthDelay    = 3 * time.Second
	defaultResourcesLag = 10 * time.Second
	defaultRebootTime   = 90 * time.Second
	defaultTaskDuration = 500 * time.Millisecond
)

// orDefault returns the default for zero, and zero for a negative duration.
func orDefault(d, def time.Duration) time.Duration {
	switch {
	case d == 0:
		return def
	case d < 0:
		return 0
	}
	return d
}

// withDefaults fills in defaults and refuses contradictions.
func (o Options) withDefaults() (Options, error) {
	if o.Scenario == "" {
		o.Scenario = ScenarioOne
		if o.Nodes > 1 {
			o.Scenario = ScenarioCluster
		}
	}
	switch o.Scenario {
	case ScenarioOne:
		if o.Nodes > 1 {
			return o, fmt.Errorf("scenario %q has one node, not %d", o.Scenario, o.Nodes)
		}
		o.Nodes = 1
	case ScenarioCluster:
		if o.Nodes == 0 {
			o.Nodes = 3
		}
	case ScenarioFleet:
		return o, fmt.Errorf("scenario %q is made by NewFleet", o.Scenario)
	default:
		return o, fmt.Errorf("unknown scenario %q (one, cluster, fleet)", o.Scenario)
	}
	if o.Nodes < 1 || o.Nodes > 200 {
		return o, fmt.Errorf("number of nodes %d is not in 1 to 200", o.Nodes)
	}
	if o.Guests == 0 {
		o.Guests = 12
	}
	if o.Guests < 0 || o.Bare {
		o.Guests = 0
	}
	if o.Guests > 200_000 {
		return o, fmt.Errorf("number of guests %d is above 200000", o.Guests)
	}
	o.AuthDelay = orDefault(o.AuthDelay, defaultAuthDelay)
	o.ResourcesLag = orDefault(o.ResourcesLag, defaultResourcesLag)
	o.RebootTime = orDefault(o.RebootTime, defaultRebootTime)
	o.TaskDuration = orDefault(o.TaskDuration, defaultTaskDuration)
	if o.Version == "" {
		o.Version = "9.2.11"
	}
	if _, err := parseRelease(o.Version); err != nil {
		return o, err
	}
	if o.ClusterName == "" {
		o.ClusterName = "sim"
	}
	if o.FirstVMID == 0 {
		o.FirstVMID = 100
	}
	if o.FirstVMID < 100 {
		return o, fmt.Errorf("first guest id %d is below 100", o.FirstVMID)
	}
	switch o.OfflineStatus {
	case 0:
		o.OfflineStatus = 596
	case 595, 596:
	default:
		return o, fmt.Errorf("offline status %d is neither 595 nor 596", o.OfflineStatus)
	}
	if o.NodePrefix == "" {
		o.NodePrefix = "pve"
	}
	return o, nil
}
