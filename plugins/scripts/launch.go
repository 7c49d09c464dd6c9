package scripts

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// limit is how long an install or update may take.
const limit = time.Hour

// sentinel is where the overlay writes what was asked.
const sentinel = "asked"

// Launch implements catalog.Catalog. It is computed from the scripts at the pin
// alone and uses no network, so the launch of an approved bundle does not
// depend on the state of the origin.
func (c *Catalog) Launch(ctx context.Context, request catalog.LaunchRequest) (catalog.Launch, error) {
	var launch catalog.Launch
	err := c.sound(ctx, request.Pin, func(s state) error {
		f, err := s.installable(request.Slug)
		if err != nil {
			return err
		}
		content, err := s.main.Read(f.path)
		if err != nil {
			return err
		}
		launch, err = common(f, content, request, s.engine != nil)
		if err != nil {
			return err
		}
		switch request.Purpose {
		case catalog.Install:
			install, err := s.main.Read(f.install)
			if err != nil {
				return err
			}
			return forInstall(&launch, request, parseHeader(content), install)
		case catalog.Update:
			return forUpdate(&launch, request, content)
		}
		return plugin.Errorf(plugin.Invalid, "%.40q is not a purpose of a launch", string(request.Purpose))
	})
	if err != nil {
		return catalog.Launch{}, err
	}
	return launch, nil
}

// releaseForm are the releases that the engine's own check lets pass.
var releaseForm = regexp.MustCompile(`^(?:8\.[0-9]|9\.[0-2])(?:[^0-9].*)?$`)

// placeForm is the form of a pin's digest.
var placeForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// common is what install and update have in common.
func common(f script, content []byte, request catalog.LaunchRequest, engine bool) (catalog.Launch, error) {
	if !placeForm.MatchString(request.Place) {
		return catalog.Launch{}, invalid("place", "it must be the place of a bundle, 64 hexadecimal digits")
	}
	launch := catalog.Launch{
		Interpreter: "bash", Program: f.path, PathFolders: []string{overlayPrograms}, Sentinel: sentinel, Limit: limit, Exits: exits,
		VersionFile: versionFile(content),
		// Without a terminal's name the scripts end at their first line.
		Environment: variables("TERM", "xterm", "LANG", "C.UTF-8", "USER", "root", "LOGNAME", "root", "SHELL", "/bin/bash",
			"DEBIAN_FRONTEND", "noninteractive", "PHS_SILENT", "1", "var_unattended", "yes"),
	}
	if engine {
		folder := catalog.BundleFolder + "/" + request.Place
		launch.Environment = append(launch.Environment, variables("COMMUNITY_SCRIPTS_CORE_DIR", folder+"/"+engineFolder,
			"COMMUNITY_SCRIPTS_ROOT", folder, "COMMUNITY_SCRIPTS_URL", "file://"+folder,
			"COMMUNITY_SCRIPTS_CORE_URL", "file://"+folder+"/"+engineFolder, "COMMUNITY_SCRIPTS_NO_PREFETCH", "1")...)
	}
	return launch, nil
}

// variables makes a list of names and values, given in turns.
func variables(pairs ...string) (list []catalog.Variable) {
	for pair := range slices.Chunk(pairs, 2) {
		list = append(list, catalog.Variable{Name: pair[0], Value: pair[1]})
	}
	return list
}

