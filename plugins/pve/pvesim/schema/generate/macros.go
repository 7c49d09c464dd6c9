package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// macro is what a firewall macro expands to: rules for both families, or for each its own.
type macro struct {
	Rules []map[string]string `json:"rules"`
	IPv4  []map[string]string `json:"ipv4"`
	IPv6  []map[string]string `json:"ipv6"`
}

// generateMacros writes a line for each rule that a firewall macro expands to: its name, the family or "any", and the fields
// that it sets.
func generateMacros(dir string) ([]byte, error) {
	var all map[string]macro
	if err := readJSON(dir, "firewall-macros.json", &all); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, part := range []struct {
			family string
			rules  []map[string]string
		}{{"any", all[name].Rules}, {"ipv4", all[name].IPv4}, {"ipv6", all[name].IPv6}} {
			for _, r := range part.rules {
				fmt.Fprintf(&b, "%s %s", name, part.family)
				for _, field := range [][2]string{{"proto", "proto"}, {"dport", "dport"}, {"sport", "sport"}, {"icmp-type", "icmp_type"}} {
					if v := r[field[1]]; v != "" {
						fmt.Fprintf(&b, " %s=%s", field[0], v)
					}
				}
				b.WriteByte('\n')
			}
		}
	}
	return b.Bytes(), nil
}
