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

// noStorage are names that no storage has. Some of them would be other paths in
// an API.
var noStorage = []string{"", ".", "..", "no-such-storage", "../..", "a/b", "a%2Fb", "a\x00", "a?x=1", "a#", " a", "ä", "n\xffd",
	strings.Repeat("s", 64<<10)}

// unlisted are the kinds of errors for an object that is in no list.
var unlisted = []plugin.ErrorKind{plugin.NotFound, plugin.Invalid, plugin.Denied, plugin.Refused}

// contentOf lists a storage with the token that may see most.
func (s *suite) contentOf(t *testing.T, ctx context.Context, query hypervisor.ContentQuery) []hypervisor.Volume {
	t.Helper()
	list, err := as[hypervisor.ContentLister](t, s.host(t, endpoint.Lifecycle)).Content(ctx, query)
	must(t, "listing the storage "+query.Storage, err)
	for _, v := range list.Volumes {
		if v.ID == "" || v.Name == "" || v.Storage != query.Storage || v.Node != query.Node || v.Content == "" || v.Kind == "" {
			t.Errorf("of %+v there is %+v", query, v)
		}
		if query.Content != "" && v.Content != query.Content {
			t.Errorf("among the %s there is %+v", query.Content, v)
		}
		if query.Kind != "" && v.Kind != query.Kind {
			t.Errorf("among those of kind %s there is %+v", query.Kind, v)
		}
	}
	return list.Volumes
}

// volume returns the volume with an id; ok is false if there is none.
func volume(all []hypervisor.Volume, id string) (v hypervisor.Volume, ok bool) {
	i := slices.IndexFunc(all, func(v hypervisor.Volume) bool { return v.ID == id })
	if i < 0 {
		return v, false
	}
	return all[i], true
}

// contentList tests ContentLister. An unknown storage or node is an error and
// never an empty list: the service would otherwise conclude that files were
// deleted. Contents that the token cannot see are listed in Hidden for the same
// reason.
func (s *suite) contentList(t *testing.T) {
	need[hypervisor.ContentLister](t, s)
	for _, kind := range s.kinds() {
		s.run(t, "the disks of a "+string(kind), func(t *testing.T, ctx context.Context) {
			need[hypervisor.ConfigReader](t, s)
			hook(t, "NewGuest", s.NewGuest != nil)
			ref := s.NewGuest(t, kind, hypervisor.GuestStopped)
			config, err := as[hypervisor.ConfigReader](t, s.host(t, endpoint.Monitoring)).Config(ctx, ref)
			must(t, "reading the configuration", err)
			for _, d := range config.Disks {
				if d.Storage == "" || d.Volume == "" || d.Removable || d.Local {
					continue
				}
				query := hypervisor.ContentQuery{Storage: d.Storage, Node: ref.Node}
				v, listed := volume(s.contentOf(t, ctx, query), d.Volume)
				if !listed || v.Kind != hypervisor.VolumeDisk || v.Guest != ref.ID {
					t.Errorf("its disk %+v is listed (%t) as %+v", d, listed, v)
				}
				query.Content = v.Content
				for _, kind := range []hypervisor.VolumeKind{"", hypervisor.VolumeDisk} {
					query.Kind = kind
					if same, listed := volume(s.contentOf(t, ctx, query), d.Volume); !listed || same.Guest != ref.ID {
						t.Errorf("of kind %q among its content it is listed (%t) as %+v", kind, listed, same)
					}
				}
				query.Content = ""
				if same, listed := volume(s.contentOf(t, ctx, query), d.Volume); !listed || same.Guest != ref.ID {
					t.Errorf("among the disks it is listed (%t) as %+v", listed, same)
				}
				query.Kind = hypervisor.VolumeTemplate
				if _, listed := volume(s.contentOf(t, ctx, query), d.Volume); listed {
					t.Error("it is listed among the templates")
				}
			}
		})
	}
	s.run(t, "what is not there is no empty list", func(t *testing.T, ctx context.Context) {
		lister, node := as[hypervisor.ContentLister](t, s.host(t, endpoint.Lifecycle)), s.anyNode(t, ctx)
		for _, name := range noStorage {
			list, err := lister.Content(ctx, hypervisor.ContentQuery{Storage: name, Node: node})
			if !isOneOf(err, unlisted) {
				t.Errorf("storage %.40q: %d volumes, %.200v", name, len(list.Volumes), err)
			}
		}
		for _, name := range []string{"", "..", "no-such-node", node + "/", node + "\x00", strings.Repeat("n", 64<<10)} {
			list, err := lister.Content(ctx, hypervisor.ContentQuery{Storage: s.anyStorage(t, ctx, node), Node: name})
			if !isOneOf(err, append(unlisted, plugin.Unreachable)) {
				t.Errorf("node %.40q: %d volumes, %.200v", name, len(list.Volumes), err)
			}
		}
	})
	s.run(t, "what is hidden is told", func(t *testing.T, ctx context.Context) {
		node := s.anyNode(t, ctx)
		for _, capability := range []endpoint.Capability{endpoint.Monitoring, endpoint.Lifecycle} {
			lister := as[hypervisor.ContentLister](t, s.host(t, capability))
			query := hypervisor.ContentQuery{Storage: s.anyStorage(t, ctx, node), Node: node}
			list, err := lister.Content(ctx, query)
			must(t, "listing", err)
			for _, hidden := range list.Hidden {
				query.Content = hidden
				part, err := lister.Content(ctx, query)
				if err == nil && (len(part.Volumes) == 0 || !slices.Contains(part.Hidden, hidden)) {
					t.Errorf("%s: %s is hidden, and its list is %+v", capability, hidden, part)
				}
				if err != nil {
					if e := wantKind(t, err, plugin.Denied); len(e.Missing) == 0 {
						t.Errorf("the error names no missing privilege: %v", err)
					}
				}
			}
		}
	})
	s.run(t, "a caller that gives up", func(t *testing.T, ctx context.Context) {
		node := s.anyNode(t, ctx)
		lister, storage := as[hypervisor.ContentLister](t, s.host(t, endpoint.Monitoring)), s.anyStorage(t, ctx, node)
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		_, err := lister.Content(ctx, hypervisor.ContentQuery{Storage: storage, Node: node})
		wantCanceled(t, err)
	})
}

// anyStorage returns a storage that a node can use.
func (s *suite) anyStorage(t *testing.T, ctx context.Context, node string) (name string) {
	t.Helper()
	if s.UploadStorage != "" {
		return s.UploadStorage // others may be storages that another case detaches
	}
	err := s.host(t, endpoint.Monitoring).Inventory(ctx, hypervisor.InventoryQuery{}, func(p hypervisor.Page) error {
		for _, row := range p.Storages {
			if row.Node == node && row.Status == "available" {
				name = row.Name
			}
		}
		return nil
	})
	must(t, "reading the inventory", err)
	if name == "" {
		t.Skip("the node has no storage")
	}
	return name
}
