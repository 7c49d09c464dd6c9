package updater

import "github.com/hostler/hostler/updater/installation"

// remedy is the way back of a run that was interrupted in a step.
type remedy int

// These are the ways back, from the least to the most.
const (
	// abandon: nothing that runs has changed.
	abandon remedy = iota
	// restart: the service may have been stopped, and nothing else has changed.
	restart
	// forward: the new version is in place and may be healthy.
	forward
	// backward: the database or the link may have changed.
	backward
)

// remedyOf gives the way back from a step that failed or was interrupted.
func remedyOf(s installation.Step) remedy {
	switch s {
	case installation.StepStop, installation.StepSnapshot:
		return restart
	case installation.StepHealth:
		return forward
	case installation.StepMigrate, installation.StepSwitch, installation.StepRollback:
		return backward
	}
	return abandon
}
