package storage

import (
	"context"

	"github.com/hostler/hostler/core/metric"
)

// addGrowth adds to storages and to their nodes when they will be full, with
// one statement for all of them.
func (s *Store) addGrowth(ctx context.Context, page []Storage) error {
	var ids []int64
	for i := range page {
		for _, n := range page[i].Nodes {
			ids = append(ids, n.id)
		}
	}
	full, err := metric.DaysUntilFull(ctx, s.DB, ids)
	if err != nil {
		return err
	}
	for i := range page {
		t := &page[i]
		for j := range t.Nodes {
			days, known := full[t.Nodes[j].id]
			if !known {
				continue
			}
			t.Nodes[j].DaysUntilFull = &days
			if t.DaysUntilFull == nil || days < *t.DaysUntilFull {
				t.DaysUntilFull = &days
			}
		}
	}
	return nil
}
