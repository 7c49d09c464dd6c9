package pve

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// StorageTypes implements hypervisor.StorageManager.
func (h *Host) StorageTypes(context.Context) ([]hypervisor.StorageType, error) {
	return slices.Clone(storageTypes), nil
}

// StorageDefinition implements hypervisor.StorageManager. It reads the list of
// all definitions, because a single one may be read only by a token that may
// change it.
func (h *Host) StorageDefinition(ctx context.Context, name string) (hypervisor.StorageDefinition, error) {
	unknown := plugin.Errorf(plugin.NotFound, "storage %.80q does not exist", name)
	if !storageName.MatchString(name) {
		return hypervisor.StorageDefinition{}, unknown
	}
	var rows []map[string]pveapi.Text
	if _, err := h.api.Get(ctx, "/storage", nil, &rows); err != nil {
		return hypervisor.StorageDefinition{}, err
	}
	i := slices.IndexFunc(rows, func(row map[string]pveapi.Text) bool { return string(row["storage"]) == name })
	if i < 0 {
		// The storage may exist and not be visible.
		if err := h.hidden(ctx, need{"Datastore.Audit", "/storage/" + name}); err != nil {
			return hypervisor.StorageDefinition{}, err
		}
		return hypervisor.StorageDefinition{}, unknown
	}
	d := hypervisor.StorageDefinition{Name: name, Type: string(rows[i]["type"]), Digest: string(rows[i]["digest"]),
		Config: map[string]string{}}
	for key, value := range rows[i] {
		if slices.Contains([]string{"storage", "type", "digest"}, key) || isSecretKey(key) {
			continue
		}
		d.Config[key] = string(value)
		// Proxmox VE returns the words of these lists in a different order each
		// time.
		if key == "content" || key == "nodes" {
			list := strings.Split(string(value), ",")
			slices.Sort(list)
			d.Config[key] = strings.Join(list, ",")
		}
	}
	return d, nil
}

// isSecretKey reports whether a key is a secret in some type.
func isSecretKey(name string) bool {
	return slices.ContainsFunc(storageTypes, func(t hypervisor.StorageType) bool {
		return slices.ContainsFunc(t.Keys, func(k hypervisor.StorageKey) bool { return k.Name == name && k.Secret })
	})
}

// AttachStorage implements hypervisor.StorageManager. Proxmox VE tries to use
// the storage before it answers. An encryption key that it generates itself
// stays on the host.
func (h *Host) AttachStorage(ctx context.Context, spec hypervisor.StorageSpec) error {
	if !storageName.MatchString(spec.Name) {
		return invalid("storage", "%.80q is not a valid storage name", spec.Name)
	}
	form := url.Values{"storage": {spec.Name}, "type": {spec.Type}}
	for _, s := range spec.Config {
		form.Set(s.Key, string(s.Value))
	}
	if _, err := h.api.Post(ctx, "/storage", form, nil); err != nil {
		err = definitionError(err, spec.Config)
		if e, ok := asError(err); ok && e.Kind == plugin.NotFound {
			e.Kind = plugin.Refused // what is missing is something else than the storage
		}
		return err
	}
	h.log.Debug("storage attached", "storage", spec.Name, "type", spec.Type)
	return nil
}

// EditStorage implements hypervisor.StorageManager.
func (h *Host) EditStorage(ctx context.Context, change hypervisor.StorageChange) error {
	if !storageName.MatchString(change.Name) {
		return plugin.Errorf(plugin.NotFound, "storage %.80q does not exist", change.Name)
	}
	path, err := pveapi.Path("storage", change.Name)
	if err != nil {
		return err
	}
	form := url.Values{}
	for _, s := range change.Set {
		form.Set(s.Key, string(s.Value))
	}
	if len(change.Clear) > 0 {
		form.Set("delete", strings.Join(change.Clear, ","))
	}
	if change.Digest != "" {
		form.Set("digest", change.Digest)
	}
	if _, err := h.api.Put(ctx, path, form, nil); err != nil {
		return definitionError(err, change.Set)
	}
	h.log.Debug("storage edited", "storage", change.Name)
	return nil
}

// DetachStorage implements hypervisor.StorageManager.
func (h *Host) DetachStorage(ctx context.Context, name string) error {
	if !storageName.MatchString(name) {
		return plugin.Errorf(plugin.NotFound, "storage %.80q does not exist", name)
	}
	path, err := pveapi.Path("storage", name)
	if err != nil {
		return err
	}
	if _, err := h.api.Delete(ctx, path, nil, nil); err != nil {
		return definitionError(err, nil)
	}
	h.log.Debug("storage detached", "storage", name)
	return nil
}

// aboutKey finds the key in the text of a status 500.
var aboutKey = regexp.MustCompile(`(?:unexpected property|missing value for required option|unable to delete (?:required|fixed) option|` +
	`no such option|can't change value of fixed parameter|cannot set and delete property) '([A-Za-z][A-Za-z0-9_-]*)'`)

// unknownStorage is the text for a storage that is not defined.
var unknownStorage = regexp.MustCompile(`storage '[^']*' does not exist`)

// definitionError turns an error about a definition into one of the SDK,
// without the secrets that were sent.
func definitionError(err error, sent []hypervisor.StorageSetting) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	var secrets []string
	for _, s := range sent {
		if isSecretKey(s.Key) {
			secrets = append(secrets, string(s.Value))
		}
	}
	e.Message = plugin.HideSecrets(e.Message, secrets...)
	named := aboutKey.FindStringSubmatch(e.Message)
	switch {
	case isStale(e):
		e.Kind, e.Field = plugin.Conflict, "digest"
	case strings.Contains(e.Message, "already defined"), strings.Contains(e.Message, "used as base of another storage"):
		e.Kind = plugin.Conflict
	case named != nil:
		wrongParameter(e, named[1])
	case e.Kind == plugin.NotFound && !unknownStorage.MatchString(e.Message):
		e.Kind = plugin.Refused // something behind the storage, such as a volume group
	}
	return e
}
