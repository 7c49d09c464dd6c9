package installation

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

// Known reports whether this program knows the step; a newer one may have written others.
func (s Step) Known() bool {
	switch s {
	case StepBackup, StepDownload, StepVerify, StepTrial, StepStop, StepSnapshot, StepMigrate, StepSwitch, StepHealth, StepRollback:
		return true
	}
	return s.Final()
}

// Final reports whether a run is at its end.
func (s Step) Final() bool { return s == StepDone || s == StepRolledBack || s == StepFailed }
