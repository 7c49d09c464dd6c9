package guest

import (
	"context"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Placement is what a new guest on a node can use, for a form.
type Placement struct {
	Node     string             `json:"node" example:"pve1"`
	Number   *int64             `json:"number" example:"105" doc:"A number that was free a moment ago and is reserved by nothing; null where guests have none"`
	Storages []PlacementStorage `json:"storages" doc:"Those of the node that can be seen"`
	Bridges  []string           `json:"bridges" example:"[\"vmbr0\"]" doc:"What a NIC on the node can be attached to"`
	OSTypes  []string           `json:"ostypes" example:"[\"l26\"]" doc:"The hypervisor's words for operating systems of VMs, the usual one first"`
	Limits   PlacementLimits    `json:"limits" doc:"The hypervisor's upper bounds; null for none"`
}

// PlacementStorage is a storage as a place for a new guest.
type PlacementStorage struct {
	Name       string `json:"name" example:"local-lvm"`
	VMs        bool   `json:"vms" doc:"It can hold disks of VMs"`
	Containers bool   `json:"containers" doc:"It can hold disks of containers"`
	Backups    bool   `json:"backups" doc:"It can hold backups"`
	Templates  bool   `json:"templates" doc:"It can hold the templates that containers are made of"`
	Shared     bool   `json:"shared" doc:"Other nodes see the same storage"`
	Available  bool   `json:"available" doc:"It can be used now"`
	Thin       bool   `json:"thin" doc:"Disks use space only as data is written, so they can be larger than the free space"`
	FreeBytes  *int64 `json:"free_bytes" example:"68719476736" doc:"What is left of it; null where the hypervisor does not say"`
}

// PlacementLimits are upper and lower limits for a guest.
type PlacementLimits struct {
	Cores     *int64 `json:"cores" example:"128"`
	MemoryMB  *int64 `json:"memory_mb" example:"4178944"`
	DiskGB    *int64 `json:"disk_gb" example:"131072" doc:"Of one disk"`
	MinNumber *int64 `json:"min_number" example:"100" doc:"The lowest number that a guest can have"`
	MaxNumber *int64 `json:"max_number" example:"999999999" doc:"The highest number that a guest can have"`
}

// Placement asks the host's hypervisor what a new guest on a node can use. It
// reserves nothing. An unknown node is the problem not_found; others are those
// of host.Ask.
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
