package pve

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// pageRows is the number of rows of a page: enough to make calls cheap, and few
// enough to keep memory small.
const pageRows = 256

// Inventory sends one request with a known membership and two without, and one
// more for samples if the release has them. Guests and storages are passed on
// while the list is read. Nodes come last, because their figures follow the
// guests. If the list contradicts the known membership, it is read again
// together with the membership, which makes two more requests.
func (h *Host) Inventory(ctx context.Context, query hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
	b, err := h.list(ctx, query, page)
	if errors.Is(err, errMembership) {
		if err := page(hypervisor.Page{Restart: true}); err != nil {
			return err
		}
		query.Known = nil
		b, err = h.list(ctx, query, page)
	}
	if err != nil || !query.Detail {
		return err
	}
	return h.samples(ctx, query.Since, b)
}

// list passes on everything except samples. errMembership means that the known
// membership is outdated.
func (h *Host) list(ctx context.Context, query hypervisor.InventoryQuery, page func(hypervisor.Page) error) (*pager, error) {
	m := keptMembership(query.Known)
	if m == nil {
		var err error
		if m, err = h.membership(ctx); err != nil {
			return nil, err
		}
	}
	b := &pager{to: page, shaper: newShaper(), members: m}
	if query.Detail {
		b.nodesOfGuests = map[guestKey]*hypervisor.GuestRef{}
	}
	if err := h.resources(ctx, b); err != nil {
		return nil, err
	}
	// Every token sees the nodes, even one without any right; so a list without
	// nodes is no valid answer.
	if !b.anyNode {
		return nil, plugin.Errorf(plugin.Protocol, "the list of cluster resources has no nodes")
	}
	return b, nil
}

// resources reads the list of everything.
func (h *Host) resources(ctx context.Context, b *pager) error {
	sent := time.Now()
	answer, err := h.api.Stream(ctx, "/cluster/resources", nil)
	if err != nil {
		return err
	}
	defer answer.Close()
	if date := answer.Meta().Date; !date.IsZero() {
		answered := time.Now()
		b.skew = date.Sub(answered)
		b.members.cluster.ClockAhead = hypervisor.ClockAhead(date, sent, answered)
	}
	row := &resourceRow{}
	if err := answer.Rows(row, func() error { return b.add(row) }); err != nil {
		return err
	}
	if b.members.contradicted() {
		return errMembership
	}
	return b.finish()
}

// pager collects rows into pages. A page is passed on when it is full, and at
// the end of the list.
type pager struct {
	to      func(hypervisor.Page) error
	shaper  *shaper
	members *membership
	page    hypervisor.Page
	begun   bool
	guests  int
	anyNode bool          // the list had a node
	bound   int           // storages seen, for the size of the metrics
	skew    time.Duration // of the hypervisor's clock before ours
	// nodesOfGuests is kept for samples only.
	nodesOfGuests map[guestKey]*hypervisor.GuestRef
}

// add adds a row of /cluster/resources to the current page.
func (b *pager) add(r *resourceRow) error {
	switch string(r.typ.Bytes()) {
	case "qemu":
		b.guest(r, hypervisor.VM)
	case "lxc", "openvz":
		b.guest(r, hypervisor.Container)
	case "storage":
		node := b.nodeOf(r)
		if st := b.shaper.storage(r, node, b.members.away(node)); st.Name != "" && node != "" {
			b.page.Storages = append(b.page.Storages, st)
			b.bound++
		}
	case "node":
		b.node(r)
	}
	if len(b.page.Guests)+len(b.page.Storages) >= pageRows {
		return b.flush()
	}
	return nil
}

// guest adds the row of a guest. A row without a node belongs to a guest that
// is about to disappear.
func (b *pager) guest(r *resourceRow, kind hypervisor.GuestKind) {
	node := b.shaper.in.text(r.node)
	if node == "" {
		return
	}
	if b.page.Guests == nil {
		b.page.Guests = make([]hypervisor.Guest, 0, pageRows)
	}
	n := len(b.page.Guests)
	b.page.Guests = b.page.Guests[:n+1]
	if !b.shaper.guest(&b.page.Guests[n], r, kind, node, b.members.away(node)) {
		b.page.Guests = b.page.Guests[:n]
		return
	}
	b.guests++
	if b.nodesOfGuests != nil {
		ref := b.page.Guests[n].GuestRef
		b.nodesOfGuests[guestKey{kind, r.guestID()}] = &ref
	}
}

// nodeOf returns the node of a storage row, whose id is storage/node/name.
func (b *pager) nodeOf(r *resourceRow) string {
	if !r.node.Null() {
		return b.shaper.in.text(r.node)
	}
	parts := strings.Split(r.id.Text(), "/")
	if len(parts) == 3 {
		return parts[1]
	}
	return ""
}

// node adds the row of a node. Nodes come from /cluster/status; the rows here
// are compared with it.
func (b *pager) node(r *resourceRow) {
	name := r.nodeName(b.shaper.in)
	if name == "" {
		return
	}
	b.anyNode = true
	b.members.compare(name, nodeState(string(r.status.Bytes())))
	n := b.members.node(name)
	b.shaper.node(n, r)
	// A token without Sys.Audit sees online nodes without figures.
	if n.Status == hypervisor.NodeOnline && n.CPUs == nil && n.MemoryTotal == nil {
		b.members.cluster.Partial = true
	}
}

// flush passes the page to the caller. The first page has the cluster.
func (b *pager) flush() error {
	if !b.begun {
		b.begun = true
		cluster := b.members.cluster
		if cluster.Entry == "" && len(b.members.order) == 1 {
			cluster.Entry = b.members.order[0].Name // nobody else can have answered
		}
		b.page.Cluster = &cluster
	}
	page := b.page
	b.page = hypervisor.Page{}
	return b.to(page)
}

// finish hands out what is left, and the nodes.
func (b *pager) finish() error {
	for _, n := range b.members.order {
		if n.Status == "" {
			n.Status = hypervisor.NodeUnknown
		}
		b.page.Nodes = append(b.page.Nodes, *n)
	}
	return b.flush()
}

// lastPart returns what follows the last slash of a resource ID.
func lastPart(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }
