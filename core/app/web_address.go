package app

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
)

// WebAddress is the location of an app's web page as far as the service knows
// it without contacting the hypervisor or the app.
type WebAddress struct {
	App     App
	Address netip.Addr
	Port    int
	// Scheme is http or https. URL is the complete URL with path and query.
	Scheme, URL string
}

// WebAddresses returns the locations of the web pages of all apps that may be
// seen, by name. It decides as WebURL does, but uses only stored data: no
// hypervisor and no app is contacted. It leaves out apps without a known port
// or address, and takes three queries whatever the number of apps.
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

// printedURLs returns, by app ID, the URLs that install scripts printed.
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
