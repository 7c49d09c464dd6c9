package alert

import (
	"slices"
	"strings"
)

// Kind is what a rule watches.
type Kind string

// The kinds. Figures are measured upwards from zero. Objects that end or fill
// up are counted in days downwards. The other kinds are true or false.
const (
	CPU       Kind = "cpu"
	Memory    Kind = "memory"
	Disk      Kind = "disk"
	NetIn     Kind = "net_in"
	NetOut    Kind = "net_out"
	DiskRead  Kind = "disk_read"
	DiskWrite Kind = "disk_write"

	StorageFills        Kind = "storage_fills"
	CertificateExpiring Kind = "certificate_ending"
	TokenExpiring       Kind = "token_ending"
	NoData              Kind = "no_data"

	HostUnreachable   Kind = "host_away"
	NodeOffline       Kind = "node_away"
	QuorumLost        Kind = "quorum_lost"
	GuestDown         Kind = "guest_down"
	BackupStale       Kind = "backup_stale"
	BackupUnlisted    Kind = "backup_unlisted"
	TokenPrivileges   Kind = "token_privileges"
	JobFailed         Kind = "job_failed"
	AppMissing        Kind = "app_missing"
	VersionsDiffer    Kind = "versions_differ"
	SubscriptionEnded Kind = "subscription_ended"
	UpdateAvailable   Kind = "update_available"
	TaskFailed        Kind = "task_failed"
	ClockSkew         Kind = "clock_skew"
)

// Unit is the unit of a kind's threshold.
type Unit string

// The units; kinds that are so or not have none.
const (
	Percent        Unit = "percent"
	BytesPerSecond Unit = "bytes_per_second"
	Days           Unit = "days"
	Minutes        Unit = "minutes"
	Seconds        Unit = "seconds"
)

// KindInfo describes a kind for people who write rules.
type KindInfo struct {
	Kind    Kind   `json:"kind" example:"cpu"`
	Summary string `json:"summary" example:"CPU usage"`
	// Unit is nil for kinds without a threshold.
	Unit *Unit `json:"unit" enum:"percent,bytes_per_second,days,minutes,seconds" doc:"Unit of the threshold; null for kinds that are either true or false"`
	// Below says that less is worse.
	Below bool `json:"below" doc:"true if a value at or below the threshold is a breach, as for remaining days"`
	// Most bounds the threshold.
	Most *float64 `json:"most" example:"100" doc:"Highest allowed threshold; null for kinds without a threshold"`
	// Targets are the kinds of things that it can be about.
	Targets []string `json:"targets" nullable:"false" example:"[\"vm\",\"node\"]" doc:"Kinds of objects that it can watch; empty for any kind that jobs work on"`

	// seldom says that it is looked at every few minutes only.
	seldom bool
	// problems are the kinds of core/cluster that it is found by.
	problems []string
}

// Limits of thresholds by unit.
const (
	maxPercent = 100
	maxRate    = 1e15
	maxDays    = 3650
	maxEnding  = 30
	maxMinutes = 7 * 24 * 60
	maxSkew    = 24 * 3600
)

// measurable are the objects with samples; of storages only the use is
// measured.
var measurable = []string{"vm", "app", "container", "node", "host"}

// measured declares a kind that compares a measured value with a threshold.
func measured(kind Kind, summary string, unit Unit, most float64, targets []string) KindInfo {
	return KindInfo{Kind: kind, Summary: summary, Unit: &unit, Most: &most, Targets: targets}
}

// stated declares a kind that reports problems which the service knows, without
// a threshold.
func stated(kind Kind, summary string, problems []string, targets ...string) KindInfo {
	return KindInfo{Kind: kind, Summary: summary, Targets: append([]string{}, targets...), problems: problems}
}

