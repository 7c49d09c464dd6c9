package pve

import (
	"slices"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// These are the keys that a definition of any type may have.
var (
	contentKey  = words("content", "images", "rootdir", "vztmpl", "backup", "iso", "snippets", "import", "none")
	anyStorage  = []hypervisor.StorageKey{contentKey, words("nodes"), flag("disable")}
	limitKey    = text("bwlimit", 200)
	sharedKey   = flag("shared")
	formatKey   = choice("format", "raw", "qcow2", "subvol", "vmdk")
	backupKeys  = []hypervisor.StorageKey{text("prune-backups", 200), integer("max-protected-backups", -1, 1<<31-1)}
	folderKeys  = []hypervisor.StorageKey{text("content-dirs", 1024), flag("mkdir"), flag("create-base-path"), flag("create-subdirs")}
	preallocKey = choice("preallocation", "off", "metadata", "falloc", "full")
	chainKey    = flag("snapshot-as-volume-chain")
	passwordKey = hypervisor.StorageKey{Name: "password", Type: hypervisor.StorageText, MaxLength: 256, Secret: true}
	keyringKey  = hypervisor.StorageKey{Name: "keyring", Type: hypervisor.StorageText, MaxLength: 16 << 10, Secret: true}
)

// storageTypes are the types of release 9.2 with their keys. Older releases
// refuse the keys that they do not know.
var storageTypes = []hypervisor.StorageType{
	storageType("btrfs", backupKeys, folderKeys[1:], needed(text("path", 4096)), sharedKey, formatKey, text("is_mountpoint", 4096),
		flag("nocow"), preallocKey),
	storageType("cephfs", backupKeys, folderKeys, fixed(text("path", 4096)), text("monhost", 1024), text("subdir", 4096),
		text("options", 1024), text("username", 256), formatKey, flag("fuse"), limitKey, keyringKey, text("fs-name", 128)),
	storageType("cifs", backupKeys, folderKeys, fixed(text("path", 4096)), needed(text("server", 256)), needed(text("share", 256)),
		text("subdir", 4096), formatKey, text("username", 256), passwordKey, text("domain", 256),
		choice("smbversion", "default", "2.0", "2.1", "3", "3.0", "3.11"), limitKey, preallocKey, text("options", 1024), fixed(chainKey)),
	storageType("dir", backupKeys, folderKeys, needed(text("path", 4096)), sharedKey, formatKey, text("is_mountpoint", 4096), limitKey,
		preallocKey, fixed(chainKey)),
	storageType("esxi", nil, nil, sharedKey, required(text("server", 256)), required(text("username", 256)), required(passwordKey),
		flag("skip-cert-verification"), integer("port", 1, 65535)),
	storageType("iscsi", nil, nil, needed(text("portal", 256)), needed(text("target", 256)), limitKey),
	storageType("iscsidirect", nil, nil, needed(text("portal", 256)), needed(text("target", 256)), limitKey),
	storageType("lvm", nil, nil, needed(text("vgname", 128)), sharedKey, flag("saferemove"),
		choice("saferemove-stepsize", "1", "2", "4", "8", "16", "32"), text("saferemove_throughput", 64), fixed(text("base", 255)),
		flag("tagged_only"), limitKey, chainKey),
	storageType("lvmthin", nil, nil, needed(text("vgname", 128)), needed(text("thinpool", 128)), limitKey),
	storageType("nfs", backupKeys, folderKeys, fixed(text("path", 4096)), needed(text("server", 256)), needed(text("export", 4096)),
		text("options", 1024), formatKey, limitKey, preallocKey, fixed(chainKey)),
	storageType("pbs", backupKeys, nil, needed(text("server", 256)), needed(text("datastore", 128)), text("namespace", 256),
		integer("port", 1, 65535), text("username", 256), passwordKey, text("fingerprint", 95),
		hypervisor.StorageKey{Name: "encryption-key", Type: hypervisor.StorageText, MaxLength: 16 << 10, Secret: true},
		hypervisor.StorageKey{Name: "master-pubkey", Type: hypervisor.StorageText, MaxLength: 16 << 10, Secret: true}),
	storageType("rbd", nil, nil, text("monhost", 1024), text("pool", 128), text("data-pool", 128), text("namespace", 256),
		text("username", 256), flag("krbd"), keyringKey, limitKey),
	storageType("zfs", nil, nil, needed(text("portal", 256)), needed(text("target", 256)), needed(text("pool", 256)),
		needed(text("blocksize", 16)), needed(text("iscsiprovider", 64)), flag("nowritecache"), flag("sparse"), text("comstar_hg", 128),
		text("comstar_tg", 128), text("lio_tpg", 128), limitKey, text("zfs-base-path", 4096)),
	storageType("zfspool", nil, nil, needed(text("pool", 256)), text("blocksize", 16), flag("sparse"), limitKey, text("mountpoint", 4096)),
}

// storageType declares a type of storage with its keys.
func storageType(name string, backups, folders []hypervisor.StorageKey, own ...hypervisor.StorageKey) hypervisor.StorageType {
	return hypervisor.StorageType{Name: name, Keys: slices.Concat(own, anyStorage, folders, backups)}
}

// text declares a key with a text.
func text(name string, most int64) hypervisor.StorageKey {
	return hypervisor.StorageKey{Name: name, Type: hypervisor.StorageText, MaxLength: most}
}

// flag declares a key that is on or off.
func flag(name string) hypervisor.StorageKey {
	return hypervisor.StorageKey{Name: name, Type: hypervisor.StorageFlag}
}

// integer declares a key with a whole number.
func integer(name string, least, most int64) hypervisor.StorageKey {
	return hypervisor.StorageKey{Name: name, Type: hypervisor.StorageInteger, Min: &least, Max: &most}
}

// words declares a key with a list of words.
func words(name string, values ...string) hypervisor.StorageKey {
	return hypervisor.StorageKey{Name: name, Type: hypervisor.StorageWords, Values: values, MaxLength: 1024}
}

// choice declares a key with a list of values.
func choice(name string, values ...string) hypervisor.StorageKey {
	return hypervisor.StorageKey{Name: name, Type: hypervisor.StorageText, Values: values}
}

// needed marks a key that must be given at the creation and cannot be changed
// later.
func needed(k hypervisor.StorageKey) hypervisor.StorageKey { return required(fixed(k)) }

// required marks a key that must be set.
func required(k hypervisor.StorageKey) hypervisor.StorageKey {
	k.Required = true
	return k
}

// fixed marks a key that cannot be changed later.
func fixed(k hypervisor.StorageKey) hypervisor.StorageKey {
	k.Fixed = true
	return k
}
