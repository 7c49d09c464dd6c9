package updater

// Step is a part of a run. Journals hold these names: they never change their meaning.
type Step string

// The steps in their order. trial, stop and snapshot are parts of what users see as migrate.
const (
	StepBackup   Step = "backup"
	StepDownload Step = "download"
	StepVerify   Step = "verify"
	StepTrial    Step = "trial"
	StepStop     Step = "stop"
	StepSnapshot Step = "snapshot"
	StepMigrate  Step = "migrate"
	StepSwitch   Step = "switch"
	StepHealth   Step = "health-check"
	StepDone     Step = "done"
	// StepRollback puts everything back; StepRolledBack and StepFailed end a run. A run that failed has changed nothing.
	StepRollback   Step = "rollback"
	StepRolledBack Step = "rolled back"
	StepFailed     Step = "failed"
)

// Public is the step in the words of the API.
func (s Step) Public() Step {
	switch s {
	case StepTrial, StepStop, StepSnapshot:
		return StepMigrate
	}
	return s
}

// Final reports whether a run is at its end.
func (s Step) Final() bool { return s == StepDone || s == StepRolledBack || s == StepFailed }

// remedy is what becomes of a run that was cut off in a step.
type remedy int

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

func (s Step) remedy() remedy {
	switch s {
	case StepStop, StepSnapshot:
		return restart
	case StepHealth:
		return forward
	case StepMigrate, StepSwitch, StepRollback:
		return backward
	}
	return abandon
}
