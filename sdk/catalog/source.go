// Package catalog is what the author of a catalog source sees of Hostler: a source lists what can be installed.
//
// Errors: every method returns a *plugin.Error for whatever the service should tell its users; any other error is Internal.
package catalog

import "context"

// Source lists entries. Its methods may be called at the same time.
type Source interface {
	// Info says what the source is. It must not use the network.
	Info(ctx context.Context) (Info, error)
	// Entries hands each entry to each, no id twice; an error from each ends the call and is returned.
	Entries(ctx context.Context, each func(Entry) error) error
}

// Info is what a source says of itself: its short name and its own release.
type Info struct {
	Name    string
	Version string
}

// Entry is one thing that can be installed.
type Entry struct {
	// ID names it for ever.
	ID          string
	Name        string
	Description string
}
