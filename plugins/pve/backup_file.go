package pve

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// dumpName is the form of the file names of vzdump (PVE::VZDump,
// get_archive_info). Such a name needs no quotes and stays below its folder on
// every file system.
var dumpName = regexp.MustCompile(`^vzdump-(?:qemu|lxc|openvz)-[1-9][0-9]{2,8}-\d{4}(?:_\d\d){2}-\d\d(?:_\d\d){2}` +
	`\.(?:tar|tgz|vma)(?:\.(?:gz|lzo|zst|bz2))?$`)

// folderTypes are the storage types that are folders of the node. Those that
// are mounted have no folder in their definition and are below mounts.
var folderTypes = []string{"btrfs", "cephfs", "cifs", "dir", "nfs"}

// Folders of storages whose definition does not name others.
const (
	// mounts is where network shares are mounted that say nothing else.
	mounts = "/mnt/pve"
	// dumps is the folder of backups below that of a storage that says nothing else.
	dumps = "dump"
)

// BackupFile implements hypervisor.BackupFileLocator. It reads the definition
// of the storage, with one request, and derives the path from it.
func (h *Host) BackupFile(ctx context.Context, query hypervisor.BackupQuery, b hypervisor.Backup) (hypervisor.BackupFile, error) {
	definition, err := h.StorageDefinition(ctx, query.Storage)
	if err != nil {
		return hypervisor.BackupFile{}, h.explain(ctx, query.Node, err)
	}
	folder, err := backupFolder(definition)
	if err != nil || b.ID == "" {
		return hypervisor.BackupFile{}, err
	}
	if err := checkBackup(b.ID, b.Storage); err != nil {
		return hypervisor.BackupFile{}, err
	}
	name := strings.TrimPrefix(b.ID, b.Storage+":backup/")
	if !dumpName.MatchString(name) {
		return hypervisor.BackupFile{}, plugin.Errorf(plugin.NotFound, "the backup %.300q is not a file", b.ID)
	}
	return hypervisor.BackupFile{Path: path.Join(folder, name), ID: query.Storage + ":backup/" + name}, nil
}

// backupFolder returns the folder in which a storage keeps backups.
func backupFolder(d hypervisor.StorageDefinition) (string, error) {
	if !slices.Contains(folderTypes, d.Type) {
		return "", plugin.Errorf(plugin.Unsupported, "the storage %s has the type %.40s, which does not store backups as files", d.Name,
			d.Type)
	}
	folder := d.Config["path"]
	if folder == "" {
		folder = path.Join(mounts, d.Name)
	}
	below := dumps
	for pair := range strings.SplitSeq(d.Config["content-dirs"], ",") {
		if kind, given, found := strings.Cut(pair, "="); found && strings.TrimSpace(kind) == "backup" {
			below = strings.TrimSpace(given)
		}
	}
	if below = strings.Trim(below, "/"); below == "" || slices.Contains(strings.Split(below, "/"), "..") {
		return "", plugin.Errorf(plugin.Unsupported, "the storage %s has an invalid folder for backups: %.80q", d.Name, below)
	}
	folder = path.Join(folder, below)
	if err := hypervisor.CheckNodePath(folder); err != nil {
		return "", plugin.Errorf(plugin.Unsupported, "the storage %s has no path: %w", d.Name, err)
	}
	return folder, nil
}
