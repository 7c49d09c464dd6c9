package scripts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/plugins/scripts/decoration"
	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// categories returns the categories of the decoration. The keys are the numbers
// that upstream uses.
func categories() (list []catalog.Category) {
	for _, c := range decoration.Load().Categories {
		list = append(list, catalog.Category{Key: strconv.Itoa(c.ID), Name: c.Name})
	}
	return list
}

// entries returns all entries of a state. One invalid script fails them all.
func (s state) entries(apps map[string]catalog.Pin) ([]catalog.Entry, error) {
	scripts := s.scripts()
	list := make([]catalog.Entry, 0, len(scripts))
	for _, f := range scripts {
		e, err := s.entry(f, apps)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// entry returns the entry of one script. The facts come from the script, and
// the decoration only adds what people see. The digest is computed last,
// because it covers all other fields.
func (s state) entry(f script, apps map[string]catalog.Pin) (catalog.Entry, error) {
	content, err := s.main.Read(f.path)
	if err != nil {
		return catalog.Entry{}, err
	}
	h := parseHeader(content)
	e := catalog.Entry{
		Slug: f.slug, Type: f.kind, Authors: h.Authors, Licence: h.License, Sources: h.Sources, Web: h.Web, Tags: tags(h.Values["var_tags"]),
		App: s.pin,
	}
	if pin, ok := apps[f.slug]; ok {
		e.App = pin
	}
	if f.kind == catalog.ContainerEntry {
		if err := s.container(&e, f, h, content); err != nil {
			return catalog.Entry{}, err
		}
	}
	decorate(&e, h, decoration.Load().Of(f.path))
	e.Digest = catalog.EntryDigest(e)
	if err := catalog.CheckEntry(e); err != nil {
		return catalog.Entry{}, plugin.Errorf(plugin.Protocol, "the script %s declares invalid values: %w", f.path, err)
	}
	return e, nil
}

// container fills in what only entries for containers have: defaults,
// questions, settings and privileges. A script without an installer is marked
// as removed. An app whose scripts load others by addresses that the rewriting
// does not cover is disabled, because a pin could not guarantee what runs. Only
// amd64 is offered, since the scripts do not say what they support.
func (s state) container(e *catalog.Entry, f script, h header, content []byte) error {
	if twin, ok := strings.CutPrefix(f.slug, "alpine-"); ok {
		if _, ok := s.main.Find("ct/" + twin + ".sh"); ok && catalog.ValidSlug(twin) {
			e.VariantOf = twin
		}
	}
	e.Defaults = catalog.Defaults{
		Cores: number(h.Values["var_cpu"]), MemoryMB: number(h.Values["var_ram"]), DiskGB: number(h.Values["var_disk"]),
		OS: h.Values["var_os"], OSVersion: h.Values["var_version"], Privileged: h.Values["var_unprivileged"] == "0",
	}
	if f.install == "" {
		e.Removed, e.Successor = s.successor(f, h)
		return nil
	}
	install, err := s.main.Read(f.install)
	if err != nil {
		return err
	}
	e.Prompts, e.NeedsYes = prompts(install)
	e.Updatable = h.Update
	// Nobody has tried what the engine asks on other machines.
	e.Architectures = []string{"amd64"}
	e.Privileges = privileges(h)
	e.Overrides = overrides()
	for p, script := range map[string][]byte{f.path: content, f.install: install} {
		if left := s.rules.left(script); left != nil {
			e.Disabled = fmt.Sprintf("%s loads scripts in line %d that a pin does not cover.", p, left.line)
		}
	}
	return nil
}

// successor returns why an app can no longer be installed, and the slug of the
// entry that replaces it, if there is one: an add-on of the same name, or the
// app under the name that its script still displays.
func (s state) successor(f script, h header) (reason, successor string) {
	if _, ok := s.main.Find("tools/addon/" + f.slug + ".sh"); ok {
		return "It is now an add-on for an existing container and no longer creates its own.", f.slug + "-addon"
	}
	name := strings.ReplaceAll(strings.ToLower(h.App), " ", "")
	if catalog.ValidSlug(name) && name != f.slug {
		if next := s.ct(name); next.install != "" {
			return "It was renamed.", name
		}
	}
	return "Its install script was removed.", ""
}

// privileges returns the rights of the container that are unusual, in words for
// the person who approves it. They are the defaults of the script; the settings
// of an install can still change some of them.
func privileges(h header) []catalog.Privilege {
	list := []catalog.Privilege{{
		Key: "console_autologin", Text: "Anyone who can open the container's console is root in it: the console has no password.",
	}}
	if h.Values["var_unprivileged"] == "0" {
		list = append(list, catalog.Privilege{Key: "privileged", Text: "Privileged container: its root user is root on the node, with " +
			"all rights and access to all devices, and USB devices are passed through."})
	}
	for _, p := range []struct{ value, on, key, text string }{
		{"var_gpu", "yes", "gpu", "The node's graphics devices, if it has any, are passed through to the container."},
		{"var_tun", "yes", "tun", "It may create network tunnels."},
		{"var_fuse", "yes", "fuse", "It may mount FUSE file systems."},
		{"var_keyctl", "1", "keyctl", "It may use the kernel's keyring."},
		{"var_mknod", "1", "mknod", "It may create device files."},
	} {
		if h.Values[p.value] == p.on {
			list = append(list, catalog.Privilege{Key: p.key, Text: p.text})
		}
	}
	return list
}

// decorate fills in the texts that are shown to people: from the project's
// published metadata if it has a row for the app, otherwise from the header of
// the script. It only accepts https addresses for icons and valid addresses
// elsewhere. A variant, such as one on Alpine, shares the row of its twin but
// not its name.
func decorate(e *catalog.Entry, h header, row *decoration.Row) {
	e.Name = h.App
	if row != nil {
		if e.VariantOf == "" || e.Name == "" { // the row is the twin's, whose name the variant must not have
			e.Name = line(row.Name)
		}
		e.Description, e.ConfigPath = text(row.Description), line(row.Config)
		known := decoration.Load().Categories
		for _, id := range row.Categories {
			if slices.ContainsFunc(known, func(c decoration.Category) bool { return c.ID == id }) {
				e.Categories = append(e.Categories, strconv.Itoa(id))
			}
		}
		for to, from := range map[*string]string{&e.Docs: row.Docs, &e.Website: row.Website} {
			if validURL(from) {
				*to = line(from)
			}
		}
		if strings.HasPrefix(row.Logo, "https://") && validURL(row.Logo) {
			e.Icon = line(row.Logo)
		}
		if e.Web == nil && row.Port > 0 && row.Port < 65536 {
			e.Web = &catalog.Web{Protocol: "http", Port: row.Port}
		}
		for _, n := range row.Notes {
			level := catalog.InfoNote
			if n.Warning {
				level = catalog.WarningNote
			}
			e.Notes = append(e.Notes, catalog.Note{Level: level, Text: text(n.Text)})
		}
		e.Credentials = credentials(row)
		if day, err := time.Parse(time.DateOnly, row.Created); err == nil {
			e.Created = day
		}
	}
	if e.Name == "" {
		e.Name = e.Slug
	}
	if e.Website == "" && len(e.Sources) > 0 {
		e.Website = e.Sources[0]
	}
	if e.Description == "" {
		e.Description = plain(*e)
	}
}

// plain returns a description for an entry that has none, made of its source
// and its tags.
func plain(e catalog.Entry) string {
	var parts []string
	if len(e.Sources) > 0 {
		parts = append(parts, "From "+e.Sources[0]+".")
	}
	if len(e.Tags) > 0 {
		parts = append(parts, "Tags: "+strings.Join(e.Tags, ", ")+".")
	}
	return strings.Join(parts, " ")
}

// credentials returns the initial user name and password of an app as one line
// of text. They come from public data and are the same everywhere, so they are
// no secret.
func credentials(row *decoration.Row) string {
	switch {
	case row.User != "" && row.Password != "":
		return line("Name " + row.User + ", password " + row.Password)
	case row.User != "":
		return line("Name " + row.User)
	case row.Password != "":
		return line("Password " + row.Password)
	}
	return ""
}

// tags splits the tags of a script at semicolons, commas and spaces. Invalid
// ones are left out, and at most 20 are returned.
func tags(s string) (list []string) {
	for tag := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ';' || r == ',' || r == ' ' }) {
		if tag = strings.ToLower(tag); tagForm.MatchString(tag) && !slices.Contains(list, tag) && len(list) < 20 {
			list = append(list, tag)
		}
	}
	return list
}

// number parses a size. Text that is not a number, or one that is out of range,
// gives 0, which means that the script does not say.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1<<24 {
		return 0
	}
	return n
}

// text turns foreign text into one that is safe to show on several lines: valid
// UTF-8, no control characters besides tabs, at most 60 KiB.
func text(s string) string {
	var lines []string
	for l := range strings.SplitSeq(strings.ToValidUTF8(s, "\uFFFD"), "\n") {
		lines = append(lines, strings.TrimRight(strings.Map(func(r rune) rune {
			if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
				return ' '
			}
			return r
		}, l), " "))
	}
	return cut(strings.TrimSpace(strings.Join(lines, "\n")), 60<<10)
}
