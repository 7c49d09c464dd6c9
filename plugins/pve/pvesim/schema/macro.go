package schema

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"
)

//go:embed macros.txt
var macroText string

// Macro is a predefined set of firewall rules under one name.
type Macro struct {
	Name  string
	Rules []MacroRule
}

// MacroRule is one rule of a macro. Fields maps what it sets (proto, dport, sport, icmp-type) to the values.
type MacroRule struct {
	Family int // 4, 6, or 0 for both
	Fields map[string]string
}

var macros = sync.OnceValue(func() map[string]*Macro {
	all := map[string]*Macro{}
	for line := range strings.Lines(macroText) {
		words := strings.Fields(line)
		key := strings.ToLower(words[0])
		m := all[key]
		if m == nil {
			m = &Macro{Name: words[0]}
			all[key] = m
		}
		r := MacroRule{Family: map[string]int{"ipv4": 4, "ipv6": 6}[words[1]], Fields: map[string]string{}}
		for _, field := range words[2:] {
			name, value, _ := strings.Cut(field, "=")
			r.Fields[name] = value
		}
		m.Rules = append(m.Rules, r)
	}
	return all
})

// FindMacro finds a firewall macro by its name, whose case does not count. It is nil for an unknown one.
func FindMacro(name string) *Macro { return macros()[strings.ToLower(name)] }

// Macros lists all firewall macros by name.
func Macros() []*Macro {
	return slices.SortedFunc(maps.Values(macros()), func(a, b *Macro) int { return cmp.Compare(a.Name, b.Name) })
}
