package lxd

import (
	"context"
	"time"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// pageRows is the number of rows on a page: enough to make calls cheap, and few
// enough to keep memory small.
const pageRows = 256

// Inventory implements hypervisor.Host. It sends one request each for the
// server, the certificate, the pools and, in a cluster, the members, and one
// for all guests; with a restricted certificate, one for the guests of each
// project. Detail adds one request for the metrics of each list of guests, one
// per node, and one per pool of a node.
//
// The ID of a cluster is the fingerprint of its certificate, which all members
// share. The inventory is partial for a restricted certificate and for one
// whose rights are not known.
func (h *Host) Inventory(ctx context.Context, query hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
	sent := time.Now()
	server, meta, err := h.about(ctx)
	if err != nil {
		return err
	}
	ahead := hypervisor.ClockAhead(meta.Date, sent, time.Now())
	seen, err := h.visibility(ctx)
	if err != nil {
		return err
	}
	nodes, err := h.nodes(ctx, server, meta)
	if err != nil {
		return err
	}
	pools, hidden, err := h.pools(ctx)
	if err != nil {
		return err
	}
	storages, err := storageRows(server, nodes, pools)
	if err != nil {
		return err
	}
	b := &pager{to: page, at: place{server: server.Environment.Name, nodes: map[string]*hypervisor.Node{}}}
	b.cluster = hypervisor.Cluster{
		Entry: server.Environment.Name, Quorate: true, Partial: seen.partial() || hidden, StatesOnly: !query.Detail,
		ClockAhead: ahead,
	}
	if server.Environment.Clustered {
		b.cluster.ID = meta.Fingerprint // which all members show and no other server does
	}
	if query.Detail {
		if err := h.measure(ctx, server, nodes, storages); err != nil {
			return err
		}
		if b.figures, err = h.figures(ctx, seen); err != nil {
			return err
		}
		b.folders = folders(pools)
	}
	for i := range nodes {
		b.at.nodes[nodes[i].Name] = &nodes[i]
	}
	if err := b.begin(nodes, storages); err != nil {
		return err
	}
	for _, scope := range seen.scopes() {
		if _, err := h.api.EachInstance(ctx, scope, b.add); err != nil {
			return h.judge(ctx, err, scope.Project)
		}
	}
	return b.flush()
}

// maxMeasured is the maximum number of guests whose usage values one inventory
// keeps.
const maxMeasured = 100_000

// figures returns the usage values of all running guests. In a cluster the
// server only reports guests on the member that answers. A certificate that may
// not read metrics gets an inventory without usage values.
func (h *Host) figures(ctx context.Context, seen visibility) (map[lxdapi.InstanceRef]*lxdapi.InstanceMetrics, error) {
	byRef := map[lxdapi.InstanceRef]*lxdapi.InstanceMetrics{}
	for _, scope := range seen.scopes() {
		all, err := h.api.Metrics(ctx, scope.Project)
		switch {
		case plugin.KindOf(err) == plugin.Denied: // the guests are there without figures
			h.log.Debug("the host does not provide metrics", "project", scope.Project, "error", err)
			continue
		case err != nil:
			return nil, h.judge(ctx, err, scope.Project)
		}
		for i := range all {
			byRef[all[i].InstanceRef] = &all[i]
		}
		if len(byRef) > maxMeasured {
			return nil, plugin.Errorf(plugin.Refused, "the server has metrics of more than %d guests", maxMeasured)
		}
	}
	return byRef, nil
}

// pager collects guests into pages.
type pager struct {
	to      func(hypervisor.Page) error
	at      place
	cluster hypervisor.Cluster
	page    hypervisor.Page
	figures map[lxdapi.InstanceRef]*lxdapi.InstanceMetrics
	folders map[string]bool // pools whose file system is the server's own
}

// begin sends the cluster with its nodes and storages.
func (b *pager) begin(nodes []hypervisor.Node, storages []hypervisor.Storage) error {
	b.page.Cluster = &b.cluster
	for i := range nodes {
		b.page.Nodes = append(b.page.Nodes, nodes[i])
		if err := b.flushFull(); err != nil {
			return err
		}
	}
	for i := range storages {
		b.page.Storages = append(b.page.Storages, storages[i])
		if err := b.flushFull(); err != nil {
			return err
		}
	}
	return nil
}

// add adds an instance to the page. It is called for each instance as the
// response arrives.
func (b *pager) add(meta lxdapi.Meta, i *lxdapi.Instance) error {
	guest, ok := b.at.guest(i, meta.Date)
	if !ok {
		return nil
	}
	if b.figures != nil {
		ref := lxdapi.InstanceRef{Project: guest.Pool, Name: i.Name}
		measured(&guest, b.figures[ref], b.folders[rootPool(i)])
	}
	if b.page.Guests == nil {
		b.page.Guests = make([]hypervisor.Guest, 0, pageRows)
	}
	b.page.Guests = append(b.page.Guests, guest)
	return b.flushFull()
}

// flushFull sends the page if it has enough rows.
func (b *pager) flushFull() error {
	if len(b.page.Nodes)+len(b.page.Storages)+len(b.page.Guests) < pageRows {
		return nil
	}
	return b.flush()
}

// flush sends the page, unless it is empty, and starts a new one.
func (b *pager) flush() error {
	page := b.page
	b.page = hypervisor.Page{}
	if page.Cluster == nil && len(page.Nodes)+len(page.Storages)+len(page.Guests) == 0 {
		return nil
	}
	return b.to(page)
}

// rootPool returns the storage pool of an instance's root disk.
func rootPool(i *lxdapi.Instance) string {
	for _, device := range i.Devices {
		if device["type"] == "disk" && device["path"] == "/" {
			return device["pool"]
		}
	}
	return ""
}
