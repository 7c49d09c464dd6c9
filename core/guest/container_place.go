package guest

import (
	"cmp"
	"context"
	"slices"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// ContainerRequest describes a container that another program will create, such
// as an install script. A nil field selects the usual value, or the one with
// the most free space.
type ContainerRequest struct {
	HostID int64
	Node   string
	Name   string
	// CTID is the number that it should have.
	CTID *int64
	// Storage is for the disks. TemplateStorage is for the template that the
	// container is made of.
	Storage, TemplateStorage, Bridge *string
	// DiskGB is the size of the disks in GiB. Zero means unknown.
	DiskGB int64
	// Usual contains names that are used if they exist and the order names no
	// others.
	Usual hypervisor.DefaultNames
}

// ContainerPlace is the result of PlaceContainer: where the container can be
// created.
type ContainerPlace struct {
	ClusterID int64
	HostName  string
	// ID is the requested ID. It is empty if any ID will do.
	ID                               hypervisor.GuestID
	Storage, TemplateStorage, Bridge string
	place                            *place
}

// PlaceContainer asks the hypervisor where a container can be created. All
// faults of the order are one problem invalid. Other problems are those of
// host.Call.
func PlaceContainer(ctx context.Context, a *Actor, order ContainerRequest) (*ContainerPlace, error) {
	p, err := a.placeOn(ctx, order.HostID, "ctid", hypervisor.PlacementQuery{Kind: hypervisor.Container, Node: order.Node, Name: order.Name,
		Number: order.CTID, ID: order.CTID != nil, Storages: true, Bridges: true})
	if err != nil {
		return nil, err
	}
	p.checkName(order.Name)
	c := &ContainerPlace{ClusterID: p.clusterID, HostName: p.hostName, place: p}
	if order.CTID != nil {
		c.ID = p.ID
	}
	bytes := order.DiskGB << 30
	disks := func(s hypervisor.PlacementStorage) bool { return s.Containers }
	c.Storage = p.chooseStorage("storage", order.Storage, order.Usual.Storage, bytes, disks,
		"no visible storage of the node accepts container disks and has enough free space")
	if order.Storage != nil {
		p.checkStorage("storage", c.Storage, hypervisor.Container, bytes)
	}
	templates := func(s hypervisor.PlacementStorage) bool { return s.Templates }
	c.TemplateStorage = p.chooseStorage("template_storage", order.TemplateStorage, order.Usual.Storage, 0, templates,
		"no visible storage of the node stores templates")
	if order.TemplateStorage != nil && !slices.ContainsFunc(p.Storages, func(s hypervisor.PlacementStorage) bool {
		return s.Name == c.TemplateStorage && s.Available && templates(s)
	}) {
		p.refuse("template_storage", "value_error", "the node does not have this storage, or the storage does not store templates or "+
			"is unavailable")
	}
	switch {
	case order.Bridge != nil && !slices.Contains(p.Bridges, *order.Bridge):
		p.refuse("bridge", "value_error", "the node does not have this bridge, or the monitoring token cannot see it")
	case order.Bridge != nil:
		c.Bridge = *order.Bridge
	case order.Usual.Bridge != "" && slices.Contains(p.Bridges, order.Usual.Bridge):
		c.Bridge = order.Usual.Bridge
	case len(p.Bridges) > 0:
		c.Bridge = p.Bridges[0]
	default:
		p.refuse("bridge", "value_error", "the node has no visible bridge")
	}
	return c, p.err()
}

// chooseStorage returns the requested storage, else the usual one if it fits,
// else the one with the most free space among those that fit. It records the
// fault none if no storage fits.
func (p *place) chooseStorage(field string, wanted *string, usual string, bytes int64, fits func(hypervisor.PlacementStorage) bool,
	none string) string {
	if wanted != nil {
		return *wanted
	}
	// The usual storage sorts before all others, whatever its free space is.
	free := func(s hypervisor.PlacementStorage) int64 {
		if s.Name == usual {
			return 1 << 62
		}
		return *cmp.Or(s.Free, new(int64))
	}
	fitting := slices.DeleteFunc(slices.Clone(p.Storages), func(s hypervisor.PlacementStorage) bool {
		return !s.Available || !fits(s) || !s.Thin && s.Free != nil && *s.Free < bytes
	})
	if len(fitting) == 0 {
		p.refuse(field, "value_error", "%s", none)
		return ""
	}
	return slices.MaxFunc(fitting, func(a, b hypervisor.PlacementStorage) int { return cmp.Compare(free(a), free(b)) }).Name
}

// Reserve reserves the requested ID for the job that the transaction enqueues.
// The parameters of the job must contain it as spec.ID. If another job has
// reserved it, the problem is invalid. Without a requested ID it does nothing.
func (c *ContainerPlace) Reserve(ctx context.Context, tx *db.Tx) error {
	if c.ID == "" {
		return nil
	}
	return c.place.reserve(ctx, tx, true)
}
