package firewall

import (
	"context"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// GuestOptions reads the options of a guest's firewall. Problems: unsupported
// if the backend has none, and those of host.Call.
func (s *Store) GuestOptions(ctx context.Context, g *guest.Guest) (sdk.Options, error) {
	return ask(ctx, s, OfGuest(g), func(ctx context.Context, able sdk.OptionsManager, scope sdk.Scope) (sdk.Options, error) {
		return able.Options(ctx, scope)
	})
}

// ChangeGuestOptions changes options of a guest's firewall with one request and
// the lifecycle token. It calls sent before the request. Problems: invalid,
// digest_conflict, capability_missing, and those of GuestOptions.
func (s *Store) ChangeGuestOptions(ctx context.Context, g *guest.Guest, change sdk.OptionsChange, sent func()) error {
	_, err := askAs(ctx, s, endpoint.Lifecycle, OfGuest(g), func(ctx context.Context, able sdk.OptionsManager, scope sdk.Scope) (struct{},
		error) {
		sent()
		return struct{}{}, able.ChangeOptions(ctx, scope, change)
	})
	return err
}
