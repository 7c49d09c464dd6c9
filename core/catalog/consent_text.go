package catalog

import (
	"fmt"
	"strings"

	sdk "github.com/hostler/hostler/sdk/catalog"
)

// Unpinned says what the pin does not cover. It is part of the text that people
// agree to.
const Unpinned = "The pin fixes the scripts, and not what they fetch: releases of the program, packages of the system and of languages, " +
	"and " +
	"images are those of the day, and nobody has checked their bytes beforehand."

// consentText returns the text that people agree to. Its content may change
// only together with bundle.TextVersion: otherwise an old agreement would be
// taken for one to the new text.
func consentText(h *planHost, e *sdk.Entry, m *sdk.Manifest, sum string) string {
	lines := []string{fmt.Sprintf("On the host %s, as root on the machine itself, these scripts will run: the %d files of the bundle with "+
		"the SHA-256 %s, "+
		"for %s.", h.Name, len(m.Files), sum, e.Name)}
	if len(e.Privileges) > 0 {
		all := make([]string, len(e.Privileges))
		for i, p := range e.Privileges {
			all[i] = p.Text
		}
		lines = append(lines, "What it makes gets more than the usual: "+strings.Join(all, "; ")+".")
	}
	lines = append(lines, Unpinned)
	if n := len(m.Unpinned); n > 0 {
		lines = append(lines, fmt.Sprintf("%d places of the scripts do so, as far as the source sees.", n))
	}
	return strings.Join(append(lines, "This consent is for these bytes on this host, and for nothing else."), "\n")
}

// updateText returns the text for an update, which runs inside a container. As
// with consentText, its content may change only together with
// bundle.TextVersion.
func updateText(host, name string, m *sdk.Manifest, sum string) string {
	lines := []string{fmt.Sprintf("On the host %s, as root inside the container of an app, these scripts will run: the %d files of the "+
		"bundle with the SHA-256 %s, for %s.", host, len(m.Files), sum, name),
		"A snapshot of the container, or a backup, is made before. Where the scripts fail, or the app does not answer afterwards as it did " +
			"before, the container is set back by that, and what was written since is lost.", Unpinned}
	if n := len(m.Unpinned); n > 0 {
		lines = append(lines, fmt.Sprintf("%d places of the scripts do so, as far as the source sees.", n))
	}
	return strings.Join(append(lines, "This consent is for these bytes on this host, and for nothing else."), "\n")
}
