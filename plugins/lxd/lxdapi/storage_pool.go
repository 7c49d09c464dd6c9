package lxdapi

import (
	"context"
	"net/url"
)

// StoragePool is a pool of the server or cluster.
type StoragePool struct {
	Name        string `json:"name"`
	Driver      string `json:"driver"`
	Description string `json:"description"`
	// Status is Created, or Pending and Errored where the cluster is not through with making it.
	Status string `json:"status"`
	// Locations are the members that have it, "none" on a single server.
	Locations []string `json:"locations"`
}

// StorageResources is how full a pool is, in bytes.
type StorageResources struct {
	Space struct {
		Used  int64 `json:"used"`
		Total int64 `json:"total"`
	} `json:"space"`
}

// StoragePools lists the pools.
func (c *Client) StoragePools(ctx context.Context) ([]StoragePool, error) {
	all, _, err := list[StoragePool](ctx, c, rootPath+"/storage-pools", recursion())
	if err != nil {
		return nil, err
	}
	for i := range all {
		if checkName(all[i].Name) != nil {
			return nil, nameless("a storage pool")
		}
	}
	return all, nil
}

// StorageResources reads how full a pool is at a member; empty is the member that answers.
func (c *Client) StorageResources(ctx context.Context, pool, member string) (*StorageResources, error) {
	path, err := apiPath("storage-pools", pool, "resources")
	if err != nil {
		return nil, err
	}
	query, err := targeting(member)
	if err != nil {
		return nil, err
	}
	var resources StorageResources
	if _, err := c.get(ctx, path, query, &resources); err != nil {
		return nil, err
	}
	return &resources, nil
}

// recursion asks for the objects instead of their URLs.
func recursion() url.Values { return url.Values{"recursion": {"1"}} }

// targeting asks one member of a cluster. A server that is none does not look at it.
func targeting(member string) (url.Values, error) {
	if member == "" {
		return nil, nil
	}
	if err := checkName(member); err != nil {
		return nil, err
	}
	return url.Values{"target": {member}}, nil
}
