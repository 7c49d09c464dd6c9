// Package app knows apps: containers that were adopted, or installed from the
// catalog. Other containers are not apps; Discovered lists them.
//
// An app is a row of the table apps. It refers to the cache row of its
// container in the table guests, which every poll updates:
//
//	guests row present, no job on it        the status of the container
//	an unfinished job holds the container   pending
//	no guests row, absent < 15 minutes      unknown
//	no guests row, absent >= 15 minutes     missing
//
// The row of an app outlives the cache row of its container. What users entered
// for the app, such as its name and its web page, therefore survives a
// container that is absent for a while.
//
// Work on an app is work on its container: Request returns the request for
// package guest, with the app as the target of the job.
package app

import (
	"time"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/outbound"
)

// App is one app. The fields that come from the hypervisor are null while the
// container does not exist. CPU is a fraction of all cores from 0 to 1, CPUs
// the number of cores.
type App struct {
	ID               int64      `json:"id" example:"3"`
	Name             string     `json:"name" example:"wiki"`
	Slug             *string    `json:"slug" doc:"Slug of the catalog entry that it was installed from"`
	VMID             *int64     `json:"vmid" example:"105" doc:"VMID of the container; null if the hypervisor has no VMIDs"`
	GuestRef         string     `json:"guest_ref" example:"105" doc:"ID of the container on the hypervisor, in any format"`
	Status           string     `json:"status" enum:"running,stopped,paused,suspended,unknown,pending,missing" doc:"unknown: no host of its cluster responds, or the response lacks its container; missing: the container was absent for 15 minutes of successful polls; pending: a job works on it"`
	MissingSince     *time.Time `json:"missing_since" doc:"Since when the container of a missing app is absent; null otherwise"`
	JobID            *int64     `json:"job_id" doc:"The unfinished job that works on it"`
	Present          bool       `json:"present" doc:"true if the hypervisor has its container"`
	HostID           *int64     `json:"host_id" example:"1"`
	Host             *string    `json:"host" example:"lab"`
	Cluster          *string    `json:"cluster" example:"prod"`
	Node             *string    `json:"node" example:"pve1"`
	GuestName        *string    `json:"guest_name" doc:"Name of the container"`
	Lock             string     `json:"lock"`
	Tags             []string   `json:"tags"`
	CPU              *float64   `json:"cpu"`
	CPUs             *float64   `json:"cpus"`
	MemoryBytes      *int64     `json:"memory_bytes"`
	MemoryTotalBytes *int64     `json:"memory_total_bytes"`
	DiskBytes        *int64     `json:"disk_bytes"`
	DiskTotalBytes   *int64     `json:"disk_total_bytes"`
	NetInBytes       *int64     `json:"net_in_bytes"`
	NetOutBytes      *int64     `json:"net_out_bytes"`
	UptimeS          *int64     `json:"uptime_s"`
	WebPort          *int       `json:"web_port" example:"8080"`
	WebPath          *string    `json:"web_path" example:"/admin"`
	WebProtocol      *string    `json:"web_protocol" enum:"http,https"`
	IsSelf           bool       `json:"is_self" doc:"true if the service runs in this app"`
	SeenAt           *time.Time `json:"seen_at" doc:"When the hypervisor last reported the container"`
	FiguresAt        *time.Time `json:"figures_at" doc:"When the usage figures were measured; some hypervisors measure less often than they list. Null if there are none"`
	Addresses        []string   `json:"addresses" nullable:"true" example:"[\"192.0.2.5\"]" doc:"Addresses that the container reported when its network was last read; null if never read. Lists do not read them"`
	AddressesAt      *time.Time `json:"addresses_at" doc:"When the container reported its addresses"`
	AdoptedAt        time.Time  `json:"adopted_at"`

	// clusterID is nil once the host of the app was removed, and guestID while
	// the container does not exist.
	clusterID *int64
	guestID   *int64
}

// Store reads and adopts apps, and turns an app into a request for work on its
// container. All fields but Catalog are required.
type Store struct {
	Guests *guest.Store
	Actor  *guest.Actor
	Hosts  *host.Store
	// Rules say which addresses of containers may be tried.
	Rules outbound.Rules
	// Catalog tells where the web pages of apps are. If it is nil, no slug is
	// accepted and nothing is guessed.
	Catalog Catalog
}
