package scripts

import (
	"path"
	"strings"

	"github.com/hostler/hostler/sdk/catalog"
)

// script is a script of the repository that has an entry in the catalog.
type script struct {
	slug string
	kind catalog.EntryType
	path string
	// install is the script that a container runs; empty where there is none in the tree.
	install string
	// header is the drawing that a ct script shows; empty where there is none.
	header string
}

// own returns the files that belong to this entry alone: the script and its
// install script. Only these decide the pin of an app (see Catalog.apps); a
// change of the shared engine does not count as an update of all apps.
func (f script) own() []string {
	list := []string{f.path}
	if f.install != "" {
		list = append(list, f.install)
	}
	return list
}

// folders are where entries of other types than ct are, in the order in which
// their slugs are given.
var folders = []struct {
	path string
	kind catalog.EntryType
	// suffix is appended to a slug that is taken.
	suffix string
}{
	{"tools/addon/", catalog.AddonEntry, "-addon"}, {"tools/pve/", catalog.NodeEntry, "-node"}, {"vm/", catalog.VMEntry, "-vm"},
	{"turnkey/", catalog.OtherEntry, "-turnkey"},
}

// scripts returns all entries, those of ct first, then those of the other
// folders. If an app exists in ct and in another folder, the slug of the second
// one gets the suffix of its folder; a slug that is then still taken is left
// out.
func (s state) scripts() []script {
	var list []script
	taken := map[string]bool{}
	for _, f := range s.main.Below("ct/") {
		slug, ok := scriptSlug(f.Path, "ct/")
		if !ok {
			continue
		}
		taken[slug] = true
		list = append(list, s.ct(slug))
	}
	for _, folder := range folders {
		for _, f := range s.main.Below(folder.path) {
			slug, ok := scriptSlug(f.Path, folder.path)
			if ok && taken[slug] {
				slug += folder.suffix
			}
			if !ok || taken[slug] || !catalog.ValidSlug(slug) {
				continue
			}
			taken[slug] = true
			list = append(list, script{slug: slug, kind: folder.kind, path: f.Path})
		}
	}
	return list
}

// ct returns the script of a container app. install and header stay empty if
// these files do not exist.
func (s state) ct(slug string) script {
	f := script{slug: slug, kind: catalog.ContainerEntry, path: "ct/" + slug + ".sh"}
	if _, ok := s.main.Find("install/" + slug + "-install.sh"); ok {
		f.install = "install/" + slug + "-install.sh"
	}
	if _, ok := s.main.Find("ct/headers/" + slug); ok {
		f.header = "ct/headers/" + slug
	}
	return f
}

// scriptSlug returns the slug of a script, and whether it lies directly in the
// folder and has a valid name.
func scriptSlug(p, folder string) (string, bool) {
	slug, ok := strings.CutSuffix(strings.TrimPrefix(p, folder), ".sh")
	return slug, ok && path.Dir(p)+"/" == folder && catalog.ValidSlug(slug)
}

// find returns the script of a slug. Apps in ct, which are most of them, are
// found without going through the whole tree.
func (s state) find(slug string) (script, bool) {
	if !catalog.ValidSlug(slug) {
		return script{}, false
	}
	if _, ok := s.main.Find("ct/" + slug + ".sh"); ok {
		return s.ct(slug), true
	}
	for _, f := range s.scripts() {
		if f.slug == slug {
			return f, true
		}
	}
	return script{}, false
}
