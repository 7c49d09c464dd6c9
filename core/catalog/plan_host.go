package catalog

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/db"
)

// planHost is what is known about a host.
type planHost struct {
	PlanHost
	status   string
	storages []PlanStorage
	bridges  []string
}

// planHost reads the results of the last polls. Of a cluster's nodes it is the
// one through which the service connects.
func (s *Store) planHost(ctx context.Context, hostID int64) (*planHost, error) {
	h := &planHost{storages: []PlanStorage{}}
	var cluster *int64
	err := s.DB.Pool.QueryRow(ctx, `SELECT h.id, h.name, h.entry_node, h.status, h.cluster_id, coalesce((SELECT array_agg(DISTINCT n.bridge
		ORDER BY n.bridge) FROM guest_nics n JOIN guests g ON g.id = n.guest_id WHERE g.cluster_id = h.cluster_id
		AND (g.node = h.entry_node OR h.entry_node = '') AND n.bridge <> ''), '{}') FROM hosts h WHERE h.id = $1`, hostID).
		Scan(&h.ID, &h.Name, &h.Node, &h.status, &cluster, &h.bridges)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a host: %w", err))
	}
	if cluster == nil {
		return h, nil
	}
	rows, err := s.DB.Pool.Query(ctx, `SELECT DISTINCT ON (name) name, type, shared, status, content, greatest(0, total - used), total
		FROM storages WHERE cluster_id = $1 AND (node = $2 OR $2 = '') ORDER BY name, node`, *cluster, h.Node)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the storages of a host: %w", err))
	}
	defer rows.Close()
	for rows.Next() {
		var st PlanStorage
		if err := rows.Scan(&st.Name, &st.Type, &st.Shared, &st.Status, &st.Content, &st.Free, &st.Total); err != nil {
			return nil, fmt.Errorf("reading the storages of a host: %w", err)
		}
		st.Content = list(st.Content)
		h.storages = append(h.storages, st)
	}
	return h, db.Problem(rows.Err())
}
