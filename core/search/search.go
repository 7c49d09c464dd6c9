// Package search finds things of all kinds by words and fields: guests, hosts, nodes, storages, schedules, entries of the catalog and
// jobs, out of what the last polls left in the database.
//
// Each kind of thing is a source, which says in SQL in which of its texts a word may stand and what its fields are. One statement
// puts the parts together, ranks them and cuts a page out, and a second one reads what is on the page. The words of guests are
// kept in a table of their own by triggers, so that ten thousand guests are looked through in some milliseconds.
package search

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
)

// Store searches the database.
type Store struct{ DB *db.DB }

// Hit is one thing that was found. The JSON names are those of the API.
type Hit struct {
	Kind   string  `json:"kind" enum:"vm,container,app,host,node,storage,schedule,catalog,job" example:"vm" doc:"Kind of the object. An app and its container are one app"`
	ID     *int64  `json:"id" example:"7" doc:"ID as in the paths of its kind; for other containers, the ID of the guest. Null for nodes and storages, which host_id and name identify, and for catalog entries, which detail identifies"`
	Name   string  `json:"name" example:"web-1" doc:"Name; for a job, the name of its target"`
	Status string  `json:"status" example:"running" doc:"Status as defined for its kind; for a schedule enabled or disabled, for a catalog entry installable or unavailable"`
	VMID   *int64  `json:"vmid" example:"101" doc:"VMID of a guest"`
	HostID *int64  `json:"host_id" example:"1" doc:"Host on which it is or through which it is reached"`
	Host   *string `json:"host" example:"lab" doc:"Name of the host"`
	Node   *string `json:"node" example:"pve1"`
	// Cluster is empty for a machine alone.
	Cluster   *string    `json:"cluster" example:"prod" doc:"Name of the cluster; empty for a standalone host"`
	TeamID    *int64     `json:"team_id" example:"1" doc:"Team that owns it; null if it belongs to the instance"`
	Tags      []string   `json:"tags" example:"[\"prod\"]"`
	Addresses []string   `json:"addresses" example:"[\"10.0.0.5\"]" doc:"Known addresses of a guest or a node"`
	Detail    *string    `json:"detail" example:"vm.start" doc:"Kind of a job and of a schedule's jobs, type of a storage, address of a host, slug of a catalog entry, ID of a guest on the hypervisor if it is not the VMID"`
	At        *time.Time `json:"at" doc:"When a job was requested, or when a schedule is due; null for other kinds"`
}

// Find gives one page of what may be seen and fits the query, the best first, and how much there is on all pages. The empty query finds
// everything. One with too many terms is problem invalid.
func (s *Store) Find(ctx context.Context, text string, visible identity.VisibleTeams, offset, limit int) (hits []Hit, total int,
	err error) {
	terms, err := parse(text)
	if err != nil {
		return nil, 0, err
	}
	sql, args := find(terms, visible, offset, limit)
	if sql == "" {
		return []Hit{}, 0, nil
	}
	var page []place
	total, page, err = s.page(ctx, sql, args)
	if err != nil {
		return nil, 0, db.Problem(fmt.Errorf("searching: %w", err))
	}
	if len(page) == 0 && offset > 0 { // behind the last page no row tells how many there are
		_, total, err = s.Find(ctx, text, visible, 0, 1)
		return []Hit{}, total, err
	}
	if hits, err = s.read(ctx, page, visible); err != nil {
		return nil, 0, db.Problem(fmt.Errorf("reading the search results: %w", err))
	}
	return hits, total, nil
}

// place is a thing that was found: its source and its key there.
type place struct {
	rank int
	key  int64
}

// page gives what find's statement finds.
func (s *Store) page(ctx context.Context, sql string, args []any) (total int, found []place, err error) {
	rows, err := s.DB.Pool.Query(ctx, sql, args...)
	if err != nil {
		return 0, nil, err
	}
	found, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (p place, err error) {
		return p, row.Scan(&total, &p.rank, &p.key)
	})
	return total, found, err
}

// read gives the hits of a page in its order. What is gone meanwhile is left out.
func (s *Store) read(ctx context.Context, page []place, visible identity.VisibleTeams) ([]Hit, error) {
	hits := make([]Hit, 0, len(page))
	if len(page) == 0 {
		return hits, nil
	}
	keys := map[int][]int64{}
	for _, p := range page {
		keys[p.rank] = append(keys[p.rank], p.key)
	}
	sql, args := show(keys, visible)
	rows, err := s.DB.Pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	read := map[place]Hit{}
	for rows.Next() {
		var p place
		var h Hit
		err := rows.Scan(&p.rank, &p.key, &h.Kind, &h.ID, &h.Name, &h.Status, &h.VMID, &h.HostID, &h.Host, &h.Node, &h.Cluster, &h.TeamID,
			&h.Tags, &h.Addresses, &h.Detail, &h.At)
		if err != nil {
			return nil, err
		}
		if h.At != nil {
			*h.At = h.At.UTC()
		}
		read[p] = h
	}
	for _, p := range page {
		if h, ok := read[p]; ok {
			hits = append(hits, h)
		}
	}
	return hits, rows.Err()
}
