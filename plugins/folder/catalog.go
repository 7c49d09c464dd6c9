package folder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/tree"
	"github.com/hostler/hostler/sdk/plugin"
)

// Sync implements catalog.Catalog. It lists all apps; the SDK compares them
// with the cursor and sends only changes if it can. Categories have no names of
// their own here, so the key is the name.
func (c *Catalog) Sync(ctx context.Context, request catalog.SyncRequest, each func(catalog.SyncStep) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s, err := c.wanted(ctx, request.Wanted)
	if err != nil {
		return err
	}
	listing := catalog.Listing{Pin: s.pin}
	for _, slug := range s.slugs() {
		e, err := s.entry(slug)
		if err != nil {
			return err
		}
		listing.Entries = append(listing.Entries, e)
		for _, k := range e.Categories {
			if !slices.ContainsFunc(listing.Categories, func(c catalog.Category) bool { return c.Key == k }) {
				listing.Categories = append(listing.Categories, catalog.Category{Key: k, Name: k})
			}
		}
	}
	if len(listing.Categories) > catalog.MaxCategories {
		return plugin.Errorf(plugin.Protocol, "the apps are in more than %d categories", catalog.MaxCategories)
	}
	slices.SortFunc(listing.Categories, func(a, b catalog.Category) int { return strings.Compare(a.Key, b.Key) })
	return listing.Send(ctx, request.Cursor, each)
}

// wanted returns the state for a sync: the newest one, or the one at a pin. A
// pin of a single app is NotFound, because a sync needs everything.
func (c *Catalog) wanted(ctx context.Context, pin catalog.Pin) (state, error) {
	if len(pin) == 0 {
		return c.newest()
	}
	s, err := c.at(ctx, pin)
	if err == nil && s.only != "" {
		return state{}, plugin.Errorf(plugin.NotFound, "the pin belongs to a single app")
	}
	return s, err
}

// Entry implements catalog.Catalog.
func (c *Catalog) Entry(ctx context.Context, slug string, pin catalog.Pin) (catalog.Entry, error) {
	s, err := c.at(ctx, pin)
	if err != nil {
		return catalog.Entry{}, err
	}
	if !s.has(slug) {
		return catalog.Entry{}, plugin.Errorf(plugin.NotFound, "the app does not exist at this pin")
	}
	return s.entry(slug)
}

// installable returns the state at a pin if the app can be installed there, or
// updated. Otherwise it returns NotFound with the reason.
func (c *Catalog) installable(ctx context.Context, slug string, pin catalog.Pin, purpose catalog.Purpose) (state, error) {
	if purpose != catalog.Install && purpose != catalog.Update {
		return state{}, plugin.Errorf(plugin.Invalid, "%.40q is not a known purpose", string(purpose))
	}
	s, err := c.at(ctx, pin)
	if err != nil {
		return state{}, err
	}
	_, updatable := s.tree.Find(slug + "/update.sh")
	switch {
	case !s.has(slug):
		return state{}, plugin.Errorf(plugin.NotFound, "the app does not exist at this pin")
	case s.incomplete(slug) != "":
		return state{}, plugin.Errorf(plugin.NotFound, "the app cannot be installed: %s", s.incomplete(slug))
	case purpose == catalog.Update && !updatable:
		return state{}, plugin.Errorf(plugin.NotFound, "the app has no update.sh")
	}
	return s, nil
}

// release names the way in which files become a bundle. It is part of a
// bundle's place on the node and would change if the same files were bundled
// differently.
const release = "folder-1"

// Bundle implements catalog.Catalog. A bundle contains all files of the app
// except app.json and icons. Shell scripts are executable even if the folder's
// file system does not keep modes.
func (c *Catalog) Bundle(ctx context.Context, request catalog.BundleRequest, each func(catalog.BundlePart) error) error {
	s, err := c.installable(ctx, request.Slug, request.Pin, request.Purpose)
	if err != nil {
		return err
	}
	b := catalog.NewBundle(request, release)
	for _, f := range s.tree.Below(request.Slug + "/") {
		name := strings.TrimPrefix(f.Path, request.Slug+"/")
		if name == "app.json" || slices.Contains(iconNames, name) {
			continue
		}
		content, err := s.tree.Read(f.Path)
		if err != nil {
			return err
		}
		b.Add(catalog.BundleFile{Path: name, Content: content, Executable: f.Executable || strings.HasSuffix(name, ".sh"),
			Class: catalog.OwnFile})
	}
	return b.Send(func(part catalog.BundlePart) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return each(part)
	})
}

// succeeded is the line that ct.sh and update.sh print after they succeeded. An
// exit code of zero alone is not enough, because a script can end early.
const succeeded = "Completed successfully!"

