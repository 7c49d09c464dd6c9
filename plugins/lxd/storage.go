package lxd

import (
	"context"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// The states of storages.
const (
	available     = "available"
	statusUnknown = "unknown"
)

// folderDriver is the driver of pools that are a folder of the server's file
// system.
const folderDriver = "dir"

// pools returns the storage pools. hidden is true if the certificate may not
// list them; Incus denies that to restricted ones.
func (h *Host) pools(ctx context.Context) (pools []lxdapi.StoragePool, hidden bool, err error) {
	pools, err = h.api.StoragePools(ctx)
	if plugin.KindOf(err) == plugin.Denied {
		return nil, true, nil
	}
	return pools, false, h.judge(ctx, err, "")
}

// maxStorages is the maximum number of storage rows of an inventory.
const maxStorages = 50_000

// storageRows returns the storage pools as each node sees them, one row per
// node and pool. Whether a pool is shared follows from the driver: LXD marks
// drivers such as Ceph as remote. A pool that is not created on all members, or
// whose node is offline, has an unknown status.
func storageRows(server *lxdapi.Server, nodes []hypervisor.Node, pools []lxdapi.StoragePool) ([]hypervisor.Storage, error) {
	remote, statuses := map[string]bool{}, map[string]string{}
	for _, d := range server.Environment.StorageDrivers {
		remote[d.Name] = d.Remote
	}
	for i := range nodes {
		statuses[nodes[i].Name] = nodes[i].Status
	}
	var rows []hypervisor.Storage
	for _, pool := range pools {
		at := pool.Locations
		if !server.Environment.Clustered {
			at = []string{server.Environment.Name}
		}
		listed := map[string]bool{}
		for _, node := range at {
			if statuses[node] == "" || listed[node] {
				continue
			}
			listed[node] = true
			status := statusUnknown
			if pool.Status == "Created" && statuses[node] == hypervisor.NodeOnline {
				status = available
			}
			if len(rows) == maxStorages {
				return nil, plugin.Errorf(plugin.Refused, "the cluster has more than %d storage pools on its members", maxStorages)
			}
			rows = append(rows, hypervisor.Storage{Name: pool.Name, Node: node, Type: pool.Driver, Status: status,
				Shared: server.Environment.Clustered && remote[pool.Driver]})
		}
	}
	return rows, nil
}

// folders returns which pools are folders of the server. The size of their file
// system says nothing about a guest.
func folders(pools []lxdapi.StoragePool) map[string]bool {
	found := map[string]bool{}
	for _, pool := range pools {
		found[pool.Name] = pool.Driver == folderDriver
	}
	return found
}
