package cluster

import (
	"context"

	"github.com/hostler/hostler/core/identity"
)

// Figures reads the sums alone.
func (s *Store) Figures(ctx context.Context, visible identity.VisibleTeams, f *Summary) error {
	return s.figures(ctx, visible, f)
}
