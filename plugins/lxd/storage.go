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

// maxStorages bounds the rows of an inventory: one for each pool at each member.
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

// folders are the pools that are a folder of the server.
func folders(pools []lxdapi.StoragePool) map[string]bool {
	found := map[string]bool{}
	for _, pool := range pools {
		found[pool.Name] = pool.Driver == folderDriver
	}
	return found
}
