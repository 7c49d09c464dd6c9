package catalog

import (
	"testing"

	"github.com/hostler/hostler/core/bundle"
	sdk "github.com/hostler/hostler/sdk/catalog"
)

// What people have agreed to says the same for ever: whoever changes the text makes it another release, and old consents hold no more.
func TestTextOfConsent(t *testing.T) {
	t.Parallel()
	texts := map[int]string{
		1: "On the host lab, as root on the machine itself, these scripts will run: the 2 files of the bundle with the SHA-256 SUM, for " +
			"Wiki.\n" +
			"What it makes gets more than the usual: one thing; another.\n" +
			"The pin fixes the scripts, and not what they fetch: releases of the program, packages of the system and of languages, and " +
			"images are those of the day, and nobody has checked their bytes beforehand.\n" +
			"1 places of the scripts do so, as far as the source sees.\n" +
			"This consent is for these bytes on this host, and for nothing else.",
		2: "These scripts will run on the host lab, as root on the machine itself: the 2 files of the bundle with the SHA-256 SUM, for " +
			"Wiki.\n" +
			"The container that they create gets more rights than usual:\n" +
			"- one thing\n" +
			"- another\n" +
			"The pin covers the scripts, but not what they download. Releases of the program, system and language packages, and images " +
			"are the ones that are current at that time, and nobody has checked their bytes beforehand.\n" +
			"As far as the source can tell, the scripts download something in 1 place.\n" +
			"This consent applies only to these bytes on this host.",
	}
	h := &planHost{PlanHost: PlanHost{Name: "lab"}}
	e := &sdk.Entry{Name: "Wiki", Privileges: []sdk.Privilege{{Text: "one thing"}, {Text: "another"}}}
	m := &sdk.Manifest{Files: make([]sdk.File, 2), Unpinned: make([]sdk.Fetch, 1)}
	if got := consentText(h, e, m, "SUM"); got != texts[bundle.TextVersion] {
		t.Errorf("release %d says:\n%s", bundle.TextVersion, got)
	}
	updates := map[int]string{
		1: "On the host lab, as root inside the container of an app, these scripts will run: the 2 files of the bundle with the SHA-256 SUM, " +
			"for Wiki.\n" +
			"A snapshot of the container, or a backup, is made before. Where the scripts fail, or the app does not answer afterwards as it did " +
			"before, the container is set back by that, and what was written since is lost.\n" +
			"The pin fixes the scripts, and not what they fetch: releases of the program, packages of the system and of languages, and " +
			"images are those of the day, and nobody has checked their bytes beforehand.\n" +
			"1 places of the scripts do so, as far as the source sees.\n" +
			"This consent is for these bytes on this host, and for nothing else.",
		2: "These scripts will run on the host lab, as root inside the container of an app: the 2 files of the bundle with the SHA-256 SUM, " +
			"for Wiki.\n" +
			"Hostler first creates a snapshot of the container, or a backup. If the scripts fail, or if the app does not respond afterwards " +
			"as it did before, Hostler restores the container from it, and data written since then is lost.\n" +
			"The pin covers the scripts, but not what they download. Releases of the program, system and language packages, and images " +
			"are the ones that are current at that time, and nobody has checked their bytes beforehand.\n" +
			"As far as the source can tell, the scripts download something in 1 place.\n" +
			"This consent applies only to these bytes on this host.",
	}
	if got := updateText("lab", "Wiki", m, "SUM"); got != updates[bundle.TextVersion] {
		t.Errorf("release %d says of updates:\n%s", bundle.TextVersion, got)
	}
}
