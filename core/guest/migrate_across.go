package guest

import (
	"context"

	"github.com/hostler/hostler/core/job"
)

// across is what a job that moves a guest to another cluster keeps.
type across struct{}

func (m *migrationCheck) across() *across { return &across{} }

// lookAcross checks a move to another cluster.
func (m *migrationCheck) lookAcross(context.Context) error {
	m.Strategy = nil
	m.block(findingUnsupported, "The host %s is of another cluster; guests are moved between the nodes of one.", m.target.Name)
	return nil
}

func (a *act) moveAcross(context.Context) error {
	return job.Fail("guests are moved between the nodes of one cluster")
}
