package install

import (
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/core/secret"
	sdk "github.com/hostler/hostler/sdk/catalog"
)

// params are the stored parameters of a job.
type params struct {
	HostID    int64  `json:"host_id"`
	ClusterID int64  `json:"cluster_id"`
	Node      string `json:"node"`
	// Path is the name of the entry in the API, and Title its display name.
	Path   string `json:"path"`
	Title  string `json:"title"`
	Source string `json:"source"`
	Slug   string `json:"slug"`
	Pin    string `json:"pin"`
	AppPin string `json:"app_pin"`
	Sum    string `json:"sum"`
	// Name is the app's and the container's.
	Name string `json:"name"`
	// Mark is a tag that only the container of this job has. It is also the
	// name of the run on the machine.
	Mark string `json:"mark"`
	// Spec has the id that was asked for, which other jobs keep off: see guest.ContainerPlace.Reserve.
	Spec struct {
		ID string `json:"ID,omitempty"`
	} `json:"spec"`
	// Overrides are the settings of the request; nil is a secret.
	Overrides map[string]*string `json:"overrides"`
	// Secrets are the values of the secret overrides.
	Secrets []secret.String `json:"secrets"`
	Launch  launch          `json:"launch"`
	UserID  *int64          `json:"user_id"`
	Email   string          `json:"email"`
}

// launch is an sdk.Launch whose secrets are in fields that the queue encrypts.
type launch struct {
	Interpreter string             `json:"interpreter"`
	Program     string             `json:"program"`
	Arguments   []string           `json:"arguments"`
	Environment []variable         `json:"environment"`
	PathFolders []string           `json:"path_folders"`
	Input       secret.String      `json:"input"` // answers may be passwords
	Prepare     []sdk.PreparedFile `json:"prepare"`
	Sentinel    string             `json:"sentinel"`
	Succeeded   string             `json:"succeeded"`
	Steps       []sdk.Step         `json:"steps"`
	Exits       []sdk.Exit         `json:"exits"`
	Limit       time.Duration      `json:"limit"`
	VersionFile string             `json:"version_file"`
}

// variable is an environment variable of the scripts. If Hidden is true, Secret
// has the value instead of Value.
type variable struct {
	Name string `json:"name"`
	// Value is empty where there is a Secret.
	Value  string        `json:"value"`
	Hidden bool          `json:"hidden"`
	Secret secret.String `json:"secret"`
}

// usualLimit is how long scripts may run if the source sets no limit.
const usualLimit = time.Hour

// launchOf converts a launch. A variable that contains one of the secrets is
// hidden, whatever the source says about it.
func launchOf(l sdk.Launch, secrets []string) launch {
	kept := launch{Interpreter: l.Interpreter, Program: l.Program, Arguments: l.Arguments, PathFolders: l.PathFolders,
		Input: secret.New(l.Input), Prepare: l.Prepare, Sentinel: l.Sentinel, Succeeded: l.Succeeded, Steps: l.Steps, Exits: l.Exits,
		Limit: l.Limit, VersionFile: l.VersionFile}
	if kept.Limit == 0 {
		kept.Limit = usualLimit
	}
	for _, v := range l.Environment {
		if v.Secret || holds(v.Value, secrets) {
			kept.Environment = append(kept.Environment, variable{Name: v.Name, Hidden: true, Secret: secret.New(v.Value)})
		} else {
			kept.Environment = append(kept.Environment, variable{Name: v.Name, Value: v.Value})
		}
	}
	return kept
}

// value returns the value that the scripts get.
func (v variable) value() string {
	if v.Hidden {
		return v.Secret.Reveal()
	}
	return v.Value
}

// shown returns the environment by name; nil is a secret.
func (l *launch) shown() map[string]*string {
	all := map[string]*string{}
	for _, v := range l.Environment {
		all[v.Name] = nil
		if !v.Hidden {
			all[v.Name] = &v.Value
		}
	}
	return all
}

// holds reports whether a text contains one of the secrets.
func holds(text string, secrets []string) bool {
	return slices.ContainsFunc(secrets, func(secret string) bool { return secret != "" && strings.Contains(text, secret) })
}

// leaks reports whether a launch contains one of the secrets where others could
// see it, such as in an argument. Only the values of variables and the input
// may contain secrets. Secrets shorter than leastSecret are ignored, because
// they may occur by chance.
func leaks(l sdk.Launch, secrets []string) bool {
	secrets = slices.DeleteFunc(slices.Clone(secrets), func(secret string) bool { return len(secret) < leastSecret })
	if holds(l.Program, secrets) || holds(l.Succeeded, secrets) || holds(l.Sentinel, secrets) || holds(l.VersionFile, secrets) {
		return true
	}
	has := func(text string) bool { return holds(text, secrets) }
	return slices.ContainsFunc(l.Arguments, has) || slices.ContainsFunc(l.PathFolders, has) ||
		slices.ContainsFunc(l.Prepare, func(f sdk.PreparedFile) bool { return has(f.Path) || has(f.Content) }) ||
		slices.ContainsFunc(l.Steps, func(s sdk.Step) bool { return has(s.Text) }) ||
		slices.ContainsFunc(l.Exits, func(e sdk.Exit) bool { return has(e.Text) || has(e.Reason) }) ||
		slices.ContainsFunc(l.Environment, func(v sdk.Variable) bool { return has(v.Name) })
}