// forInstall makes a container with what the request names. The mode
// "generated" is the only one that takes the storages from the environment;
// everything that would still ask is answered before, or written to the
// sentinel.
func forInstall(l *catalog.Launch, r catalog.LaunchRequest, h header, install []byte) error {
	for field, fits := range map[string]bool{
		"name": nameForm.MatchString(r.Name), "container": r.Container == "" || idForm.MatchString(r.Container),
		"root_storage": storageForm.MatchString(r.RootStorage), "template_storage": storageForm.MatchString(r.TemplateStorage),
		"bridge": bridgeForm.MatchString(r.Bridge),
		"tags":   len(r.Tags) <= 20 && !slices.ContainsFunc(r.Tags, func(tag string) bool { return !tagForm.MatchString(tag) }),
	} {
		if !fits {
			return invalid(field, "the scripts cannot handle this value")
		}
	}
	if r.Architecture != "" && r.Architecture != "amd64" {
		return invalid("architecture", "the scripts run only on amd64: on other architectures they ask questions")
	}
	if r.Release != "" && !releaseForm.MatchString(r.Release) {
		return invalid("release", "the scripts support only the releases 8.0 to 8.9 and 9.0 to 9.2 of the hypervisor")
	}
	set, err := set(r.Overrides)
	if err != nil {
		return err
	}
	carried := append([]string{"community-script"}, tags(h.Values["var_tags"])...)
	for _, tag := range r.Tags {
		if !slices.Contains(carried, tag) {
			carried = append(carried, tag)
		}
	}
	l.Environment = append(l.Environment, variables("mode", "generated", "var_hostname", r.Name, "var_tags", strings.Join(carried, ";"),
		"var_container_storage", r.RootStorage, "var_template_storage", r.TemplateStorage, "var_brg", r.Bridge)...)
	if r.Container != "" {
		l.Environment = append(l.Environment, variables("var_ctid", r.Container)...)
	}
	if _, ok := r.Overrides["gpu"]; !ok && h.Values["var_gpu"] == "yes" {
		// With devices of two vendors the scripts ask a terminal which one.
		set = append(set, variables("var_gpu", "no")...)
	}
	l.Environment = append(l.Environment, set...)
	l.Prepare = []catalog.PreparedFile{{Path: "/usr/local/community-scripts/diagnostics", Content: "DIAGNOSTICS=no\n"}}
	l.Push, l.Succeeded, l.Steps = true, "Completed successfully!", steps
	count, consent := prompts(install)
	l.Input, err = input(r, count, consent)
	return err
}

// forUpdate runs the same script inside the container, where it updates.
func forUpdate(l *catalog.Launch, r catalog.LaunchRequest, content []byte) error {
	if len(r.Overrides) > 0 {
		for key := range r.Overrides {
			return invalid(key, "an update has no settings")
		}
	}
	count, consent := prompts(content)
	r.Answers = r.Answers[:min(len(r.Answers), count)] // they are for the questions of an install, of which an update asks few
	var err error
	l.Input, err = input(r, count, consent && r.Yes)
	return err
}

// input is the answers to the questions, one a line. What nobody has answered
// is an empty line, which means no in nearly all of them; there are not more
// lines than questions, for some ask for ever.
func input(r catalog.LaunchRequest, count int, consent bool) (string, error) {
	var lines []string
	if consent {
		if !r.Yes {
			return "", invalid("yes", "the script runs a third-party installer and asks for confirmation; set yes to confirm")
		}
		lines = append(lines, "y")
	}
	for _, answer := range r.Answers {
		if answer != line(answer) {
			return "", invalid("answers", "an answer must be one line of text")
		}
	}
	answers := r.Answers
	if consent && len(answers) == count && count > 0 { // the consent is among them
		answers = answers[1:]
	}
	if len(lines)+len(answers) > count {
		return "", invalid("answers", "the script asks only %d questions", count)
	}
	lines = append(lines, answers...)
	for len(lines) < count {
		lines = append(lines, "")
	}
	if len(lines) == 0 {
		return "", nil
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// versionCall is the helper that keeps the version of what it fetched in a file of root's home.
var versionCall = regexp.MustCompile(`(?m)^[ \t]*(?:if[ \t]+)?` +
	`(?:check_for_gh_release|check_for_gh_tag|fetch_and_deploy_gh_release|fetch_and_deploy_gh_tag)[ \t]+"([A-Za-z0-9._ -]{1,80})"`)

// versionFile is where the version of an app is kept; empty when its script does not tell.
func versionFile(content []byte) string {
	m := versionCall.FindSubmatch(content)
	if m == nil {
		return ""
	}
	return "/root/." + strings.ReplaceAll(strings.ToLower(string(m[1])), " ", "")
}
