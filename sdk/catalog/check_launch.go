package catalog

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Limits of launches, in bytes except MaxLaunchLimit.
const (
	MaxPreparedFile = 4 << 10
	MaxLaunchInput  = 64 << 10
	MaxLaunchLimit  = 24 * time.Hour
	maxArguments    = 100
	maxVariables    = 200
	maxPrepared     = 10
	maxSteps        = 300
)

// variableForm is the shape of a portable variable name.
var variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)

// ForbiddenVariable reports whether neither a launch nor an override may set a
// variable of this name: it makes programs load code, changes which programs are
// found, or belongs to the service.
func ForbiddenVariable(name string) bool {
	switch name {
	case "PATH", "HOME", "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "IFS", "PS4", "PROMPT_COMMAND", "CDPATH", "GLOBIGNORE", "FPATH",
		"PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PERL5LIB", "PERL5OPT", "PERL5DB", "RUBYLIB", "RUBYOPT", "NODE_OPTIONS", "NODE_PATH",
		"GCONV_PATH", "LOCPATH", "TMPDIR", "EDITOR", "VISUAL", "PAGER", "LESSOPEN", "CURL_HOME", "WGETRC", "SYSTEM_WGETRC", RunFolderVariable:
		return true
	}
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "BASH_FUNC_") || strings.HasPrefix(name, "GIT_")
}

// CheckLaunch returns Protocol for a launch that is wrong or does not fit the
// manifest of its bundle. A launch runs as root, so it may only name files of the
// bundle, whose checksums the user agreed to.
func CheckLaunch(l Launch, m Manifest) error {
	switch {
	case l.Interpreter != "bash" && l.Interpreter != "sh":
		return bad("%.40q is not an allowed interpreter", l.Interpreter)
	case !slices.ContainsFunc(m.Files, func(f File) bool { return f.Path == l.Program }):
		return bad("the program %.80q is not a file of the bundle", l.Program)
	case len(l.Arguments) > maxArguments || slices.ContainsFunc(l.Arguments, func(a string) bool { return !isText(a) }):
		return bad("there are too many arguments, or one is too long or not valid text")
	case len(l.Input) > MaxLaunchInput || !isText(l.Input):
		return bad("the input is too long or not valid text")
	case l.Sentinel != "" && (!ValidPath(l.Sentinel) || strings.Contains(l.Sentinel, "/")):
		return bad("the sentinel is not a valid file name")
	case !isLine(l.Succeeded):
		return bad("the success text is too long or not a single line")
	case l.Limit < 0 || l.Limit > MaxLaunchLimit:
		return bad("the limit is not between 0 and %s", MaxLaunchLimit)
	case l.VersionFile != "" && !absolute(l.VersionFile):
		return bad("the path of the version file is not absolute")
	}
	for _, folder := range l.PathFolders {
		if !ValidPath(folder) || strings.Contains(folder, ":") ||
			!slices.ContainsFunc(m.Files, func(f File) bool { return strings.HasPrefix(f.Path, folder+"/") }) {
			return bad("%.80q is not a folder of the bundle that can be added to PATH", folder)
		}
	}
	if err := checkEnvironment(l.Environment); err != nil {
		return err
	}
	if err := checkPrepared(l.Prepare); err != nil {
		return err
	}
	return checkSigns(l)
}

// checkEnvironment validates the variables of a launch.
func checkEnvironment(variables []Variable) error {
	if len(variables) > maxVariables {
		return bad("the environment has too many variables: %d", len(variables))
	}
	seen := map[string]bool{}
	for _, v := range variables {
		switch {
		case !variableForm.MatchString(v.Name) || seen[v.Name]:
			return bad("%.80q is not a valid variable name, or occurs twice", v.Name)
		case ForbiddenVariable(v.Name):
			return bad("the variable %s may not be set", v.Name)
		case !isText(v.Value):
			return bad("the variable %s is too long or not valid text", v.Name) // never its value, which may be a secret
		}
		seen[v.Name] = true
	}
	return nil
}

// checkPrepared rejects prepared files at places where code or configuration of the
// system is, because only the files of the bundle were shown to the user.
func checkPrepared(files []PreparedFile) error {
	if len(files) > maxPrepared {
		return bad("too many files to prepare: %d", len(files))
	}
	for _, f := range files {
		below := strings.HasPrefix(f.Path, "/usr/local/") || strings.HasPrefix(f.Path, "/var/lib/")
		code := slices.ContainsFunc(strings.Split(f.Path, "/"), func(part string) bool {
			return slices.Contains([]string{"bin", "sbin", "libexec", "etc", "systemd", "hostler", "cron", "dpkg"}, part)
		})
		lib := strings.HasPrefix(f.Path, "/usr/local/lib")
		if !absolute(f.Path) || !below || code || lib || len(f.Content) > MaxPreparedFile || !isText(f.Content) {
			return bad("the file to prepare %.80q has a path that is not allowed, or is too long", f.Path)
		}
	}
	return nil
}

// checkSigns validates the steps and exits of a launch.
func checkSigns(l Launch) error {
	if len(l.Steps) > maxSteps || len(l.Exits) > maxSteps {
		return bad("too many steps or exits")
	}
	for _, s := range l.Steps {
		if s.Text == "" || !isLine(s.Text) || !(s.Progress >= 0 && s.Progress <= 1) {
			return bad("a step is invalid: it needs a text of one line and a progress between 0 and 1")
		}
	}
	seen := map[int]bool{}
	for _, e := range l.Exits {
		if e.Status < 0 || e.Status > 255 || seen[e.Status] || !keyForm.MatchString(e.Reason) || !isText(e.Text) {
			return bad("the explanation of the exit status %d is invalid or occurs twice", e.Status)
		}
		seen[e.Status] = true
	}
	return nil
}

// absolute reports whether p is a clean absolute path, not the root.
func absolute(p string) bool {
	return path.IsAbs(p) && path.Clean(p) == p && p != "/" && ValidPath(p[1:])
}