// Launch implements catalog.Catalog. It passes everything to the scripts
// through environment variables, as README.md describes, so that no value
// becomes a word of a command line. Values that a careless script could misread
// are refused (see plain). An update has no settings.
func (c *Catalog) Launch(ctx context.Context, request catalog.LaunchRequest) (catalog.Launch, error) {
	s, err := c.installable(ctx, request.Slug, request.Pin, request.Purpose)
	if err != nil {
		return catalog.Launch{}, err
	}
	a, err := s.appOf(request.Slug)
	if err != nil {
		return catalog.Launch{}, err
	}
	launch := catalog.Launch{
		Interpreter: "bash", Program: "ct.sh", Succeeded: succeeded, VersionFile: a.VersionFile,
		Limit: time.Duration(min(max(a.LimitMinutes, 0), 24*60)) * time.Minute,
	}
	set := func(name, value string, secret bool) {
		launch.Environment = append(launch.Environment, catalog.Variable{Name: name, Value: value, Secret: secret})
	}
	set("TERM", "xterm", false)
	set("LANG", "C.UTF-8", false)
	set("HOSTLER_BUNDLE", catalog.BundleFolder+"/"+request.Place, false)
	if launch.Input, err = a.input(request); err != nil {
		return catalog.Launch{}, err
	}
	if request.Purpose == catalog.Update {
		launch.Program = "update.sh"
		for key := range request.Overrides {
			return catalog.Launch{}, invalid(key, "an update has no settings")
		}
		return launch, nil
	}
	launch.Push = true
	for _, v := range [][2]string{
		{"var_hostname", request.Name}, {"var_ctid", request.Container}, {"var_tags", strings.Join(request.Tags, ";")},
		{"var_container_storage", request.RootStorage}, {"var_template_storage", request.TemplateStorage}, {"var_brg", request.Bridge},
	} {
		if !plain(v[1]) {
			return catalog.Launch{}, invalid(strings.TrimPrefix(v[0], "var_"), "the scripts cannot handle this value")
		}
		set(v[0], v[1], false)
	}
	return launch, a.settings(request, set)
}

// plain reports whether a value is harmless even in a script that forgets
// quotes: it contains no spaces, globs or shell syntax, does not begin with a
// hyphen, and has at most 500 bytes.
func plain(s string) bool {
	return !strings.HasPrefix(s, "-") && len(s) <= 500 && strings.Trim(s,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-;+") == ""
}

// input returns the standard input of ct.sh: one line for each answer. An app
// whose script asks for a confirmation needs request.Yes. An update gets no
// input.
func (a app) input(request catalog.LaunchRequest) (string, error) {
	if request.Purpose == catalog.Update {
		return "", nil
	}
	if a.NeedsYes && !request.Yes {
		return "", invalid("yes", "the app asks for confirmation; set yes to confirm")
	}
	if len(request.Answers) > a.Prompts {
		return "", invalid("answers", "the app asks fewer questions than there are answers")
	}
	var b strings.Builder
	for _, answer := range request.Answers {
		if !catalog.CheckOption(catalog.Option{Type: catalog.Line}, answer) {
			return "", invalid("answers", "an answer must be one line of text")
		}
		b.WriteString(answer + "\n")
	}
	return b.String(), nil
}

// settings sets the variables of the size, the operating system and the app's
// settings. Values of the request win over app.json. An empty value sets no
// variable, so that the script's own default applies.
func (a app) settings(request catalog.LaunchRequest, set func(name, value string, secret bool)) error {
	values := map[string]string{"cpu": size(a.Defaults.Cores), "ram": size(a.Defaults.MemoryMB), "disk": size(a.Defaults.DiskGB)}
	options, err := a.overrides()
	if err != nil {
		return err
	}
	for key, value := range request.Overrides {
		i := slices.IndexFunc(options, func(o catalog.Option) bool { return o.Key == key })
		if i < 0 {
			return invalid(oneLine(key), "this is not a setting of an install")
		}
		if !catalog.CheckOption(options[i], value) {
			return invalid(key, "the value does not match the type of the option")
		}
		values[key] = value
	}
	for _, o := range options {
		value, ok := values[o.Key]
		if !ok && o.Required {
			return invalid(o.Key, "this option is required")
		}
		if ok && value != "" {
			set("var_"+o.Key, value, o.Secret)
		}
	}
	unprivileged := "1"
	if a.Defaults.Privileged {
		unprivileged = "0"
	}
	set("var_os", a.Defaults.OS, false)
	set("var_version", a.Defaults.OSVersion, false)
	set("var_unprivileged", unprivileged, false)
	return nil
}

// size formats a default of app.json; zero means that none is given.
func size(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// iconNames are the file names of icons, in the order of preference.
var iconNames = []string{"icon.webp", "icon.png", "icon.jpg", "icon.jpeg"}

// Icon implements catalog.IconFetcher. The reference is SLUG/FILE, and only the
// names of icons are allowed. It reads the folder and not the cache, so an icon
// can be newer than its entry. The root (os.Root) keeps symbolic links from
// leading out of the folder.
func (c *Catalog) Icon(ctx context.Context, reference, etag string) (catalog.Icon, error) {
	if err := ctx.Err(); err != nil {
		return catalog.Icon{}, err
	}
	slug, name, _ := strings.Cut(reference, "/")
	if !catalog.ValidSlug(slug) || !slices.Contains(iconNames, name) {
		return catalog.Icon{}, plugin.Errorf(plugin.NotFound, "the icon does not exist")
	}
	root, err := c.root()
	if err != nil {
		return catalog.Icon{}, err
	}
	defer func() { _ = root.Close() }()
	data, err := tree.ReadRegular(root, reference, catalog.MaxIcon)
	if err != nil {
		return catalog.Icon{}, err
	}
	sum := sha256.Sum256(data)
	if tag := hex.EncodeToString(sum[:16]); tag == etag {
		return catalog.Icon{ETag: tag, Unchanged: true}, nil
	}
	return catalog.Icon{Data: data, ETag: hex.EncodeToString(sum[:16])}, nil
}
