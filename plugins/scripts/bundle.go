package scripts

import (
	"context"
	"strings"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/tree"
	"github.com/hostler/hostler/sdk/plugin"
)

// Bundle implements catalog.Catalog. The bundles for an install and an update
// have the same files, because a script is its own updater. The bundle is built
// completely before the first part is sent, so a caller never gets half of one
// because of an error in the scripts.
func (c *Catalog) Bundle(ctx context.Context, request catalog.BundleRequest, each func(catalog.BundlePart) error) error {
	if request.Purpose != catalog.Install && request.Purpose != catalog.Update {
		return plugin.Errorf(plugin.Invalid, "%.40q is not a purpose of a bundle", string(request.Purpose))
	}
	var built *catalog.BundleBuilder
	err := c.sound(ctx, request.Pin, func(s state) error {
		f, err := s.installable(request.Slug)
		if err != nil {
			return err
		}
		built, err = s.bundle(request, f)
		return err
	})
	if err != nil {
		return err
	}
	return built.Send(func(part catalog.BundlePart) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return each(part)
	})
}

// installable returns the script of a slug, or NotFound if it does not exist or
// does not create a container, or if its install script was removed.
func (s state) installable(slug string) (script, error) {
	f, ok := s.find(slug)
	switch {
	case !ok:
		return script{}, plugin.Errorf(plugin.NotFound, "the entry does not exist at this pin")
	case f.kind != catalog.ContainerEntry:
		return script{}, plugin.Errorf(plugin.NotFound, "the entry does not create a container, so it cannot be installed")
	case f.install == "":
		return script{}, plugin.Errorf(plugin.NotFound, "the entry no longer has an install script")
	}
	return f, nil
}

// bundle assembles everything that one installation loads: the app's own
// scripts, the engine (shared functions of the repository, and of the second
// repository if one is configured), and the overlay, which adapts the engine to
// runs without a person. At the end, addresses in all files that would load
// further scripts are rewritten to the bundle, so the run only executes what a
// person reviewed.
func (s state) bundle(request catalog.BundleRequest, f script) (*catalog.BundleBuilder, error) {
	b := catalog.NewBundle(request, release)
	add := func(t *tree.Tree, p, as string, class catalog.FileClass, executable bool) error {
		content, err := t.Read(p)
		if err != nil {
			return err
		}
		b.Add(catalog.BundleFile{Path: as, Content: content, Class: class, Executable: executable})
		return nil
	}
	own := f.own()
	if f.header != "" {
		own = append(own, f.header)
	}
	for _, p := range own {
		if err := add(s.main, p, p, catalog.OwnFile, strings.HasSuffix(p, ".sh")); err != nil {
			return nil, err
		}
	}
	engine := 0
	for _, folder := range []string{"misc/", "tools/addon/"} {
		for _, file := range s.main.Below(folder) {
			if err := add(s.main, file.Path, file.Path, catalog.EngineFile, file.Executable); err != nil {
				return nil, err
			}
			engine++
		}
	}
	if s.engine != nil {
		for _, file := range s.engine.Below("") {
			if err := add(s.engine, file.Path, engineFolder+"/"+file.Path, catalog.EngineFile, file.Executable); err != nil {
				return nil, err
			}
			engine++
		}
	}
	if engine == 0 {
		return nil, plugin.Errorf(plugin.Protocol, "the repository does not contain the engine at this commit")
	}
	if err := s.addOverlay(b); err != nil {
		return nil, err
	}
	return b, s.rewrite(b)
}

// rewrite changes the files so that they load each other from the bundle, and
// lists the downloads that no pin covers (see fetchesOf). It fails if a file
// would still load scripts from elsewhere.
func (s state) rewrite(b *catalog.BundleBuilder) error {
	place := b.Place()
	var failed error
	var unpinned []catalog.Fetch
	b.Rewrite(func(p string, content []byte) ([]byte, int) {
		if left := s.rules.left(content); left != nil && failed == nil {
			failed = plugin.Errorf(plugin.Refused, "%s loads scripts in line %d that a pin does not cover: %s", p, left.line, left.text)
		}
		out, n := s.rules.replace(content, place)
		if strings.HasPrefix(p, "ct/") && strings.HasSuffix(p, ".sh") || strings.HasPrefix(p, "install/") {
			unpinned = append(unpinned, fetchesOf(p, out)...)
		}
		return out, n
	})
	for _, fetch := range unpinned {
		b.Unpinned(fetch)
	}
	return failed
}
