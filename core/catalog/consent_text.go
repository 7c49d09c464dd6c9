package catalog

import (
	"fmt"
	"strings"

	sdk "github.com/hostler/hostler/sdk/catalog"
)

// Unpinned says what the pin does not cover. It is part of the text that people
// agree to.
const Unpinned = "The pin covers the scripts, but not what they download. Releases of the program, system and language packages, and " +
	"images are the ones that are current at that time, and nobody has checked their bytes beforehand."

// consentText returns the text that people agree to. Its content may change
// only together with bundle.TextVersion: otherwise an old agreement would be
// taken for one to the new text.
func consentText(h *planHost, e *sdk.Entry, m *sdk.Manifest, sum string) string {
	lines := []string{fmt.Sprintf("These scripts will run on the host %s, as root on the machine itself: the %d files of the bundle with "+
		"the SHA-256 %s, for %s.", h.Name, len(m.Files), sum, e.Name)}
	if len(e.Privileges) > 0 {
		lines = append(lines, "The container that they create gets more rights than usual:")
		for _, p := range e.Privileges {
			lines = append(lines, "- "+p.Text)
		}
	}
	lines = append(lines, Unpinned)
	if n := len(m.Unpinned); n > 0 {
		lines = append(lines, unpinnedPlaces(n))
	}
	return strings.Join(append(lines, "This consent applies only to these bytes on this host."), "\n")
}

// updateText returns the text for an update, which runs inside a container. As
// with consentText, its content may change only together with
// bundle.TextVersion.
func updateText(host, name string, m *sdk.Manifest, sum string) string {
	lines := []string{fmt.Sprintf("These scripts will run on the host %s, as root inside the container of an app: the %d files of the "+
		"bundle with the SHA-256 %s, for %s.", host, len(m.Files), sum, name),
		"Hostler first creates a snapshot of the container, or a backup. If the scripts fail, or if the app does not respond afterwards " +
			"as it did before, Hostler restores the container from it, and data written since then is lost.", Unpinned}
	if n := len(m.Unpinned); n > 0 {
		lines = append(lines, unpinnedPlaces(n))
	}
	return strings.Join(append(lines, "This consent applies only to these bytes on this host."), "\n")
}

// unpinnedPlaces returns the sentence about downloads that the source found.
func unpinnedPlaces(n int) string {
	places := fmt.Sprintf("%d places", n)
	if n == 1 {
		places = "1 place"
	}
	return "As far as the source can tell, the scripts download something in " + places + "."
}
