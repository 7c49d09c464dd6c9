package firewall

import "context"

// Macro is a service that rules can name in place of protocol and ports.
type Macro struct {
	Name        string
	Description string
}

// MacroLister is satisfied by firewalls that have macros; it is an ability of the cluster's scope. Needs the Monitoring capability.
type MacroLister interface {
	// Macros lists all that there are.
	Macros(ctx context.Context) ([]Macro, error)
}
