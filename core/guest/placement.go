package guest

import (
	"context"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Placement is what a new guest on a node can use, for a form.
type Placement struct {
	Node     string             `json:"node" example:"pve1"`
	Number   *int64             `json:"number" example:"105" doc:"An unused VMID that nothing reserves; null if the hypervisor has no VMIDs"`
	Storages []PlacementStorage `json:"storages" doc:"Known storages of the node"`
	Bridges  []string           `json:"bridges" example:"[\"vmbr0\"]" doc:"Networks of the node that a NIC can use"`
	OSTypes  []string           `json:"ostypes" example:"[\"l26\"]" doc:"Types of operating systems of VMs, as the hypervisor names them; the usual one first"`
	Limits   PlacementLimits    `json:"limits" doc:"Upper limits of the hypervisor; null for no limit"`
}

// PlacementStorage is a storage as a place for a new guest.
type PlacementStorage struct {
	Name       string `json:"name" example:"local-lvm"`
	VMs        bool   `json:"vms" doc:"true if it can store disks of VMs"`
	Containers bool   `json:"containers" doc:"true if it can store disks of containers"`
	Backups    bool   `json:"backups" doc:"true if it can store backups"`
	Templates  bool   `json:"templates" doc:"true if it can store container templates"`
	Shared     bool   `json:"shared" doc:"true if other nodes have the same storage"`
	Available  bool   `json:"available" doc:"true if it can be used now"`
	Thin       bool   `json:"thin" doc:"Disks use space only as data is written, so they can be larger than the free space"`
	FreeBytes  *int64 `json:"free_bytes" example:"68719476736" doc:"Free bytes; null if the hypervisor does not report it"`
}

// PlacementLimits are upper and lower limits for a guest.
type PlacementLimits struct {
	Cores     *int64 `json:"cores" example:"128"`
	MemoryMB  *int64 `json:"memory_mb" example:"4178944"`
	DiskGB    *int64 `json:"disk_gb" example:"131072" doc:"Maximum size of one disk"`
	MinNumber *int64 `json:"min_number" example:"100" doc:"Lowest VMID that a guest can have"`
	MaxNumber *int64 `json:"max_number" example:"999999999" doc:"Highest VMID that a guest can have"`
}

// Placement asks the host's hypervisor what a new guest on a node can use. It
// reserves nothing. An unknown node is the problem not_found; others are those
// of host.Call.
func (a *Actor) Placement(ctx context.Context, hostID int64, node string) (Placement, error) {
	found, err := a.placeOn(ctx, hostID, "number", hypervisor.PlacementQuery{Kind: hypervisor.VM, Node: node, ID: true, Storages: true,
		Bridges: true})
	if err != nil {
		return Placement{}, err
	}
	p := Placement{
		Node: node, Number: found.Number, Storages: []PlacementStorage{}, Bridges: []string{}, OSTypes: []string{},
		Limits: PlacementLimits{
			Cores: bound(found.Limits.Cores), MemoryMB: bound(found.Limits.MemoryMB), DiskGB: bound(found.Limits.DiskGB),
			MinNumber: bound(found.Limits.MinNumber), MaxNumber: bound(found.Limits.MaxNumber),
		},
	}
	for _, s := range found.Storages {
		p.Storages = append(p.Storages, PlacementStorage{
			Name: host.Clean(s.Name), VMs: s.VMs, Containers: s.Containers, Backups: s.Backups, Templates: s.Templates, Shared: s.Shared,
			Available: s.Available, FreeBytes: s.Free, Thin: s.Thin,
		})
	}
	for _, name := range found.Bridges {
		p.Bridges = append(p.Bridges, host.Clean(name))
	}
	for _, word := range found.OSTypes {
		p.OSTypes = append(p.OSTypes, host.Clean(word))
	}
	return p, nil
}

// bound converts a limit for an answer. Zero, which means no limit, becomes
// nil.
func bound(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}
