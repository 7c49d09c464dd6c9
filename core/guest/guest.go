package guest

import (
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// Kinds of guests, as in package sdk/hypervisor.
const (
	VM        = "vm"
	Container = "container"
)

// StatusPending is the status of a guest while a job works on it, whatever the
// hypervisor reports.
const StatusPending = "pending"

// Guest is one VM or container. Figures that the hypervisor did not report, or
// that are unknown because its host does not answer, are null. The JSON names
// are those of the API.
type Guest struct {
	ID               int64     `json:"id" example:"12" doc:"Id in this service"`
	Kind             string    `json:"kind" enum:"vm,container"`
	Name             string    `json:"name" example:"web-1"`
	VMID             *int64    `json:"vmid" example:"101" doc:"Number at the hypervisor; null where its guests have none"`
	Ref              string    `json:"guest_ref" example:"101" doc:"Id at the hypervisor, whatever its form"`
	Status           string    `json:"status" enum:"running,stopped,paused,suspended,unknown,pending" doc:"unknown while no host of its cluster answers, or answers without it; pending while a job works on it"`
	JobID            *int64    `json:"job_id" doc:"The unfinished job that works on it"`
	HostID           int64     `json:"host_id" example:"1"`
	Host             string    `json:"host" example:"lab" doc:"Name of the host"`
	Cluster          string    `json:"cluster" example:"prod" doc:"Name of the cluster; empty for a machine alone"`
	Node             string    `json:"node" example:"pve1"`
	Template         bool      `json:"template" doc:"A template: it cannot be started, and a container that is one cannot be adopted"`
	Lock             string    `json:"lock" doc:"What locks it at the hypervisor; empty when nothing does" example:"backup"`
	Pool             string    `json:"pool"`
	Tags             []string  `json:"tags"`
	CPU              *float64  `json:"cpu" doc:"Used part of its cores, 0 to 1" example:"0.25"`
	CPUs             *float64  `json:"cpus" example:"2"`
	MemoryBytes      *int64    `json:"memory_bytes"`
	MemoryTotalBytes *int64    `json:"memory_total_bytes"`
	DiskBytes        *int64    `json:"disk_bytes" doc:"As the hypervisor says; 0 of a VM where it does not look into disks"`
	DiskTotalBytes   *int64    `json:"disk_total_bytes"`
	NetInBytes       *int64    `json:"net_in_bytes" doc:"Since its start"`
	NetOutBytes      *int64    `json:"net_out_bytes" doc:"Since its start"`
	DiskReadBytes    *int64    `json:"disk_read_bytes" doc:"Since its start"`
	DiskWriteBytes   *int64    `json:"disk_write_bytes" doc:"Since its start"`
	UptimeS          *int64    `json:"uptime_s"`
	IsSelf           bool      `json:"is_self" doc:"The service itself runs in it"`
	SeenAt           time.Time `json:"seen_at" doc:"When the hypervisor last told of it. A poll that failed or did not find it does not move this"`
	// FiguresAt is older than SeenAt where the hypervisor tells figures less often than states.
	FiguresAt *time.Time `json:"figures_at" doc:"When its figures were measured, which a hypervisor may do less often than it tells of the guest; null when it has none"`
	// Addresses are asked for by Actor.Network alone.
	Addresses   []string   `json:"addresses" nullable:"true" example:"[\"192.0.2.5\"]" doc:"What the guest told of its addresses when its network was last read; null while it never did. No list asks for them"`
	AddressesAt *time.Time `json:"addresses_at" doc:"When it told of its addresses"`
	clusterID   int64
	uid         string
}

// ClusterID returns the cluster that the guest belongs to.
func (g *Guest) ClusterID() int64 { return g.clusterID }

// At returns the reference of the guest for its hypervisor, on the node where
// it was last seen.
func (g *Guest) At() hypervisor.GuestRef {
	return hypervisor.GuestRef{Kind: hypervisor.GuestKind(g.Kind), Node: g.Node, ID: hypervisor.GuestID(g.Ref), UID: g.uid}
}
