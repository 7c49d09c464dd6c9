package lxd

import (
	"context"
	"sync"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

const (
	// atOnce is how many requests for usage values run at the same time per
	// server.
	atOnce = 3
	// maxNodes and maxPools limit the requests of one inventory. Nodes and
	// pools beyond them have no usage values.
	maxNodes, maxPools = 64, 256
)

// measure requests the usage values of online nodes and available storages, a
// few at a time. A value that cannot be read stays nil: a member that has just
// failed must not make the inventory of the others fail. Pools that all members
// share are asked once, and the answer is copied to the other rows.
func (h *Host) measure(ctx context.Context, server *lxdapi.Server, nodes []hypervisor.Node, storages []hypervisor.Storage) error {
	w := &questions{host: h, slots: make(chan struct{}, atOnce)}
	target := func(node string) string {
		if server.Environment.Clustered {
			return node
		}
		return ""
	}
	for i := range min(len(nodes), maxNodes) {
		node := &nodes[i]
		if node.Status == hypervisor.NodeOnline {
			w.ask(ctx, func(ctx context.Context) error {
				resources, err := h.api.Resources(ctx, target(node.Name))
				if err == nil {
					nodeFigures(node, resources)
				}
				return err
			})
		}
	}
	asked := map[string]int{} // of shared pools, the row that is asked for
	count := 0
	for i := range storages {
		row := &storages[i]
		if _, again := asked[row.Name]; row.Status != available || again || count == maxPools {
			continue
		}
		if row.Shared {
			asked[row.Name] = i
		}
		count++
		w.ask(ctx, func(ctx context.Context) error {
			resources, err := h.api.StorageResources(ctx, row.Name, target(row.Node))
			if err == nil && resources.Space.Used >= 0 && resources.Space.Used <= resources.Space.Total && resources.Space.Total > 0 {
				row.Used, row.Total = &resources.Space.Used, &resources.Space.Total
			}
			return err
		})
	}
	if err := w.answered(); err != nil {
		return h.judge(ctx, err, "")
	}
	for i := range storages {
		if from, shared := asked[storages[i].Name]; shared {
			storages[i].Used, storages[i].Total = storages[from].Used, storages[from].Total
		}
	}
	return ctx.Err()
}

// nodeFigures are what a server says of its hardware: neither the load nor the used part of the CPUs.
func nodeFigures(n *hypervisor.Node, r *lxdapi.Resources) {
	if r.CPU.Total > 0 {
		cpus := float64(r.CPU.Total)
		n.CPUs = &cpus
	}
	if r.Memory.Total > 0 && r.Memory.Used >= 0 && r.Memory.Used <= r.Memory.Total {
		n.Memory, n.MemoryTotal = &r.Memory.Used, &r.Memory.Total
	}
}

// questions are asked a few at a time.
type questions struct {
	host  *Host
	slots chan struct{}
	group sync.WaitGroup
	mu    sync.Mutex
	fatal error
}

// ask starts a question in a goroutine when a slot is free. Errors are only
// logged, because an inventory without usage values is still useful; a rejected
// certificate ends the inventory.
func (w *questions) ask(ctx context.Context, question func(context.Context) error) {
	w.slots <- struct{}{}
	w.group.Go(func() {
		defer func() { <-w.slots }()
		err := question(ctx)
		if err == nil {
			return
		}
		w.host.log.Debug("cannot read a metric", "error", err)
		if plugin.KindOf(err) == plugin.TokenRejected {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.fatal = err
		}
	})
}

// answered waits for all answers. The error is one that the rest of the inventory would have too.
func (w *questions) answered() error {
	w.group.Wait()
	return w.fatal
}
