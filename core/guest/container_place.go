package guest

import (
	"cmp"
	"context"
	"slices"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// ContainerOrder is a container that something else than the service will make, as it is asked for; nil takes what is usual or has most
// room.
type ContainerOrder struct {
	HostID int64
	Node   string
	Name   string
	// CTID is the number that it should have.
	CTID *int64
	// Storage is for its disks, and TemplateStorage for the template that it is made of.
	Storage, TemplateStorage, Bridge *string
	// DiskGB is how much room its disks need, in GiB; zero where nobody knows.
	DiskGB int64
	// Usual is what is taken where it is there and nothing else was asked for.
	Usual hypervisor.Usual
}

// ContainerPlace is where such a container has its place.
type ContainerPlace struct {
	ClusterID int64
	HostName  string
	// ID is the one that was asked for; empty for any.
	ID                               hypervisor.GuestID
	Storage, TemplateStorage, Bridge string
	place                            *place
}

// PlaceContainer asks the hypervisor where a container can be made. All that is wrong with the order is one problem invalid;
// other problems are those of host.Ask.
func PlaceContainer(ctx context.Context, a *Actor, order ContainerOrder) (*ContainerPlace, error) {
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
		"no storage of the node that can be seen holds disks of containers and has the room")
	if order.Storage != nil {
		p.checkStorage("storage", c.Storage, hypervisor.Container, bytes)
	}
	templates := func(s hypervisor.PlacementStorage) bool { return s.Templates }
	c.TemplateStorage = p.chooseStorage("template_storage", order.TemplateStorage, order.Usual.Storage, 0, templates,
		"no storage of the node that can be seen holds templates")
	if order.TemplateStorage != nil && !slices.ContainsFunc(p.Storages, func(s hypervisor.PlacementStorage) bool {
		return s.Name == c.TemplateStorage && s.Available && templates(s)
	}) {
		p.refuse("template_storage", "value_error", "the node has no such storage, or it holds no templates, or is not available")
	}
	switch {
	case order.Bridge != nil && !slices.Contains(p.Bridges, *order.Bridge):
		p.refuse("bridge", "value_error", "the node has no such bridge, or the monitoring token does not see it")
	case order.Bridge != nil:
		c.Bridge = *order.Bridge
	case order.Usual.Bridge != "" && slices.Contains(p.Bridges, order.Usual.Bridge):
		c.Bridge = order.Usual.Bridge
	case len(p.Bridges) > 0:
		c.Bridge = p.Bridges[0]
	default:
		p.refuse("bridge", "value_error", "the node has no bridge that can be seen")
	}
	return c, p.err()
}

// chooseStorage is the storage that was asked for, or else the usual one where it fits, or of all that fit the one with the most room.
func (p *place) chooseStorage(field string, wanted *string, usual string, bytes int64, fits func(hypervisor.PlacementStorage) bool,
	none string) string {
	if wanted != nil {
		return *wanted
	}
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

// Reserve keeps the id that was asked for from other jobs, for a job that the transaction enqueues, whose parameters have it as
// spec.ID. It is problem invalid where another one has it by now.
func (c *ContainerPlace) Reserve(ctx context.Context, tx *db.Tx) error {
	if c.ID == "" {
		return nil
	}
	return c.place.reserve(ctx, tx, true)
}
