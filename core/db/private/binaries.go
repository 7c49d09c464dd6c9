package private

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// OldestMajor is the oldest supported major version of PostgreSQL.
const OldestMajor = 14

// Binaries is an installed PostgreSQL.
type Binaries struct {
	Dir string
	// Major is the major version, and Version the full one as the program
	// prints it.
	Major   int
	Version string
}

// Path returns the path of a program, such as "initdb".
func (b Binaries) Path(program string) string { return filepath.Join(b.Dir, program) }

// places are where distributions install the server's programs: Debian and
// Ubuntu, RHEL, Alpine, Arch, and the default of a build from source.
var places = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/usr/libexec/postgresql*",
	"/usr/local/pgsql/bin",
	"/usr/local/bin",
	"/usr/bin",
}

// FindBinaries returns the PostgreSQL installations of the machine, newest
// first. With dir it looks only there. Otherwise it looks in the places of
// known distributions, in PATH, and in the folder that pg_config prints. The
// error wraps ErrNoBinaries if there is none.
func FindBinaries(ctx context.Context, dir string) ([]Binaries, error) {
	candidates := []string{dir}
	if dir == "" {
		candidates = nil
		for _, pattern := range places {
			found, _ := filepath.Glob(pattern) // the patterns are constants; Glob fails on malformed ones only
			candidates = append(candidates, found...)
		}
		if path, err := exec.LookPath("postgres"); err == nil {
			candidates = append(candidates, filepath.Dir(path))
		}
		if out, err := probe(ctx, "pg_config", "--bindir"); err == nil {
			candidates = append(candidates, out)
		}
	}
	var all []Binaries
	var reasons []string
	seen := map[string]bool{}
	for _, candidate := range candidates {
		real, err := filepath.EvalSymlinks(candidate)
		if err != nil {
			if dir != "" {
				reasons = append(reasons, err.Error())
			}
			continue
		}
		if seen[real] {
			continue
		}
		seen[real] = true
		b, err := inspect(ctx, real)
		switch {
		case err == nil:
			all = append(all, b)
		case dir != "" || !os.IsNotExist(err):
			reasons = append(reasons, err.Error())
		}
	}
	if len(all) == 0 {
		detail := ""
		if len(reasons) > 0 {
			detail = " (" + strings.Join(reasons, "; ") + ")"
		}
		return nil, fmt.Errorf("%w: version %d or newer is required: apt-get install postgresql%s", ErrNoBinaries, OldestMajor, detail)
	}
	slices.SortStableFunc(all, func(a, b Binaries) int { return b.Major - a.Major })
	return all, nil
}

// pick returns the installation for a cluster of a major version, or the newest
// one for 0. A major version of PostgreSQL cannot read the data of another one.
func pick(all []Binaries, major int) (Binaries, error) {
	if major == 0 {
		return all[0], nil
	}
	var have []string
	for _, b := range all {
		if b.Major == major {
			return b, nil
		}
		have = append(have, strconv.Itoa(b.Major))
	}
	return Binaries{}, fmt.Errorf("%w: the data has version %d, but only %s is installed: apt-get install postgresql-%d",
		ErrNoBinaries, major, strings.Join(have, ", "), major)
}

var versionLine = regexp.MustCompile(`^postgres \(PostgreSQL\) ((\d+)\S*)`)

func inspect(ctx context.Context, dir string) (Binaries, error) {
	for _, program := range []string{"postgres", "initdb"} {
		if _, err := os.Stat(filepath.Join(dir, program)); err != nil {
			return Binaries{}, err
		}
	}
	out, err := probe(ctx, filepath.Join(dir, "postgres"), "--version")
	if err != nil {
		return Binaries{}, fmt.Errorf("reading the version of %s: %w", filepath.Join(dir, "postgres"), err)
	}
	m := versionLine.FindStringSubmatch(out)
	if m == nil {
		return Binaries{}, fmt.Errorf("%s printed no version", filepath.Join(dir, "postgres"))
	}
	major, err := strconv.Atoi(m[2])
	if err != nil {
		return Binaries{}, fmt.Errorf("reading the version of %s: %w", dir, err)
	}
	if major < OldestMajor {
		return Binaries{}, fmt.Errorf("%s is version %d, older than %d", dir, major, OldestMajor)
	}
	return Binaries{Dir: dir, Major: major, Version: m[1]}, nil
}

// probe runs a program that prints a short answer and returns it trimmed.
func probe(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = environment()
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}
