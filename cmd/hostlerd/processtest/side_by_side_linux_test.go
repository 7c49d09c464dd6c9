package processtest

import "testing"

// TestSideBySide runs both hypervisors in one service: the scenarios follow each other, since the last kill what the first stand on.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	s := startSideBySide(t)
	t.Run("lists and filters", s.lists)
	t.Run("deeds", s.deeds)
	t.Run("schedules", s.schedules)
	t.Run("names in the audit log and in metrics", s.named)
	t.Run("every operation", s.operations)
	t.Run("kills", s.kills)
}
