package pvesim

import (
	"maps"
	"slices"
)

// readPending lists each key of the configuration with the value in force and the one that waits for a restart.
func readPending(r *request) (result, *apiError) {
	g, err := r.guestOf()
	if err != nil {
		return fail(err)
	}
	cfg := g.config()
	if cfg["cipassword"] != nil {
		cfg["cipassword"] = "**********"
	}
	cfg["digest"] = g.digest()
	rows := []map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(cfg)) {
		row := map[string]any{"key": key, "value": cfg[key]}
		if waits, changed := g.Pending[key]; changed && waits == nil {
			row["delete"] = 1
		} else if changed {
			row["pending"] = waits
		}
		rows = append(rows, row)
	}
	for _, key := range slices.Sorted(maps.Keys(g.Pending)) {
		if _, there := cfg[key]; !there && g.Pending[key] != nil {
			rows = append(rows, map[string]any{"key": key, "pending": g.Pending[key]})
		}
	}
	return ok(rows)
}

// withPending is a configuration as it will be.
func (g *guest) withPending(cfg map[string]any) map[string]any {
	for key, value := range g.Pending {
		if value == nil {
			delete(cfg, key)
		} else {
			cfg[key] = value
		}
	}
	return cfg
}

// enforce puts into force what waits for a restart.
func (g *guest) enforce() {
	for _, key := range slices.Sorted(maps.Keys(g.Pending)) {
		g.set(key, g.Pending[key])
	}
	g.Pending = nil
}
