package lxd

import (
	"context"
	"slices"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// The states of storages.
const (
	available     = "available"
	statusUnknown = "unknown"
)

// folderDriver is the driver of pools that are a folder of the server.
const folderDriver = "dir"

// pools are the server's pools. hidden is true where the certificate may not list them, as with Incus a restricted one may not.
func (h *Host) pools(ctx context.Context) (pools []lxdapi.StoragePool, hidden bool, err error) {
	pools, err = h.api.StoragePools(ctx)
	if plugin.KindOf(err) == plugin.Denied {
		return nil, true, nil
	}
	return pools, false, h.judge(ctx, err, "")
}

// storageRows are the pools as the nodes see them.
func storageRows(server *lxdapi.Server, nodes []hypervisor.Node, pools []lxdapi.StoragePool) []hypervisor.Storage {
	remote := map[string]bool{}
	for _, d := range server.Environment.StorageDrivers {
		remote[d.Name] = d.Remote
	}
	var rows []hypervisor.Storage
	for _, pool := range pools {
		for i := range nodes {
			if server.Environment.Clustered && !slices.Contains(pool.Locations, nodes[i].Name) {
				continue
			}
			status := statusUnknown
			if pool.Status == "Created" && nodes[i].Status == hypervisor.NodeOnline {
				status = available
			}
			rows = append(rows, hypervisor.Storage{Name: pool.Name, Node: nodes[i].Name, Type: pool.Driver, Status: status,
				Shared: server.Environment.Clustered && remote[pool.Driver]})
		}
	}
	return rows
}

// folders are the pools that are a folder of the server.
func folders(pools []lxdapi.StoragePool) map[string]bool {
	found := map[string]bool{}
	for _, pool := range pools {
		found[pool.Name] = pool.Driver == folderDriver
	}
	return found
}
