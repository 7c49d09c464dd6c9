package pvesim

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// backup is one backup on a storage.
type backup struct {
	node      string // on which it is, unless the storage is shared
	name      string // what follows "STORAGE:" in the volume's name
	kind      string // QEMU or LXC; empty for a backup that is of no guest
	vmid      int
	taken     time.Time
	size      int64
	format    string
	notes     string
	protected bool
	verified  string
	encrypted string
	// guest and config are what a restore brings back.
	guest  GuestSpec
	config map[string]any
}

// backupStore holds the backups of a storage. Its own mutex lets clusters share
// it; it is the last that is taken.
type backupStore struct {
	mu   sync.Mutex
	list []*backup
	// folder is where they lie as files, of the node; empty for nowhere. See
	// storage_backup_file.go.
	folder, node string
}

// SharedStorage is a storage for backups that several clusters have: a guest
// that was backed up in one can be restored in another.
type SharedStorage struct {
	spec    StorageSpec
	backups backupStore
}

// NewSharedStorage makes one for [Options.SharedStorages]. Without Content it
// holds backups only, without Plugin it is an NFS share.
func NewSharedStorage(spec StorageSpec) *SharedStorage {
	spec.Shared = true
	if spec.Content == "" {
		spec.Content = "backup"
	}
	if spec.Plugin == "" {
		spec.Plugin = "nfs"
	}
	return &SharedStorage{spec: spec}
}

// all are the backups, the oldest first.
func (s *backupStore) all() []*backup {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folder != "" {
		s.readFolder()
	}
	return slices.Clone(s.list)
}

// backupsOn are the backups on a storage as a node sees it, the oldest first.
func (s *storage) backupsOn(node string) []*backup {
	return slices.DeleteFunc(s.backups.all(), func(b *backup) bool { return !s.shared && b.node != node })
}

// backupOn finds one of those by its name.
func (s *storage) backupOn(node, name string) *backup {
	all := s.backupsOn(node)
	if i := slices.IndexFunc(all, func(b *backup) bool { return b.name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// name names a backup by its time, a second later where that name is taken.
func (s *backupStore) name(b *backup, plugin string) {
	b.name = b.fileName(plugin)
	for slices.ContainsFunc(s.all(), func(o *backup) bool { return o.name == b.name }) {
		b.taken = b.taken.Add(time.Second)
		b.name = b.fileName(plugin)
	}
}

// add adds a backup, also as a file if the store has a folder.
func (s *backupStore) add(b *backup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folder != "" && s.write(b) != nil {
		return // the disk of this machine is full
	}
	s.list = append(s.list, b)
}

// is tells whether both are the same backup, changed or not.
func (b *backup) is(o *backup) bool { return b.name == o.name && b.node == o.node }

// change edits a backup while nobody reads it.
func (s *backupStore) change(b *backup, f func(*backup)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, o := range s.list {
		if o.is(b) {
			edited := *o // readers keep what they have
			f(&edited)
			s.list[i] = &edited
		}
	}
}

// remove removes a backup and its file.
func (s *backupStore) remove(b *backup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folder != "" {
		_ = os.Remove(s.path(b)) // it may be gone
	}
	s.list = slices.DeleteFunc(s.list, func(o *backup) bool { return o.is(b) })
}

// taken is the room that the backups take.
func (s *backupStore) taken() (bytes int64) {
	for _, b := range s.all() {
		bytes += b.size
	}
	return bytes
}

// fileName is how vzdump names an archive, and a backup server a snapshot.
func (b *backup) fileName(plugin string) string {
	at := b.taken.UTC()
	if plugin == "pbs" {
		return fmt.Sprintf("backup/%s/%d/%s", strings.TrimPrefix(b.format, "pbs-"), b.vmid, at.Format(time.RFC3339))
	}
	return fmt.Sprintf("backup/vzdump-%s-%d-%s.%s", b.kind, b.vmid, at.Format("2006_01_02-15_04_05"), b.format)
}

// row is a backup as the list of a storage shows it: of the notes only the first line.
func (b *backup) row(storageID string) map[string]any {
	row := map[string]any{"volid": storageID + ":" + b.name, "content": "backup", "format": b.format, "size": b.size,
		"ctime": b.taken.Unix()}
	if b.vmid != 0 {
		row["vmid"] = b.vmid
	}
	if b.kind != "" {
		row["subtype"] = b.kind
	}
	if line, _, _ := strings.Cut(b.notes, "\n"); line != "" {
		row["notes"] = line
	}
	if b.protected {
		row["protected"] = 1
	}
	if b.verified != "" {
		row["verification"] = map[string]any{"state": b.verified,
			"upid": "UPID:backups:000003E8:000007D0:00000001:69000000:verify:" + strconv.Itoa(b.vmid) + ":root@pam:"}
	}
	if b.encrypted != "" {
		row["encrypted"] = b.encrypted
	}
	return row
}

// BackupSpec describes a backup for [Cluster.AddBackup].
type BackupSpec struct {
	Storage string // default local
	VMID    int    // of the guest; one that is there gives its configuration
	Type    string // QEMU (default) or LXC, of a guest that is not there
	// Name is the volume's name without the storage; default is that of vzdump
	// or of the backup server.
	Name      string
	Taken     time.Time // default now
	Size      int64     // default 1 GiB
	Notes     string
	Protected bool
	Verified  string // "ok", "failed", or empty for one that was never verified
	Encrypted string // the key's fingerprint
}

// AddBackup puts a backup on a storage without a task, and returns its volume id.
func (c *Cluster) AddBackup(s BackupSpec) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.Storage == "" {
		s.Storage = "local"
	}
	st := c.storageByID(s.Storage)
	if st == nil {
		return "", fmt.Errorf("no storage %q", s.Storage)
	}
	g := c.guests[s.VMID]
	if g == nil {
		if _, err := c.addGuest(GuestSpec{VMID: s.VMID, Type: s.Type}); err != nil {
			return "", err
		}
		g = c.guests[s.VMID]
		defer c.forget(g)
	}
	b := c.backupOf(g, st, "zstd")
	b.name, b.notes, b.protected, b.verified, b.encrypted = s.Name, s.Notes, s.Protected, s.Verified, s.Encrypted
	b.size = s.Size
	if b.size == 0 {
		b.size = gibibyte
	}
	if b.taken = s.Taken; b.taken.IsZero() {
		b.taken = c.clock.now()
	}
	if b.name == "" {
		st.backups.name(b, st.plugin)
	}
	st.backups.add(b)
	c.generation++
	return s.Storage + ":" + b.name, nil
}

// Backups are the volume ids of the backups on a storage, the oldest first.
func (c *Cluster) Backups(storageID string) (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	if s := c.storageByID(storageID); s != nil {
		for _, b := range s.backups.all() {
			ids = append(ids, storageID+":"+b.name)
		}
	}
	return ids
}
