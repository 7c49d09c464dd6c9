package firewall

import "context"

// Macro is a named service that a rule can use instead of protocol and ports.
type Macro struct {
	Name        string
	Description string
}

// MacroLister is implemented by firewalls that have macros. It is an ability of the
// cluster scope and needs the Monitoring capability.
type MacroLister interface {
	// Macros returns all macros.
	Macros(ctx context.Context) ([]Macro, error)
}
