package app

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
)

// WebAddress is where an app's pages are, as far as the service knows without asking anybody.
type WebAddress struct {
	App     App
	Address netip.Addr
	Port    int
	// Scheme is http or https, and URL the whole of it.
	Scheme, URL string
}

// WebAddresses gives where the pages of all apps that may be seen are, by name, decided as WebURL decides but for what only a hypervisor
// or the app itself would tell. An app without a known port or address is left out. It takes three queries.
func (s *Store) WebAddresses(ctx context.Context, visible identity.VisibleTeams) ([]WebAddress, error) {
	all, err := s.List(ctx, Filter{}, visible)
	if err != nil {
		return nil, err
	}
	printed, err := s.printedURLs(ctx)
	if err != nil {
		return nil, err
	}
	var slugs []string
	for i := range all {
		if all[i].Slug != nil {
			slugs = append(slugs, *all[i].Slug)
		}
	}
	told := map[string]Web{}
	if s.Catalog != nil && len(slugs) > 0 {
		if told, err = s.Catalog.Webs(ctx, slugs); err != nil {
			return nil, err
		}
	}
	places := []WebAddress{}
	for i := range all {
		a := &all[i]
		web, by, err := a.web(printed[a.ID], func(slug string) (Web, bool, error) {
			web, ok := told[slug]
			return web, ok, nil
		})
		if err != nil {
			return nil, err
		}
		addresses := DialableAddresses(a.Addresses, s.Rules)
		if by == "" || len(addresses) == 0 {
			continue
		}
		scheme, _ := schemeOf(a, web, by, greeting{})
		places = append(places, WebAddress{App: *a, Address: addresses[0], Port: web.Port, Scheme: scheme, URL: urlOf(scheme, addresses[0],
			web)})
	}
	return places, nil
}

// printedURLs are those of all apps that have one.
func (s *Store) printedURLs(ctx context.Context) (map[int64]string, error) {
	printed := map[int64]string{}
	rows, err := s.Guests.DB.Pool.Query(ctx, "SELECT id, printed_url FROM apps WHERE printed_url IS NOT NULL")
	if err == nil {
		var id int64
		var text string
		_, err = pgx.ForEachRow(rows, []any{&id, &text}, func() error {
			printed[id] = text
			return nil
		})
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the addresses of apps: %w", err))
	}
	return printed, nil
}
