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
	ID               int64     `json:"id" example:"12" doc:"ID in Hostler"`
	Kind             string    `json:"kind" enum:"vm,container"`
	Name             string    `json:"name" example:"web-1"`
	VMID             *int64    `json:"vmid" example:"101" doc:"VMID; null if the hypervisor has no VMIDs"`
	Ref              string    `json:"guest_ref" example:"101" doc:"ID on the hypervisor, in any format"`
	Status           string    `json:"status" enum:"running,stopped,paused,suspended,unknown,pending" doc:"unknown: no host of the cluster responds, or the hypervisor no longer lists the guest. pending: a job is working on the guest"`
	JobID            *int64    `json:"job_id" doc:"The unfinished job that works on it"`
	HostID           int64     `json:"host_id" example:"1"`
	Host             string    `json:"host" example:"lab" doc:"Name of the host"`
	Cluster          string    `json:"cluster" example:"prod" doc:"Name of the cluster; empty for a standalone host"`
	Node             string    `json:"node" example:"pve1"`
	Template         bool      `json:"template" doc:"true for a template, which cannot be started; a container template cannot be adopted"`
	Lock             string    `json:"lock" doc:"Operation that locks it on the hypervisor; empty if it is not locked" example:"backup"`
	Pool             string    `json:"pool"`
	Tags             []string  `json:"tags"`
	CPU              *float64  `json:"cpu" doc:"CPU usage as a fraction of its cores, 0 to 1" example:"0.25"`
	CPUs             *float64  `json:"cpus" example:"2"`
	MemoryBytes      *int64    `json:"memory_bytes"`
	MemoryTotalBytes *int64    `json:"memory_total_bytes"`
	DiskBytes        *int64    `json:"disk_bytes" doc:"Used bytes as the hypervisor reports them; 0 for a VM whose disks the hypervisor does not inspect"`
	DiskTotalBytes   *int64    `json:"disk_total_bytes"`
	NetInBytes       *int64    `json:"net_in_bytes" doc:"Received bytes since its start"`
	NetOutBytes      *int64    `json:"net_out_bytes" doc:"Sent bytes since its start"`
	DiskReadBytes    *int64    `json:"disk_read_bytes" doc:"Read bytes since its start"`
	DiskWriteBytes   *int64    `json:"disk_write_bytes" doc:"Written bytes since its start"`
	UptimeS          *int64    `json:"uptime_s"`
	IsSelf           bool      `json:"is_self" doc:"true if the service runs in this guest"`
	SeenAt           time.Time `json:"seen_at" doc:"When the hypervisor last reported the guest. A poll that failed or did not find the guest does not change it"`
	// FiguresAt is older than SeenAt where the hypervisor tells figures less often than states.
	FiguresAt *time.Time `json:"figures_at" doc:"When the usage figures were measured; some hypervisors measure less often than they list. Null if there are none"`
	// Addresses are asked for by Actor.Network alone.
	Addresses   []string   `json:"addresses" nullable:"true" example:"[\"192.0.2.5\"]" doc:"Addresses that the guest reported when its network was last read; null if never read. Lists do not read them"`
	AddressesAt *time.Time `json:"addresses_at" doc:"When the guest reported its addresses"`
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
