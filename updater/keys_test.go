package updater

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/updater/installation"
	"github.com/hostler/hostler/updater/release"
)

func newSigner(t *testing.T) (*release.Signer, string) {
	t.Helper()
	signer, err := release.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	public, err := signer.Key.PEM()
	if err != nil {
		t.Fatal(err)
	}
	return signer, string(public)
}

// refused makes a run that must end before anything is unpacked.
func (s *site) refused(says string) {
	s.t.Helper()
	answer := s.do(order{Do: "run"})
	if answer == nil || answer.Err != "" || !strings.HasPrefix(answer.Reason, "download: ") || !strings.Contains(answer.Reason, says) {
		s.t.Fatalf("want %q: %+v", says, answer)
	}
}

// Who may sign: the keys that are trusted here, and from a release on those that it brings and without those that it
// withdraws.
func TestKeysInAWholeRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.signer
	second, secondText := newSigner(t)
	stolen, stolenText := newSigner(t)
	s.put(filepath.Join(s.keys, "stolen.pub"), stolenText, 0o644)

	stranger, _ := newSigner(t)
	s.signer = stranger
	m := s.publish(newVersion, "")
	s.refused("not signed by a trusted key")
	// Manifest and signature of two releases, both good by themselves.
	s.signer = first
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(s.out, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	s.sign(m)
	one := map[string]string{release.ManifestName: read(release.ManifestName), release.SignatureName: read(release.SignatureName)}
	other := s.publish("1.2.0", "")
	two := map[string]string{release.ManifestName: read(release.ManifestName), release.SignatureName: read(release.SignatureName)}
	for _, pair := range [][2]map[string]string{{one, two}, {two, one}} {
		s.put(filepath.Join(s.out, release.ManifestName), pair[0][release.ManifestName], 0o644)
		s.put(filepath.Join(s.out, release.SignatureName), pair[1][release.SignatureName], 0o644)
		s.refused("not signed by a trusted key")
	}
	if _, err := os.Stat(s.config().Layout.seen()); err == nil {
		t.Error("a manifest without a signature was noted")
	}
	// A release that brings a key and withdraws one, whose keys cannot be written at first.
	m.Keys, m.Withdrawn = []string{secondText}, []string{stolen.Key.ID}
	s.sign(m)
	undo := readOnly(t, s.keys)
	s.must(s.do(order{Do: "run"}), installation.StepDone)
	s.holds(newVersion, "done")
	s.signer = stolen
	other.Date = m.Date.Add(1)
	s.sign(other)
	s.refused("changes of the trusted keys") // not with a key that should be withdrawn
	undo()
	s.refused("not signed by a trusted key")
	entries, err := os.ReadDir(s.keys)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
	// The new key is good for the next release. That its program is of another version is found only after the signature.
	s.signer = second
	s.sign(other)
	if answer := s.do(order{Do: "run"}); answer == nil || !strings.Contains(answer.Reason, "the new program reports version") {
		t.Fatalf("%+v", answer)
	}
	// A key that the administrator takes away stays away.
	if err := os.Remove(filepath.Join(s.keys, second.Key.ID+release.KeySuffix)); err != nil {
		t.Fatal(err)
	}
	s.refused("not signed by a trusted key")
	s.await(newVersion)
}

// An update is killed while it changes the keys: resume changes the rest.
func TestKilledBetweenKeys(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	stolen, stolenText := newSigner(t)
	s.put(filepath.Join(s.keys, "stolen.pub"), stolenText, 0o644)
	second, secondText := newSigner(t)
	m := s.publish(newVersion, "")
	m.Keys, m.Withdrawn = []string{secondText}, []string{stolen.Key.ID}
	s.sign(m)
	if answer := s.do(order{Do: "run", KillAt: "key added"}); answer != nil {
		t.Fatalf("%+v", answer)
	}
	s.must(s.do(order{Do: "resume"}), installation.StepDone)
	s.holds(newVersion, "done")
	keys, err := release.TrustedKeys(s.keys)
	if err != nil || len(keys) != 2 {
		t.Fatalf("%v, %v", keys, err)
	}
	for _, key := range keys {
		if key.ID != second.Key.ID && key.ID != s.signer.Key.ID {
			t.Errorf("the key %s is trusted", key.ID)
		}
	}
}
