package heartbeat_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hostler/hostler/core/heartbeat"
)

func TestPulse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testPulse)
}

func testPulse(t *testing.T) {
	var p heartbeat.Monitor
	if late := p.Late(); late != 0 {
		t.Errorf("late by %v before the first beat", late)
	}
	p.Beat(time.Hour)
	if late := p.Late(); late != 0 {
		t.Errorf("late by %v within its time", late)
	}
	p.Beat(-time.Minute)
	if late := p.Late(); late != time.Minute {
		t.Errorf("late by %v, want a minute", late)
	}
	p.Beat(0)
	if late := p.Late(); late != 0 {
		t.Errorf("late by %v after another beat", late)
	}
	var none *heartbeat.Monitor
	none.Beat(0)
	if none.Late() != 0 {
		t.Error("a nil monitor is late")
	}
}
