package pvesim

import "fmt"

// versionEndpoints serves the release.
func versionEndpoints() []*endpoint {
	return []*endpoint{
		serve("GET", "/version", readVersion),
		serve("GET", "/nodes/{node}/version", readVersion),
	}
}

// readVersion reports pve-manager's version: that of the node, not of the cluster.
func readVersion(r *request) (result, *apiError) {
	rel, version := fmt.Sprintf("%d.%d", r.c.release.major, r.c.release.minor), r.c.opts.Version
	if r.node != nil && r.node.version != "" {
		version = r.node.version
	}
	return ok(map[string]any{"version": version, "release": rel, "repoid": "5b0f2c1d9a3e4f67"})
}

// SetNodeVersion lets a node say that it has another package than the others,
// of the same release: the cluster is being updated.
func (c *Cluster) SetNodeVersion(name, version string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodeByName(name)
	if n == nil {
		return fmt.Errorf("no node %q", name)
	}
	n.version = version
	return nil
}
