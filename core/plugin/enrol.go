package plugin

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	sdk "github.com/hostler/hostler/sdk/plugin"
)

// These are the forms of a plugin's name and release: they occur in logs, in
// the database and in addresses.
var (
	nameForm    = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)
	versionForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+_-]{0,62}$`)
)

// Pin registers a file of the plugin folder in its present state: it computes
// the SHA-256, starts the file once to ask what it serves, and stores a pin for
// each kind. A file that is pinned already may bring a new digest and version,
// but must serve the same kinds and names. ErrMismatch refuses a kind and name
// of another file, and a plugin with an invalid name. The running plugins
// change with the next Reload. by is stored as the author.
func (m *Manager) Pin(ctx context.Context, file, by string) ([]Pin, error) {
	path, err := m.resolve(file)
	if err != nil {
		return nil, err
	}
	sum, err := digest(path)
	if err != nil {
		return nil, err
	}
	p, err := m.launch(ctx, path, sum, m.logger.Named("pin"))
	if err != nil {
		return nil, err
	}
	defer p.end(m.cfg.StopTimeout)
	existing, err := m.cfg.Pins.List(ctx)
	if err != nil {
		return nil, err
	}
	if err := acceptable(file, p.services, existing); err != nil {
		return nil, err
	}
	pins := make([]Pin, 0, len(p.services))
	for _, d := range p.services {
		pin := Pin{
			Kind: d.Kind, Name: d.Name, Version: d.Version, File: file, SHA256: sum,
			Enabled: true, PinnedAt: time.Now().UTC(), PinnedBy: by,
		}
		if err := m.cfg.Pins.Put(ctx, pin); err != nil {
			return nil, err
		}
		pins = append(pins, pin)
	}
	return pins, nil
}

// acceptable compares the description of a file with the rules and with the
// registered pins.
func acceptable(file string, services []sdk.Description, existing []Pin) error {
	if len(services) == 0 {
		return fmt.Errorf("%w: %s serves nothing", ErrMismatch, file)
	}
	for _, d := range services {
		if !slices.Contains(sdk.Kinds(), d.Kind) || !nameForm.MatchString(d.Name) || !versionForm.MatchString(d.Version) {
			return fmt.Errorf("%w: kind %q, name %q, version %q cannot be registered", ErrMismatch, d.Kind, d.Name, d.Version)
		}
		for _, pin := range existing {
			if pin.Kind == d.Kind && pin.Name == d.Name && pin.File != file {
				return fmt.Errorf("%w: %s %q is pinned from %s; remove that pin first", ErrMismatch, d.Kind, d.Name, pin.File)
			}
		}
	}
	for _, pin := range existing {
		serves := func(d sdk.Description) bool { return d.Kind == pin.Kind && d.Name == pin.Name }
		if pin.File == file && !slices.ContainsFunc(services, serves) {
			return fmt.Errorf("%w: %s is pinned as %s %q and no longer serves it; remove that pin first", ErrMismatch, file, pin.Kind, pin.Name)
		}
	}
	return nil
}
