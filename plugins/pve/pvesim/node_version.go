package pvesim

import "fmt"

func versionEndpoints() []*endpoint {
	return []*endpoint{
		serve("GET", "/version", readVersion),
		serve("GET", "/nodes/{node}/version", readVersion),
	}
}

// readVersion reports pve-manager's version: that of the node, not of the cluster.
func readVersion(r *request) (result, *apiError) {
	rel := fmt.Sprintf("%d.%d", r.c.release.major, r.c.release.minor)
	return ok(map[string]any{"version": r.c.opts.Version, "release": rel, "repoid": "5b0f2c1d9a3e4f67"})
}
