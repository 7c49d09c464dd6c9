package pvesim

import "github.com/hostler/hostler/plugins/pve/pvesim/schema"

// listMacros names all macros. The real server has longer descriptions.
func listMacros(*request) (result, *apiError) {
	rows := []map[string]any{}
	for _, m := range schema.Macros() {
		rows = append(rows, map[string]any{"macro": m.Name, "descr": m.Name + " traffic"})
	}
	return ok(rows)
}