// kinds are all kinds, in the order in which they are listed.
var kinds = []KindInfo{
	measured(CPU, "CPU usage", Percent, maxPercent, measurable),
	measured(Memory, "Memory usage", Percent, maxPercent, measurable),
	measured(Disk, "Disk usage: the root disk of a container, the system disk of a node", Percent, maxPercent,
		[]string{"app", "container", "node", "host", "storage"}),
	measured(NetIn, "Incoming traffic", BytesPerSecond, maxRate, []string{"vm", "app", "container", "host"}),
	measured(NetOut, "Outgoing traffic", BytesPerSecond, maxRate, []string{"vm", "app", "container", "host"}),
	measured(DiskRead, "Disk reads", BytesPerSecond, maxRate, []string{"vm", "app", "container", "host"}),
	measured(DiskWrite, "Disk writes", BytesPerSecond, maxRate, []string{"vm", "app", "container", "host"}),
	below(measured(StorageFills, "Days until the storage is full at the rate of the last two weeks", Days, maxDays,
		[]string{"storage"}), true),
	below(found(measured(CertificateExpiring, "Days until the certificate expires", Days, maxEnding, []string{"host", "node"}),
		"certificate_ending"), false),
	below(found(measured(TokenExpiring, "Days until a token expires", Days, maxEnding, []string{"host"}), "token_ending"), false),
	found(measured(NoData, "Minutes without metrics of a running object or an available storage", Minutes, maxMinutes,
		append(slices.Clone(measurable), "storage"))),
	measured(ClockSkew, "Difference in seconds between the clocks of an enrolled node and the service", Seconds, maxSkew,
		[]string{"node"}),
	stated(HostUnreachable, "The host does not respond", []string{"host_away"}, "host"),
	stated(NodeOffline, "The node is off", []string{"node_away"}, "node"),
	stated(QuorumLost, "The cluster has no quorum", []string{"quorum_lost"}, "cluster"),
	stated(GuestDown, "The guest is not running", nil, "vm", "app", "container"),
	seldom(stated(BackupStale, "The guest has no backup that is recent enough", []string{"backup_never", "backup_old"}, "vm", "app",
		"container")),
	stated(BackupUnlisted, "The backups of the storage cannot be listed", []string{"backup_unlisted"}, "storage"),
	stated(TokenPrivileges, "A token lacks privileges", []string{"token_privileges"}, "host"),
	stated(JobFailed, "The last job of its kind on the object failed within a day", []string{"job_failed"}),
	stated(TaskFailed, "The last task of its type on the object that others started on the hypervisor failed within a day", nil, "vm",
		"app", "container", "node"),
	stated(AppMissing, "The container of the app is missing", []string{"app_missing"}, "app"),
	stated(VersionsDiffer, "The nodes of the cluster run different releases", []string{"versions_differ"}, "cluster"),
	stated(SubscriptionEnded, "The subscription of the node has expired", []string{"subscription_ended"}, "node"),
	seldom(stated(UpdateAvailable, "A newer release of the service can be installed", nil, "service")),
}

// below makes the alert start when the value falls below the threshold.
func below(k KindInfo, rarely bool) KindInfo { k.Below, k.seldom = true, rarely; return k }

// seldom marks a kind that is checked every few minutes only, because it costs
// more or changes slowly.
func seldom(k KindInfo) KindInfo { k.seldom = true; return k }

// found adds to a kind the problems of core/cluster by which it is found.
func found(k KindInfo, problems ...string) KindInfo { k.problems = problems; return k }

// Kinds returns all kinds.
func Kinds() []KindInfo { return slices.Clone(kinds) }

// kindOf returns the description of a kind, or nil.
func kindOf(kind Kind) *KindInfo {
	for i := range kinds {
		if kinds[i].Kind == kind {
			return &kinds[i]
		}
	}
	return nil
}

// kindNames lists the kinds for an error text.
func kindNames() string {
	names := make([]string, len(kinds))
	for i := range kinds {
		names[i] = string(kinds[i].Kind)
	}
	return strings.Join(names, ", ")
}

// sampled are the kinds whose values come from samples.
var sampled = []string{string(CPU), string(Memory), string(Disk), string(NetIn), string(NetOut), string(DiskRead), string(DiskWrite)}

// breach reports whether a value is a breach. clear reports whether it is over;
// between the two levels the state stays.
func (k *KindInfo) breach(value, threshold float64) bool {
	if k.Below {
		return value <= threshold
	}
	return value >= threshold
}

// clear reports whether a value is on the good side of a level.
func (k *KindInfo) clear(value, level float64) bool {
	if k.Below {
		return value > level
	}
	return value < level
}
