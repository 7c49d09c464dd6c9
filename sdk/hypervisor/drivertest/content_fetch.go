package drivertest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// named returns the volumes with a file name on a storage. More than one is
// possible if contents share a name.
func (s *suite) named(t *testing.T, ctx context.Context, storage, node, name string) []hypervisor.Volume {
	t.Helper()
	return slices.DeleteFunc(s.contentOf(t, ctx, hypervisor.ContentQuery{Storage: storage, Node: node}),
		func(v hypervisor.Volume) bool { return v.Name != name })
}

// contentFetch tests ContentFetcher: downloads from a URL, and templates from
// the hypervisor's own list. A file that exists is never replaced. URLs can
// contain signatures, so an error must not contain the URL; the case uses a
// canary for that.
func (s *suite) contentFetch(t *testing.T) {
	need[hypervisor.ContentFetcher](t, s)
	need[hypervisor.ContentLister](t, s)
	if s.Download == nil {
		t.Skip("no hook Download")
	}
	fetcher := func(t *testing.T) hypervisor.ContentFetcher {
		return as[hypervisor.ContentFetcher](t, s.host(t, endpoint.Lifecycle))
	}
	s.run(t, "a file, and not again over it", func(t *testing.T, ctx context.Context) {
		spec := s.Download(t)
		id, err := fetcher(t).Download(ctx, spec)
		if !s.ends(t, ctx, id, err) {
			t.Fatal("the download failed:", err)
		}
		s.wantNodeOperation(t, ctx, spec.Node, id, hypervisor.OperationDownload)
		if all := s.named(t, ctx, spec.Storage, spec.Node, spec.Filename); len(all) != 1 || all[0].Content != spec.Content {
			t.Fatalf("it is listed as %+v", all)
		}
		id, err = fetcher(t).Download(ctx, spec)
		if s.ends(t, ctx, id, err, plugin.Conflict, plugin.Refused) {
			t.Error("it was replaced")
		}
	})
	s.run(t, "what cannot be fetched", func(t *testing.T, ctx context.Context) {
		good := s.Download(t)
		good.URL += "?signature=canary-of-an-address"
		invalid := []plugin.ErrorKind{plugin.Invalid}
		for name, c := range map[string]struct {
			change func(*hypervisor.DownloadSpec)
			kinds  []plugin.ErrorKind
			field  string
		}{
			"a path":         {func(d *hypervisor.DownloadSpec) { d.Filename = "../" + d.Filename }, invalid, "filename"},
			"another ending": {func(d *hypervisor.DownloadSpec) { d.Filename += ".txt" }, invalid, "filename"},
			"no name":        {func(d *hypervisor.DownloadSpec) { d.Filename = "" }, invalid, "filename"},
			"NUL":            {func(d *hypervisor.DownloadSpec) { d.Filename = "a\x00" + d.Filename }, invalid, "filename"},
			"a content":      {func(d *hypervisor.DownloadSpec) { d.Content = "no-such-content" }, invalid, "content"},
			"a storage":      {func(d *hypervisor.DownloadSpec) { d.Storage = "no-such-storage" }, unlisted, ""},
			"a storage that is a path": {func(d *hypervisor.DownloadSpec) { d.Storage = "../" + d.Storage },
				unlisted, ""},
			"a node": {func(d *hypervisor.DownloadSpec) { d.Node = "no-such-node" }, append(unlisted, plugin.Unreachable), ""},
		} {
			spec := good
			c.change(&spec)
			id, err := fetcher(t).Download(ctx, spec)
			if !isOneOf(err, c.kinds) {
				t.Errorf("%s: %q, %v", name, id, err)
				continue
			}
			if e := wantKind(t, err, plugin.KindOf(err)); c.field != "" && e.Field != c.field {
				t.Errorf("%s: the field is %q: %v", name, e.Field, err)
			}
			if strings.Contains(err.Error(), "canary-of-an-address") {
				t.Errorf("%s: the address is in %v", name, err)
			}
		}
	})
	s.run(t, "a template", func(t *testing.T, ctx context.Context) {
		where := s.Download(t)
		all, err := as[hypervisor.ContentFetcher](t, s.host(t, endpoint.Monitoring)).Templates(ctx, where.Node)
		must(t, "listing the templates", err)
		if len(all) == 0 {
			t.Skip("the node has no list of templates")
		}
		for _, one := range all {
			if one.Name == "" {
				t.Errorf("a template has no name: %+v", one)
			}
		}
		id, err := fetcher(t).FetchTemplate(ctx, hypervisor.TemplateSpec{Storage: where.Storage, Node: where.Node, Name: all[0].Name})
		fetched := s.ends(t, ctx, id, err, plugin.Conflict, plugin.Refused) // it may be there from another run
		if fetched {
			s.wantNodeOperation(t, ctx, where.Node, id, hypervisor.OperationDownload)
		}
		there := s.named(t, ctx, where.Storage, where.Node, all[0].Name)
		if len(there) != 1 || there[0].Kind != hypervisor.VolumeTemplate {
			t.Errorf("it is listed as %+v", there)
		}
		for _, name := range []string{"", "no-such-template.tar.gz", "../" + all[0].Name, all[0].Name + "\x00"} {
			id, err := fetcher(t).FetchTemplate(ctx, hypervisor.TemplateSpec{Storage: where.Storage, Node: where.Node, Name: name})
			if s.ends(t, ctx, id, err, plugin.Invalid, plugin.NotFound) {
				t.Errorf("the template %q was fetched", name)
			}
		}
		if _, err := fetcher(t).Templates(ctx, "no-such-node"); !isOneOf(err, append(unlisted, plugin.Unreachable)) {
			t.Errorf("of no node: %v", err)
		}
	})
	s.run(t, "a token that only reads", func(t *testing.T, ctx context.Context) {
		if s.Alike {
			t.Skip("rights cannot be limited by capability")
		}
		spec := s.Download(t)
		at := as[hypervisor.ContentFetcher](t, s.host(t, endpoint.Monitoring))
		_, err := at.Download(ctx, spec)
		wantKind(t, err, plugin.Denied)
		all, err := at.Templates(ctx, spec.Node)
		must(t, "listing the templates", err)
		if len(all) > 0 {
			_, err = at.FetchTemplate(ctx, hypervisor.TemplateSpec{Storage: spec.Storage, Node: spec.Node, Name: all[0].Name})
			wantKind(t, err, plugin.Denied)
		}
		if there := s.named(t, ctx, spec.Storage, spec.Node, spec.Filename); len(there) != 0 {
			t.Errorf("there is %+v", there)
		}
	})
}
