package drivertest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// definition reads the definition of a storage with the token for monitoring.
func (s *suite) definition(t *testing.T, ctx context.Context, name string) hypervisor.StorageDefinition {
	t.Helper()
	d, err := as[hypervisor.StorageManager](t, s.host(t, endpoint.Monitoring)).StorageDefinition(ctx, name)
	must(t, "reading the definition of "+name, err)
	return d
}

// undefined checks that there is no storage with a name.
func (s *suite) undefined(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	_, err := as[hypervisor.StorageManager](t, s.host(t, endpoint.Monitoring)).StorageDefinition(ctx, name)
	wantKind(t, err, plugin.NotFound)
}

// keysOf returns the keys of a storage type by their names.
func (s *suite) keysOf(t *testing.T, ctx context.Context, kind string) map[string]hypervisor.StorageKey {
	t.Helper()
	types, err := as[hypervisor.StorageManager](t, s.host(t, endpoint.Monitoring)).StorageTypes(ctx)
	must(t, "asking for the types", err)
	keys := map[string]hypervisor.StorageKey{}
	for _, of := range types {
		for _, k := range of.Keys {
			if of.Name == kind {
				keys[k.Name] = k
			}
		}
	}
	return keys
}

// words returns the words of a list, sorted: a hypervisor may return them in
// any order. Settings that are lists have no order.
func words(text string) []string { return slices.Sorted(strings.SplitSeq(text, ",")) }

