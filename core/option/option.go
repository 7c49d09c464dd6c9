// Package option knows the options of VMs: the keys of their own configuration that people may set themselves, and the options of their
// firewalls, as one set. Nothing of it is kept.
package option

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/hostler/hostler/core/firewall"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Store reads and changes options.
type Store struct {
	Actor     *guest.Actor
	Firewalls *firewall.Store
}

// VMOptions are those of a VM as the API shows them. The values of Options and Pending are booleans, numbers and texts.
type VMOptions struct {
	Digest         *string        `json:"digest" example:"5f2b0c9e81d4a7f3" doc:"Digest of all options and of the rest of the configuration. Null if the hypervisor has none"`
	Firewall       *Firewall      `json:"firewall" doc:"Firewall options of the VM; null if the hypervisor has none for guests"`
	Options        map[string]any `json:"options" doc:"Options that are set, by key"`
	Pending        map[string]any `json:"pending" doc:"Changes that wait for a restart; null for an option that will be removed"`
	PendingRestart bool           `json:"pending_restart" doc:"true if a changed option waits for a restart"`
	Keys           []Key          `json:"keys" doc:"Options that this release of the hypervisor supports"`
}

// Firewall is the options of a VM's firewall. What is null is not set: the hypervisor's own default holds.
type Firewall struct {
	Enable    *int    `json:"enable" minimum:"0" maximum:"1" example:"1"`
	DHCP      *int    `json:"dhcp" minimum:"0" maximum:"1"`
	NDP       *int    `json:"ndp" minimum:"0" maximum:"1"`
	RADV      *int    `json:"radv" minimum:"0" maximum:"1"`
	MACFilter *int    `json:"macfilter" minimum:"0" maximum:"1"`
	IPFilter  *int    `json:"ipfilter" minimum:"0" maximum:"1"`
	PolicyIn  *string `json:"policy_in" example:"DROP"`
	PolicyOut *string `json:"policy_out" example:"ACCEPT"`
	Digest    *string `json:"digest" doc:"Digest of these options only"`
}

// Key is an option that a VM can have.
type Key struct {
	Name      string   `json:"name" example:"onboot"`
	Type      string   `json:"type" enum:"string,boolean,integer,number"`
	Values    []string `json:"values" nullable:"true" doc:"Allowed values; null for any value of the type"`
	Min       *float64 `json:"min"`
	Max       *float64 `json:"max"`
	MaxLength *int64   `json:"max_length"`
	Autostart bool     `json:"autostart" doc:"true if the option makes the hypervisor start the VM automatically"`
}

// state is what was read of a VM.
type state struct {
	keys   []hypervisor.OptionKey
	config hypervisor.Config
	// firewall is nil where there is none with options.
	firewall *sdk.Options
}

// Get asks the hypervisor and its firewall. Problems: not_found, unsupported, and those of host.Call.
func (s *Store) Get(ctx context.Context, g *guest.Guest) (VMOptions, error) {
	now, err := s.read(ctx, g)
	if err != nil {
		return VMOptions{}, err
	}
	return now.show(), nil
}

func (s *Store) read(ctx context.Context, g *guest.Guest) (now state, err error) {
	on := s.Actor.Subject(g)
	now.keys, err = guest.Call(ctx, on, func(able hypervisor.ConfigEditor, ctx context.Context, ref hypervisor.GuestRef) (
		[]hypervisor.OptionKey, error) {
		return able.OptionKeys(ctx, ref.Kind)
	})
	if err != nil {
		return now, err
	}
	for i, key := range now.keys {
		if !slices.Contains([]string{"string", "boolean", "integer", "number"}, key.Type) {
			now.keys[i].Type = "string"
		}
	}
	if now.config, err = s.Actor.ReadConfig(ctx, g); err != nil {
		return now, err
	}
	now.firewall, err = s.readFirewall(ctx, g)
	return now, err
}

// readFirewall is nil where the host's firewall has no options for guests.
func (s *Store) readFirewall(ctx context.Context, g *guest.Guest) (*sdk.Options, error) {
	found, err := s.Firewalls.GuestOptions(ctx, g)
	if code := problem.CodeOf(err); err != nil && (code == problem.CodeUnsupported || code == problem.CodeUnsupportedAtScope) {
		return nil, nil
	}
	return &found, err
}

// digest is that of all, and that of the firewall's options alone; empty where there is none.
func (now *state) digest() (all, firewall string) {
	if now.firewall == nil {
		return now.config.Digest, ""
	}
	if now.config.Digest == "" || now.firewall.Digest == "" {
		return "", now.firewall.Digest
	}
	return fmt.Sprintf("%s.%s", now.config.Digest, now.firewall.Digest), now.firewall.Digest
}

// most bounds the options that are shown, and maxText one of them.
const (
	most    = 256
	maxText = 16 << 10
)

func (now *state) show() VMOptions {
	all, _ := now.digest()
	out := VMOptions{Digest: host.CleanOrNil(all), Firewall: showFirewall(now.firewall), Options: map[string]any{}, Pending: map[string]any{},
		Keys: []Key{}}
	for _, key := range now.keys[:min(len(now.keys), most)] {
		name := host.Clean(key.Name)
		shown := Key{Name: name, Type: key.Type, Min: key.Min, Max: key.Max, Autostart: key.Autostart}
		for _, value := range key.Values {
			shown.Values = append(shown.Values, host.Clean(value))
		}
		if key.MaxLength > 0 {
			shown.MaxLength = &key.MaxLength
		}
		out.Keys = append(out.Keys, shown)
		if value, is := now.config.Options[key.Name]; is {
			out.Options[name] = showValue(key.Type, value)
		}
		if value, waits := now.config.Pending[key.Name]; waits && value != nil {
			out.Pending[name] = showValue(key.Type, *value)
		} else if waits {
			out.Pending[name] = nil
		}
	}
	out.PendingRestart = len(out.Pending) > 0
	return out
}

// showValue is a value as JSON has it. One that is not of the type stays text.
func showValue(kind, text string) any {
	switch kind {
	case "boolean":
		if text == "0" || text == "1" {
			return text == "1"
		}
	case "integer":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	case "number":
		if n, err := strconv.ParseFloat(text, 64); err == nil && n-n == 0 { // neither infinite nor none
			return n
		}
	}
	return host.CleanTo(text, maxText)
}

func showFirewall(o *sdk.Options) *Firewall {
	if o == nil {
		return nil
	}
	f := firewall.ShowOptions(*o)
	return &Firewall{
		Enable: f.Enable, DHCP: f.DHCP, NDP: f.NDP, RADV: f.RADV, MACFilter: f.MACFilter, IPFilter: f.IPFilter, PolicyIn: f.PolicyIn,
		PolicyOut: f.PolicyOut, Digest: host.CleanOrNil(o.Digest),
	}
}
