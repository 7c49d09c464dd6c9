package pvesim

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// storageDefinitionEndpoints serves the definitions of storages.
func storageDefinitionEndpoints() []*endpoint {
	return []*endpoint{
		serve("GET", "/storage", listDefinitions),
		serve("POST", "/storage", createStorage),
		serve("GET", "/storage/{storage}", readDefinition),
		serve("PUT", "/storage/{storage}", updateStorage),
		serve("DELETE", "/storage/{storage}", removeStorage),
	}
}

// storagePlugin is what the server knows of a type of storage. In options, one
// that must be given ends in !, one that cannot be changed in =, and one of
// both in *.
type storagePlugin struct {
	options string
	content string // unless something else is said
	shared  bool   // by its nature
	secrets string
}

// Options that several types of storages have.
const (
	anyStorage    = " nodes disable content"
	folderOptions = " content-dirs mkdir create-base-path create-subdirs prune-backups max-protected-backups format"
)

// storagePlugins are the types of storages with their options; a star marks one
// that is fixed.
var storagePlugins = map[string]storagePlugin{
	"dir": {options: "path* shared is_mountpoint bwlimit preallocation snapshot-as-volume-chain=" + folderOptions + anyStorage,
		content: "images,rootdir"},
	"btrfs": {options: "path* shared is_mountpoint nocow mkdir create-base-path create-subdirs preallocation prune-backups " +
		"max-protected-backups format" + anyStorage, content: "images,rootdir"},
	"nfs": {options: "path= server* export* options bwlimit preallocation snapshot-as-volume-chain=" + folderOptions + anyStorage,
		content: "images", shared: true},
	"cifs": {options: "path= server* share* subdir username password domain smbversion options bwlimit preallocation " +
		"snapshot-as-volume-chain=" + folderOptions + anyStorage, content: "images", shared: true, secrets: "password"},
	"pbs": {options: "server* datastore* namespace port username password encryption-key master-pubkey prune-backups " +
		"max-protected-backups fingerprint" + anyStorage, content: "backup", shared: true, secrets: "password encryption-key master-pubkey"},
	"esxi": {options: "server! username! password skip-cert-verification port shared" + anyStorage, content: "import", secrets: "password"},
	"lvm": {options: "vgname* shared saferemove saferemove-stepsize saferemove_throughput base= tagged_only bwlimit " +
		"snapshot-as-volume-chain" + anyStorage, content: "images"},
	"lvmthin":     {options: "thinpool* vgname* bwlimit" + anyStorage, content: "images,rootdir"},
	"iscsi":       {options: "portal* target* bwlimit" + anyStorage, content: "images", shared: true},
	"iscsidirect": {options: "portal* target* bwlimit" + anyStorage, content: "images", shared: true},
	"rbd": {options: "monhost pool data-pool namespace username krbd keyring bwlimit" + anyStorage, content: "images", shared: true,
		secrets: "keyring"},
	"cephfs": {options: "path= monhost subdir options username fuse keyring fs-name bwlimit" + folderOptions + anyStorage, content: "backup",
		shared: true, secrets: "keyring"},
	"zfs": {options: "portal* target* pool* blocksize* iscsiprovider* nowritecache sparse comstar_hg comstar_tg lio_tpg bwlimit " +
		"zfs-base-path" + anyStorage, content: "images", shared: true},
	"zfspool": {options: "pool* blocksize sparse mountpoint bwlimit" + anyStorage, content: "images,rootdir"},
}

// option tells how a plugin has an option.
func (p storagePlugin) option(name string) (known, required, fixed bool) {
	for o := range strings.FieldsSeq(p.options) {
		if plain := strings.TrimRight(o, "!=*"); plain == name {
			mark := o[len(plain):]
			return true, mark == "!" || mark == "*", mark == "=" || mark == "*"
		}
	}
	return false, false, false
}

// isSecret reports whether an option is never returned.
func (p storagePlugin) isSecret(name string) bool {
	return slices.Contains(strings.Fields(p.secrets), name)
}

// definition is a storage as its configuration shows it, without secrets.
func (c *Cluster) definition(s *storage) map[string]any {
	out := map[string]any{"storage": s.id, "type": s.plugin, "content": s.content, "digest": c.storageDigest()}
	for key, value := range s.config {
		out[key] = value
	}
	if len(s.nodes) > 0 {
		out["nodes"] = strings.Join(s.nodes, ",")
	}
	if s.shared {
		out["shared"] = 1
	}
	if s.disabled {
		out["disable"] = 1
	}
	if s.id == "local" {
		out["priority"] = 0
	}
	return out
}

