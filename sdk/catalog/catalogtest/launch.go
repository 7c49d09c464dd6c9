package catalogtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// launchRequest returns a request with everything that the service knows about
// a run. It has as many answers as the entry asks questions.
func launchRequest(e catalog.Entry, m catalog.Manifest) catalog.LaunchRequest {
	return catalog.LaunchRequest{
		Slug: e.Slug, Pin: m.Pin, Purpose: m.Purpose, Place: m.Place, Name: "suite-app", Container: "9001", Tags: []string{"svc-job-1", "app"},
		RootStorage: "local-lvm", TemplateStorage: "local", Bridge: "vmbr0", Architecture: "amd64",
		Answers: slices.Repeat([]string{"y"}, e.Prompts), Yes: true,
	}
}

// launched returns the launch of a request. It must pass the checks that the
// service makes before it runs anything.
func launched(t *testing.T, s *suite, request catalog.LaunchRequest, m catalog.Manifest) (catalog.Launch, bool) {
	t.Helper()
	l, err := s.catalog.Launch(t.Context(), request)
	if err == nil {
		err = catalog.CheckLaunch(l, m)
	}
	if err != nil {
		t.Errorf("the launch to %s %s: %v", request.Purpose, request.Slug, err)
	}
	return l, err == nil
}

// testLaunch checks that launches are valid and repeatable. For an installation
// the job's tag must reach the program, because the service finds the new
// container by it after a crash.
func testLaunch(t *testing.T, s *suite) {
	l := s.whole(t)
	for i, e := range l.installable(t) {
		if i == 5 {
			return
		}
		for _, purpose := range purposes(e) {
			m, _, err := read(t, s.catalog, catalog.BundleRequest{Slug: e.Slug, Pin: l.Begin.Pin, Purpose: purpose})
			if err != nil {
				t.Fatal(err)
			}
			request := launchRequest(e, m)
			launch, ok := launched(t, s, request, m)
			if !ok {
				continue
			}
			again, ok := launched(t, s, request, m)
			if ok && (again.Program != launch.Program || again.Input != launch.Input || !slices.Equal(again.Environment, launch.Environment)) {
				t.Errorf("the second launch to %s %s differs from the first", purpose, e.Slug)
			}
			if purpose == catalog.Install && !mentions(launch, request.Tags[0]) {
				t.Errorf("the container that %s creates would not have the tag by which the service finds it", e.Slug)
			}
		}
	}
}

// mentions reports whether the program gets a word.
func mentions(l catalog.Launch, word string) bool {
	for _, v := range l.Environment {
		if strings.Contains(v.Value, word) {
			return true
		}
	}
	return slices.ContainsFunc(l.Arguments, func(a string) bool { return strings.Contains(a, word) })
}

// testLaunchHostile passes hostile texts as names and overrides. They must
// arrive unchanged as values or be refused as Invalid; they must never change
// which program runs.
func testLaunchHostile(t *testing.T, s *suite) {
	l := s.whole(t)
	e := l.installable(t)[0]
	m, _, err := read(t, s.catalog, catalog.BundleRequest{Slug: e.Slug, Pin: l.Begin.Pin, Purpose: catalog.Install})
	if err != nil {
		t.Fatal(err)
	}
	honest, ok := launched(t, s, launchRequest(e, m), m)
	if !ok {
		return
	}
	for _, word := range hostileNames {
		request := launchRequest(e, m)
		request.Name = word
		for _, o := range e.Overrides {
			if o.Type == catalog.Line && catalog.CheckOption(o, word) {
				request.Overrides = map[string]string{o.Key: word}
				break
			}
		}
		launch, err := s.catalog.Launch(t.Context(), request)
		if err != nil {
			kind(t, word, err, plugin.Invalid)
			continue
		}
		if err := catalog.CheckLaunch(launch, m); err != nil && !strings.ContainsAny(word, "\x00") {
			t.Errorf("with %q: %v", word, err)
		}
		if launch.Program != honest.Program || launch.Interpreter != honest.Interpreter {
			t.Errorf("with %q %s runs %s", word, launch.Interpreter, launch.Program)
		}
	}
}

// testLaunchRefused checks that overrides which are no options of the entry are
// Invalid, in particular variables that load code or change PATH.
func testLaunchRefused(t *testing.T, s *suite) {
	l := s.whole(t)
	e := l.installable(t)[0]
	m, _, err := read(t, s.catalog, catalog.BundleRequest{Slug: e.Slug, Pin: l.Begin.Pin, Purpose: catalog.Install})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"path", "PATH", "ld_preload", "LD_PRELOAD", "bash_env", "BASH_ENV", "mode", "no_such_override_is_there",
		"", "a=b"} {
		request := launchRequest(e, m)
		request.Overrides = map[string]string{key: "x"}
		_, err := s.catalog.Launch(t.Context(), request)
		kind(t, "the override "+key, err, plugin.Invalid)
	}
	request := launchRequest(e, m)
	request.Slug = "nobody-has-this"
	_, err = s.catalog.Launch(t.Context(), request)
	kind(t, "an unknown slug", err, plugin.NotFound)
	request = launchRequest(e, m)
	request.Pin = unknownPin(m.Pin)
	_, err = s.catalog.Launch(t.Context(), request)
	kind(t, "an unknown pin", err, plugin.NotFound)
}
