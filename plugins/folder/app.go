package folder

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// app is the content of app.json. README.md describes the fields for authors of
// apps. Unknown fields are errors, because a misspelled field would otherwise
// be ignored silently.
type app struct {
	Name          string      `json:"name"`
	Description   string      `json:"description"`
	Categories    []string    `json:"categories"`
	Tags          []string    `json:"tags"`
	Authors       []string    `json:"authors"`
	Licence       string      `json:"licence"`
	Website       string      `json:"website"`
	Docs          string      `json:"docs"`
	Sources       []string    `json:"sources"`
	Web           *web        `json:"web"`
	Defaults      defaults    `json:"defaults"`
	ConfigPath    string      `json:"config_path"`
	Credentials   string      `json:"credentials"`
	Notes         []note      `json:"notes"`
	Disabled      string      `json:"disabled"`
	Successor     string      `json:"successor"`
	VariantOf     string      `json:"variant_of"`
	Architectures []string    `json:"architectures"`
	Prompts       int         `json:"prompts"`
	NeedsYes      bool        `json:"needs_yes"`
	Privileges    []privilege `json:"privileges"`
	Overrides     []override  `json:"overrides"`
	VersionFile   string      `json:"version_file"`
	LimitMinutes  int         `json:"limit_minutes"`
}

// web is the address of the app's web interface: http or https, the port, and
// the path with its leading slash.
type web struct {
	Protocol string `json:"protocol"`
	Port     int    `json:"port"`
	Path     string `json:"path"`
}

// defaults are the size of a new container, in cores, MiB and GiB, and its
// operating system. Zero leaves the choice to ct.sh. Privileged containers are
// not isolated from the node, so the default is unprivileged.
type defaults struct {
	Cores      int    `json:"cores"`
	MemoryMB   int    `json:"memory_mb"`
	DiskGB     int    `json:"disk_gb"`
	OS         string `json:"os"`
	OSVersion  string `json:"os_version"`
	Privileged bool   `json:"privileged"`
}

// note is a remark for the person who installs the app. Level is one of
// catalog.NoteLevel.
type note struct {
	Level string `json:"level"`
	Text  string `json:"text"`
}

// privilege announces something unusual that the app's scripts do on the node,
// for the consent of the person who installs it. The scripts are not checked
// for it.
type privilege struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

// override is a setting of the app. Its value reaches the scripts as the
// variable var_KEY. Type and the limits are those of catalog.Option.
type override struct {
	Key         string   `json:"key"`
	Type        string   `json:"type"`
	Values      []string `json:"values"`
	Default     string   `json:"default"`
	Description string   `json:"description"`
	Required    bool     `json:"required"`
	Secret      bool     `json:"secret"`
	Min         int64    `json:"min"`
	Max         int64    `json:"max"`
}

// maxApp is the maximum size of an app.json, in bytes.
const maxApp = 256 << 10

