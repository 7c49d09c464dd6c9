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

// limit is the longest time that an install or update may take. After that it
// is ended and counts as failed.
const limit = time.Hour

// sentinel is the file in which the programs of the overlay record a question
// that nobody could answer, or a download that they refused.
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

// releaseForm matches the releases of Proxmox VE that the scripts accept. With
// any other release they end with an error, so the launch is refused before.
var releaseForm = regexp.MustCompile(`^(?:8\.[0-9]|9\.[0-2])(?:[^0-9].*)?$`)

// placeForm matches the place of a bundle, which is a SHA-256 digest in
// hexadecimal.
var placeForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// common returns the parts of a launch that an install and an update share: the
// program, its environment and the meaning of its exit statuses. If the scripts
// use a second repository, the environment leads them to its files in the
// bundle, so that they download nothing.
func common(f script, content []byte, request catalog.LaunchRequest, engine bool) (catalog.Launch, error) {
	if !placeForm.MatchString(request.Place) {
		return catalog.Launch{}, invalid("place", "it must be the digest of a bundle: 64 hexadecimal digits")
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

// variables returns environment variables from names and values that alternate.
func variables(pairs ...string) (list []catalog.Variable) {
	for pair := range slices.Chunk(pairs, 2) {
		list = append(list, catalog.Variable{Name: pair[0], Value: pair[1]})
	}
	return list
}

// forInstall completes the launch of an install. The scripts run in the mode
// "generated", the only one that takes the storages from the environment
// instead of asking for them. All other questions are answered in advance or
// recorded in the sentinel.
//
// Values are checked strictly, because the scripts use them without quotes in
// commands. The script is prevented from sending statistics by a prepared file.
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

// forUpdate completes the launch of an update. The same script runs, but inside
// the container, where it updates the app. An update has no settings. Surplus
// answers are dropped, because they belong to the questions of the install, and
// an update asks fewer.
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

// input returns the standard input of a script: one line per question. A
// question without an answer gets an empty line, which means no for nearly all
// of them. There are never more lines than questions, because some scripts
// repeat a question for as long as they can read.
//
// If consent is set, the script runs a third-party installer and asks for
// confirmation first. The first line is then "y", but only if the user
// confirmed it explicitly.
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

// versionCall matches calls of the helper functions that download a release.
// They store the version in a file in the home directory of root.
var versionCall = regexp.MustCompile(`(?m)^[ \t]*(?:if[ \t]+)?` +
	`(?:check_for_gh_release|check_for_gh_tag|fetch_and_deploy_gh_release|fetch_and_deploy_gh_tag)[ \t]+"([A-Za-z0-9._ -]{1,80})"`)

// versionFile returns the file in the container that contains the installed
// version of the app. It is empty if the script does not use the helper
// functions.
func versionFile(content []byte) string {
	m := versionCall.FindSubmatch(content)
	if m == nil {
		return ""
	}
	return "/root/." + strings.ReplaceAll(strings.ToLower(string(m[1])), " ", "")
}