// storageManage tests StorageManager. Secrets among the settings can be written
// but never read: neither a definition nor an error contains them. An edit with
// a stale digest is a Conflict. Because a digest may cover all storages of a
// cluster (Proxmox VE keeps them in one file), an edit is tried again when
// another case changed something in between.
func (s *suite) storageManage(t *testing.T) {
	need[hypervisor.StorageManager](t, s)
	manager := func(t *testing.T) hypervisor.StorageManager {
		return as[hypervisor.StorageManager](t, s.host(t, endpoint.Lifecycle))
	}
	s.run(t, "types", func(t *testing.T, ctx context.Context) {
		types, err := manager(t).StorageTypes(ctx)
		must(t, "asking for the types", err)
		if len(types) == 0 {
			t.Fatal("there are none")
		}
		seen := map[string]bool{}
		for _, of := range types {
			if of.Name == "" || seen[of.Name] {
				t.Errorf("the type %q has no name or occurs twice", of.Name)
			}
			seen[of.Name] = true
			keys := map[string]bool{}
			for _, k := range of.Keys {
				known := slices.Contains([]string{hypervisor.StorageText, hypervisor.StorageFlag, hypervisor.StorageInteger,
					hypervisor.StorageWords}, k.Type)
				if k.Name == "" || keys[k.Name] || !known || k.Min != nil && k.Max != nil && *k.Min > *k.Max || k.MaxLength < 0 {
					t.Errorf("%s has the key %+v", of.Name, k)
				}
				keys[k.Name] = true
			}
		}
	})
	s.run(t, "the life of one", func(t *testing.T, ctx context.Context) {
		hook(t, "NewStorage", s.NewStorage != nil)
		spec, more := s.NewStorage(t)
		at, keys := manager(t), s.keysOf(t, ctx, spec.Type)
		secret := ""
		must(t, "attaching", at.AttachStorage(ctx, spec))
		first := s.definition(t, ctx, spec.Name)
		if first.Name != spec.Name || first.Type != spec.Type || first.Digest == "" {
			t.Errorf("it is %+v", first)
		}
		for _, setting := range spec.Config {
			is, told := first.Config[setting.Key]
			switch key := keys[setting.Key]; {
			case key.Secret:
				if secret = string(setting.Value); told {
					t.Errorf("the secret %s is shown", setting.Key)
				}
			case !slices.Equal(words(is), words(string(setting.Value))):
				t.Errorf("%s is %q, want %q", setting.Key, is, string(setting.Value))
			}
		}
		if len(secret) < 8 {
			t.Fatalf("the secret %q of NewStorage is too short", secret)
		}
		again := spec
		again.Config = slices.Clone(spec.Config)
		err := at.AttachStorage(ctx, again)
		wantKind(t, err, plugin.Conflict)

		// A digest may cover the definitions of all storages, which other cases
		// change at the same time.
		for try := 0; ; try++ {
			now := s.definition(t, ctx, spec.Name)
			err := at.EditStorage(ctx, hypervisor.StorageChange{Name: spec.Name, Digest: now.Digest, Set: []hypervisor.StorageSetting{more}})
			if err == nil {
				break
			}
			if e := wantKind(t, err, plugin.Conflict); e.Field != "digest" || try == 50 {
				t.Fatal("editing:", err)
			}
		}
		second := s.definition(t, ctx, spec.Name)
		want := maps.Clone(first.Config)
		want[more.Key] = string(more.Value)
		if second.Digest == first.Digest || !maps.EqualFunc(second.Config, want, func(a, b string) bool {
			return slices.Equal(words(a), words(b))
		}) {
			t.Errorf("it is %+v, want %v and another digest than %s", second, want, first.Digest)
		}
		stale := hypervisor.StorageChange{Name: spec.Name, Digest: first.Digest, Clear: []string{more.Key}}
		if e := wantKind(t, at.EditStorage(ctx, stale), plugin.Conflict); e.Field != "digest" {
			t.Errorf("a stale digest: the error names the field %q", e.Field)
		}
		must(t, "clearing", at.EditStorage(ctx, hypervisor.StorageChange{Name: spec.Name, Clear: []string{more.Key}}))
		third := s.definition(t, ctx, spec.Name)
		if _, there := third.Config[more.Key]; there {
			t.Errorf("it is %+v without %s", third, more.Key)
		}
		for _, told := range []string{fmt.Sprint(first, second, third), err.Error()} {
			if strings.Contains(told, secret) {
				t.Errorf("the secret is in %s", told)
			}
		}
		must(t, "detaching", at.DetachStorage(ctx, spec.Name))
		s.undefined(t, ctx, spec.Name)
		if err := at.DetachStorage(ctx, spec.Name); !isOneOf(err, []plugin.ErrorKind{plugin.NotFound, plugin.Refused}) {
			t.Errorf("detaching it again: %v", err)
		}
	})
	s.run(t, "what does not fit", func(t *testing.T, ctx context.Context) {
		hook(t, "NewStorage", s.NewStorage != nil)
		at, reading := manager(t), as[hypervisor.StorageManager](t, s.host(t, endpoint.Monitoring))
		good, _ := s.NewStorage(t)
		keys := s.keysOf(t, ctx, good.Type)
		secret, needed := "", ""
		for _, setting := range good.Config {
			if key := keys[setting.Key]; key.Secret {
				secret = string(setting.Value)
			} else if key.Required {
				needed = setting.Key
			}
		}
		for name, c := range map[string]struct {
			change func(*hypervisor.StorageSpec)
			field  string
		}{
			"a key": {func(d *hypervisor.StorageSpec) {
				d.Config = append(d.Config, hypervisor.StorageSetting{Key: "nosuchkey", Value: plugin.Secret(secret)})
			}, "nosuchkey"},
			"a type": {func(d *hypervisor.StorageSpec) { d.Type = "no-such-type" }, "type"},
			"what is missing": {func(d *hypervisor.StorageSpec) {
				d.Config = slices.DeleteFunc(d.Config, func(s hypervisor.StorageSetting) bool { return s.Key == needed })
			}, needed},
		} {
			spec := good
			spec.Config = slices.Clone(good.Config)
			c.change(&spec)
			err := at.AttachStorage(ctx, spec)
			if e := wantKind(t, err, plugin.Invalid); e.Field != c.field || strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the field is %q, want %q: %v", name, e.Field, c.field, err)
			}
		}
		for _, name := range noStorage {
			if d, err := reading.StorageDefinition(ctx, name); !isOneOf(err, unlisted) {
				t.Errorf("%.40q is %+v: %.200v", name, d, err)
			}
			spec := good
			spec.Name = name
			if name == "no-such-storage" || name == "" {
				continue // a good name for a new one; and the hypervisor's affair
			}
			if err := at.AttachStorage(ctx, spec); err == nil {
				t.Errorf("a storage %.40q was attached", name)
			}
			if err := at.DetachStorage(ctx, name); !isOneOf(err, unlisted) {
				t.Errorf("detaching %.40q: %.200v", name, err)
			}
		}
		s.undefined(t, ctx, good.Name)
	})
	s.run(t, "a token that only reads", func(t *testing.T, ctx context.Context) {
		hook(t, "NewStorage", s.NewStorage != nil)
		if s.Alike {
			t.Skip("rights cannot be limited by capability")
		}
		at := as[hypervisor.StorageManager](t, s.host(t, endpoint.Monitoring))
		spec, more := s.NewStorage(t)
		wantKind(t, at.AttachStorage(ctx, spec), plugin.Denied)
		must(t, "attaching", manager(t).AttachStorage(ctx, spec))
		wantKind(t, at.EditStorage(ctx, hypervisor.StorageChange{Name: spec.Name, Set: []hypervisor.StorageSetting{more}}), plugin.Denied)
		wantKind(t, at.DetachStorage(ctx, spec.Name), plugin.Denied)
		must(t, "detaching", manager(t).DetachStorage(ctx, spec.Name))
	})
}