// storageDigest changes with the definition of any storage.
func (c *Cluster) storageDigest() string {
	sum := sha1.New()
	for _, s := range c.storages {
		_, _ = fmt.Fprintln(sum, s.id, s.plugin, s.content, s.shared, s.nodes, s.disabled, s.config)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// listDefinitions lists the definitions that the caller may see.
func listDefinitions(r *request) (result, *apiError) {
	rows := []map[string]any{}
	for _, s := range r.c.storages {
		if r.c.allowed(r.who, "/storage/"+s.id, "Datastore.Audit", "Datastore.AllocateSpace") &&
			(!r.values.has("type") || r.values.text("type") == s.plugin) {
			rows = append(rows, r.c.definition(s))
		}
	}
	return ok(rows)
}

// readDefinition returns one definition with its digest.
func readDefinition(r *request) (result, *apiError) {
	id := r.values.text("storage")
	s := r.c.storageByID(id)
	if s == nil {
		return fail(failure("storage '%s' does not exist", id))
	}
	return ok(r.c.definition(s))
}

// unreachable is where nothing answers.
const unreachable = ".invalid"

// createStorage adds a storage.
func createStorage(r *request) (result, *apiError) {
	kind, id := r.values.text("type"), r.values.text("storage")
	p := storagePlugins[kind]
	made := &storage{id: id, plugin: kind, size: 400 * gibibyte, backups: &backupStore{}, content: p.content, shared: p.shared}
	if err := made.set(r.values, p, true, "type", "storage"); err != nil {
		return fail(err)
	}
	for o := range strings.FieldsSeq(p.options) {
		plain := strings.TrimRight(o, "!=*")
		if _, required, _ := p.option(plain); required && !r.values.has(plain) {
			return fail(failure("missing value for required option '%s'", plain))
		}
	}
	failed := func(format string, args ...any) (result, *apiError) {
		return fail(failure("create storage failed: "+format, args...))
	}
	volume := made.config["vgname"] + "/" + made.config["thinpool"]
	thin := r.c.storageByID("local-lvm")
	switch {
	case r.c.storageByID(id) != nil:
		return failed("storage ID '%s' already defined", id)
	case kind == "lvmthin" && (thin == nil || volume != "pve/data"):
		return failed("no such logical volume %s", volume)
	case kind == "lvm" && (thin == nil || made.config["vgname"] != "pve"):
		return failed("no such volume group '%s'", made.config["vgname"])
	case kind == "zfspool" && made.config["pool"] != "rpool/data":
		return failed("could not activate storage '%s', zfs error: open3: exec of zpool import %s failed: No such file or directory", id,
			made.config["pool"])
	case kind == "esxi" && !r.values.has("password"):
		return failed("missing password")
	case strings.HasSuffix(made.config["server"], unreachable):
		return failed("storage '%s' is not online", id)
	}
	r.c.storages = append(r.c.storages, made)
	r.c.generation++
	return ok(map[string]any{"storage": id, "type": kind})
}

// set takes over the options of a request.
func (s *storage) set(v values, p storagePlugin, create bool, besides ...string) *apiError {
	if s.config == nil {
		s.config, s.secrets = map[string]string{}, map[string]string{}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if slices.Contains(besides, name) {
			continue
		}
		known, _, fixed := p.option(name)
		value := v.text(name)
		switch {
		case !known:
			return failure("unexpected property '%s'", name)
		case fixed && !create && s.config[name] != value:
			return failure("can't change value of fixed parameter '%s'", name)
		case p.isSecret(name):
			s.secrets[name] = value
		case name == "content":
			s.content = strings.Join(v.listOf(name), ",")
		case name == "nodes":
			s.nodes = v.listOf(name)
		case name == "disable":
			s.disabled = v.boolean(name, false)
		case name == "shared":
			s.shared = v.boolean(name, false)
		default:
			s.config[name] = value
		}
	}
	return nil
}

// updateStorage changes a definition, if the digest is current.
func updateStorage(r *request) (result, *apiError) {
	failed := func(err *apiError) (result, *apiError) {
		err.text = "update storage failed: " + err.text
		return fail(err)
	}
	id := r.values.text("storage")
	s := r.c.storageByID(id)
	if digest := r.values.text("digest"); digest != "" && digest != r.c.storageDigest() {
		return failed(failure("detected modified configuration - file changed by other user? Try again."))
	}
	if s == nil {
		return failed(failure("storage '%s' does not exist", id))
	}
	p, edited := storagePlugins[s.plugin], *s
	edited.config, edited.secrets = maps.Clone(s.config), maps.Clone(s.secrets)
	if err := edited.set(r.values, p, false, "storage", "digest", "delete"); err != nil {
		return failed(err)
	}
	for _, name := range r.values.listOf("delete") {
		known, required, fixed := p.option(name)
		switch {
		case !known:
			return failed(failure("no such option '%s'", name))
		case required:
			return failed(failure("unable to delete required option '%s'", name))
		case fixed:
			return failed(failure("unable to delete fixed option '%s'", name))
		case r.values.has(name):
			return failed(failure("cannot set and delete property '%s' at the same time!", name))
		}
		edited.unset(name, p)
	}
	*s = edited
	r.c.generation++
	return ok(map[string]any{"storage": id, "type": s.plugin})
}

// unset removes an option.
func (s *storage) unset(name string, p storagePlugin) {
	delete(s.config, name)
	delete(s.secrets, name)
	switch name {
	case "nodes":
		s.nodes = nil
	case "disable":
		s.disabled = false
	case "shared":
		s.shared = p.shared
	case "content":
		s.content = p.content
	}
}

// removeStorage forgets the definition. What is on the storage stays there, for
// whom it is attached again.
func removeStorage(r *request) (result, *apiError) {
	id := r.values.text("storage")
	if r.c.storageByID(id) == nil {
		return fail(failure("delete storage failed: storage '%s' does not exist", id))
	}
	if slices.ContainsFunc(r.c.storages, func(o *storage) bool { return strings.HasPrefix(o.config["base"], id+":") }) {
		return fail(failure("delete storage failed: can't remove storage - storage is used as base of another storage"))
	}
	r.c.storages = slices.DeleteFunc(r.c.storages, func(o *storage) bool { return o.id == id })
	r.c.generation++
	return ok(nil)
}

// StorageSecret is a secret of a storage's definition, which no answer has;
// empty where there is none.
func (c *Cluster) StorageSecret(id, key string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.storageByID(id); s != nil {
		return s.secrets[key]
	}
	return ""
}
