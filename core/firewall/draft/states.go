package draft

import (
	"context"

	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// States returns the states of a draft's scopes after its changes, guests at
// the place where they were last seen. It implements firewall.Drafts. The
// problem is not_found, also for a draft of another cluster.
func (s *Store) States(ctx context.Context, id, cluster int64) ([]sdk.State, error) {
	r, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if r.ClusterID != cluster {
		return nil, problem.New(problem.CodeNotFound, "draft not found in this cluster")
	}
	states := make([]sdk.State, len(r.Scopes))
	for i := range r.Scopes {
		states[i] = r.Scopes[i].After
		if id := r.Scopes[i].GuestID; id != 0 {
			if states[i].Scope, err = s.guestScope(ctx, id); err != nil {
				return nil, err
			}
		}
	}
	return states, nil
}
