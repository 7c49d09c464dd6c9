package updater

import (
	"testing"
)

func TestUpdate(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(newVersion, nil)
	answer := s.do(order{Do: "run"})
	if answer == nil || answer.Err != "" || answer.Result.Step != StepDone || answer.Result.To != newVersion {
		t.Fatalf("%+v\n%s", answer, s.supervisor.log.String())
	}
	s.await(newVersion)
	if got := s.query("SELECT note FROM brought_by_update") + s.query("SELECT note FROM kept"); got != "migratedbefore" {
		t.Error(got)
	}
}
