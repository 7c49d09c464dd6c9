package memdriver

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// contents are the contents that an attached storage can have.
var contents = []string{"images", "rootdir", "iso", "templates", "backup"}

// storageName is the form of a storage's name.
var storageName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,99}$`)

// storageTypes are the types that can be attached.
var storageTypes = func() []hypervisor.StorageType {
	common := []hypervisor.StorageKey{
		{Name: "content", Type: hypervisor.StorageWords, Values: contents}, {Name: "nodes", Type: hypervisor.StorageWords},
		{Name: "comment", Type: hypervisor.StorageText, MaxLength: 80}, {Name: "disable", Type: hypervisor.StorageFlag},
	}
	return []hypervisor.StorageType{
		{Name: "dir", Keys: append([]hypervisor.StorageKey{
			{Name: "path", Type: hypervisor.StorageText, Required: true, Fixed: true}}, common...)},
		{Name: "share", Keys: append([]hypervisor.StorageKey{
			{Name: "server", Type: hypervisor.StorageText, Required: true, Fixed: true},
			{Name: "username", Type: hypervisor.StorageText}, {Name: "password", Type: hypervisor.StorageText, Secret: true},
			{Name: "port", Type: hypervisor.StorageInteger, Min: ptr(int64(1)), Max: ptr(int64(65535))}}, common...)},
	}
}()

// typeNamed returns the type with a name, or nil.
func typeNamed(name string) *hypervisor.StorageType {
	if i := slices.IndexFunc(storageTypes, func(t hypervisor.StorageType) bool { return t.Name == name }); i >= 0 {
		return &storageTypes[i]
	}
	return nil
}

// keyNamed returns the key of a type with a name, or nil.
func keyNamed(t *hypervisor.StorageType, name string) *hypervisor.StorageKey {
	if i := slices.IndexFunc(t.Keys, func(k hypervisor.StorageKey) bool { return k.Name == name }); i >= 0 {
		return &t.Keys[i]
	}
	return nil
}

// StorageTypes implements hypervisor.StorageManager.
func (h *Host) StorageTypes(ctx context.Context) ([]hypervisor.StorageType, error) {
	c, err := h.driver.cluster(h.target)
	if err == nil {
		if fault := c.fault("storagetypes"); !fault.Late {
			err = fault.apply(ctx, h.target)
		}
	}
	if err != nil {
		return nil, err
	}
	return slices.Clone(storageTypes), nil
}

// digestOf returns the digest of the definitions of all storages. The caller
// holds the lock.
func (c *Cluster) digestOf() string {
	var all []any
	for _, s := range c.storages {
		all = append(all, s.Name, s.Type, s.config, s.secrets)
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // plain values
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))[:40]
}

// StorageDefinition implements hypervisor.StorageManager.
func (h *Host) StorageDefinition(ctx context.Context, name string) (hypervisor.StorageDefinition, error) {
	c, privileges, err := h.begin(ctx, "storagedefinition")
	if err != nil {
		return hypervisor.StorageDefinition{}, err
	}
	if err := require(privileges, GuestAudit, "/storages/"+name); err != nil {
		return hypervisor.StorageDefinition{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.storage(name)
	if s == nil {
		return hypervisor.StorageDefinition{}, plugin.Errorf(plugin.NotFound, "storage %.80q not found", name)
	}
	return hypervisor.StorageDefinition{Name: name, Type: s.kind(), Digest: c.digestOf(), Config: maps.Clone(s.config)}, nil
}

// manage runs every change of definitions. It needs no task.
func (h *Host) manage(ctx context.Context, method, name string, change func(c *Cluster, s *storage) error) error {
	c, privileges, err := h.begin(ctx, method)
	if err != nil {
		return err
	}
	if err := require(privileges, GuestPower, "/storages"); err != nil {
		return err
	}
	c.mu.Lock()
	err = change(c, c.storage(name))
	c.mu.Unlock()
	if err != nil {
		return err
	}
	if fault := c.fault(method); fault.Late {
		return fault.apply(ctx, h.target)
	}
	return nil
}

// AttachStorage implements hypervisor.StorageManager. A storage at the server
// "nowhere" cannot be reached.
func (h *Host) AttachStorage(ctx context.Context, spec hypervisor.StorageSpec) error {
	return h.manage(ctx, "attachstorage", spec.Name, func(c *Cluster, s *storage) error {
		t := typeNamed(spec.Type)
		switch {
		case !storageName.MatchString(spec.Name):
			return invalid("storage", "this is not a storage's name")
		case t == nil:
			return invalid("type", "unknown type %.40q", spec.Type)
		case s != nil:
			return plugin.Errorf(plugin.Conflict, "storage %s exists already", spec.Name)
		}
		made := &storage{StorageSpec: StorageSpec{Name: spec.Name, Type: spec.Type, FreeGB: 1000}}
		if err := made.set(t, spec.Config); err != nil {
			return err
		}
		for _, key := range t.Keys {
			if _, given := made.config[key.Name]; key.Required && !given {
				return invalid(key.Name, "it is needed")
			}
		}
		if made.config["server"] == "nowhere" {
			return plugin.Errorf(plugin.Refused, "the server does not answer")
		}
		c.storages = append(c.storages, made)
		return nil
	})
}

// set applies settings.
func (s *storage) set(t *hypervisor.StorageType, settings []hypervisor.StorageSetting) error {
	if s.config == nil {
		s.config, s.secrets = map[string]string{}, map[string]string{}
	}
	for _, setting := range settings {
		key := keyNamed(t, setting.Key)
		switch {
		case key == nil:
			return invalid(setting.Key, "unknown key")
		case key.Secret:
			s.secrets[setting.Key] = string(setting.Value)
		default:
			s.config[setting.Key] = string(setting.Value)
		}
	}
	if content, given := s.config["content"]; given {
		s.Content = strings.Split(content, ",")
		s.VMs, s.Containers = slices.Contains(s.Content, "images"), slices.Contains(s.Content, "rootdir")
	} else if s.Content == nil {
		s.Content = []string{"images"}
	}
	return nil
}

// EditStorage implements hypervisor.StorageManager.
func (h *Host) EditStorage(ctx context.Context, change hypervisor.StorageChange) error {
	return h.manage(ctx, "editstorage", change.Name, func(c *Cluster, s *storage) error {
		if s == nil {
			return plugin.Errorf(plugin.NotFound, "storage %.80q not found", change.Name)
		}
		if change.Digest != "" && change.Digest != c.digestOf() {
			e := plugin.Errorf(plugin.Conflict, "the definition was changed meanwhile")
			e.Field = "digest"
			return e
		}
		t := typeNamed(s.kind())
		if t == nil {
			return plugin.Errorf(plugin.Refused, "storages of type %s cannot be changed", s.kind())
		}
		for _, name := range change.Clear {
			key := keyNamed(t, name)
			if key == nil || key.Required || key.Fixed {
				return invalid(name, "it cannot be cleared")
			}
		}
		if err := s.set(t, change.Set); err != nil {
			return err
		}
		for _, name := range change.Clear {
			delete(s.config, name)
			delete(s.secrets, name)
		}
		return nil
	})
}

// DetachStorage implements hypervisor.StorageManager.
func (h *Host) DetachStorage(ctx context.Context, name string) error {
	return h.manage(ctx, "detachstorage", name, func(c *Cluster, s *storage) error {
		if s == nil {
			return plugin.Errorf(plugin.NotFound, "storage %.80q not found", name)
		}
		c.storages = slices.DeleteFunc(c.storages, func(o *storage) bool { return o == s })
		return nil
	})
}

// SecretOf returns a secret of a storage's definition, which the API never
// shows.
func (c *Cluster) SecretOf(name, key string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.storage(name); s != nil {
		return s.secrets[key]
	}
	return ""
}