// appOf reads the app.json of an app. Every fault in the file is an error of
// kind Protocol, which entry turns into a disabled entry. Data after the object
// is a fault too.
func (s state) appOf(slug string) (app, error) {
	var a app
	f, ok := s.tree.Find(slug + "/app.json")
	if !ok {
		return a, plugin.Errorf(plugin.Protocol, "the app has no app.json")
	}
	if f.Size > maxApp {
		return a, plugin.Errorf(plugin.Protocol, "app.json is larger than %d KiB", maxApp>>10)
	}
	raw, err := s.tree.Read(f.Path)
	if err != nil {
		return a, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&a); err != nil {
		return a, plugin.Errorf(plugin.Protocol, "app.json cannot be read: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return a, plugin.Errorf(plugin.Protocol, "app.json has more than one value")
	}
	return a, nil
}

// builtIn returns the settings that every app has. README.md lists them, with
// the variables that carry them.
func builtIn() []catalog.Option {
	return []catalog.Option{
		{Key: "cpu", Type: catalog.Integer, Min: 1, Max: 512, Default: "the value in app.json", Description: "The number of cores."},
		{Key: "ram", Type: catalog.Integer, Min: 16, Max: 4 << 20, Default: "the value in app.json", Description: "The memory in MiB."},
		{Key: "disk", Type: catalog.Integer, Min: 1, Max: 64 << 10, Default: "the value " +
			"in app.json", Description: "The size of the root disk in GiB."},
	}
}

// reserved lists keys that an app must not use for its own settings, because
// the source sets their variables.
var reserved = []string{"ctid", "hostname", "tags", "container_storage", "template_storage", "brg", "os", "version", "unprivileged",
	"cpu", "ram",
	"disk", "post_install"}

// overrides returns the built-in settings and those of the app. A reserved key
// is an error of kind Protocol.
func (a app) overrides() ([]catalog.Option, error) {
	list := builtIn()
	for _, o := range a.Overrides {
		if slices.Contains(reserved, o.Key) {
			return nil, plugin.Errorf(plugin.Protocol, "the override %s is reserved", o.Key)
		}
		list = append(list, catalog.Option{
			Key: o.Key, Type: catalog.OptionType(o.Type), Values: o.Values, Default: o.Default, Description: o.Description,
			Required: o.Required, Secret: o.Secret, Min: o.Min, Max: o.Max,
		})
	}
	return list, nil
}

// entry returns the entry of an app. If app.json is invalid, the entry exists
// all the same, disabled and with the reason, because its author needs to see
// what is wrong. Other errors, such as a folder that cannot be read, are
// returned.
func (s state) entry(slug string) (catalog.Entry, error) {
	a, err := s.appOf(slug)
	var e catalog.Entry
	if err == nil {
		e, err = s.entryOf(slug, a)
	}
	if err == nil {
		err = catalog.CheckEntry(e)
	}
	if err != nil {
		var known *plugin.Error
		if !errors.As(err, &known) || known.Kind != plugin.Protocol {
			return catalog.Entry{}, err
		}
		e = catalog.Entry{Slug: slug, Type: catalog.ContainerEntry, Name: slug, Disabled: oneLine(known.Message), App: s.app(slug)}
		e.Removed = s.incomplete(slug)
		e.Digest = catalog.EntryDigest(e)
	}
	return e, nil
}

// incomplete returns a text that names a missing script, or "" if ct.sh and
// install.sh exist. An app without them is listed as removed.
func (s state) incomplete(slug string) string {
	for _, name := range []string{"ct.sh", "install.sh"} {
		if _, ok := s.tree.Find(slug + "/" + name); !ok {
			return "This app has no " + name + "."
		}
	}
	return ""
}

// entryOf converts an app.json to an entry. An app is updatable if it has
// update.sh. A successor or a variant that does not exist is a fault, because
// the user interface would lead nowhere.
func (s state) entryOf(slug string, a app) (catalog.Entry, error) {
	overrides, err := a.overrides()
	if err != nil {
		return catalog.Entry{}, err
	}
	_, updatable := s.tree.Find(slug + "/update.sh")
	e := catalog.Entry{
		Slug: slug, Type: catalog.ContainerEntry, Name: a.Name, Description: a.Description, Tags: a.Tags, Authors: a.Authors, Licence: a.Licence,
		Website: a.Website, Docs: a.Docs, Sources: a.Sources, ConfigPath: a.ConfigPath, Credentials: a.Credentials, Updatable: updatable,
		Disabled: a.Disabled, Removed: s.incomplete(slug), Successor: a.Successor, VariantOf: a.VariantOf, Architectures: a.Architectures,
		Prompts: a.Prompts, NeedsYes: a.NeedsYes, App: s.app(slug), Overrides: overrides, Defaults: catalog.Defaults(a.Defaults),
	}
	for _, name := range a.Categories {
		if !slices.Contains(e.Categories, key(name)) {
			e.Categories = append(e.Categories, key(name))
		}
	}
	if a.Web != nil {
		w := catalog.Web(*a.Web)
		e.Web = &w
	}
	for _, n := range a.Notes {
		e.Notes = append(e.Notes, catalog.Note{Level: catalog.NoteLevel(n.Level), Text: n.Text})
	}
	for _, p := range a.Privileges {
		e.Privileges = append(e.Privileges, catalog.Privilege(p))
	}
	for _, name := range iconNames {
		if _, ok := s.tree.Find(slug + "/" + name); ok {
			e.Icon = slug + "/" + name
			break
		}
	}
	// A successor or a twin that is not there would lead nowhere.
	for _, other := range []*string{&e.Successor, &e.VariantOf} {
		if *other != "" && !s.has(*other) {
			return catalog.Entry{}, plugin.Errorf(plugin.Protocol, "app.json names the app %.80q, which does not exist", *other)
		}
	}
	e.Digest = catalog.EntryDigest(e)
	return e, nil
}

// key returns the key of a category. Categories that differ only in case or
// surrounding spaces are the same.
func key(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// oneLine makes a message fit for an entry: valid UTF-8, on one line, at most
// 500 bytes.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	return s[:min(len(s), 500)]
}
