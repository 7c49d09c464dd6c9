package memdriver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// dumpSize is the size of a backup's file, in bytes: more than one chunk of a
// stream.
const dumpSize = 300_000

// dump writes a backup as a file of the cluster's machine. The caller holds the
// locks of both.
func (c *Cluster) dump(a *Archive, k *kept) {
	content := make([]byte, dumpSize)
	_, _ = rand.Read(content)
	k.SizeBytes = ptr(int64(dumpSize))
	c.dumps.Store(sha256.Sum256(content), k.guest)
	c.loginMachine().files[a.file(k.ID)] = nodeFile{0o644, content}
}

// file returns the path of a backup by its ID without the storage's name.
func (a *Archive) file(id string) string {
	return path.Join(a.Folder, strings.TrimPrefix(id, "backup/"))
}

// readFolder makes the archive list the files in its folder. The caller holds
// the locks of both. The content of a file tells of which guest it was made, on
// whatever machine the file is.
func (c *Cluster) readFolder(a *Archive) {
	if a.Folder == "" {
		return
	}
	files := c.loginMachine().files
	a.kept = slices.DeleteFunc(a.kept, func(k *kept) bool {
		_, there := files[a.file(k.ID)]
		return !there
	})
	for name, file := range files {
		id := "backup/" + path.Base(name)
		kind, guestID, ok := backupNamed(path.Base(name))
		if path.Dir(name) != a.Folder || !ok || slices.ContainsFunc(a.kept, func(k *kept) bool { return k.ID == id }) {
			continue
		}
		a.kept = append(a.kept, &kept{Backup: hypervisor.Backup{ID: id, Kind: kind, Guest: guestID, Format: "tar",
			SizeBytes: ptr(int64(len(file.content))), TakenAt: time.Now().UTC().Truncate(time.Second)}})
	}
	slices.SortStableFunc(a.kept, func(x, y *kept) int { return x.TakenAt.Compare(y.TakenAt) })
}

// backupNamed reads the name of a backup's file.
func backupNamed(name string) (kind hypervisor.GuestKind, id hypervisor.GuestID, ok bool) {
	first, last := strings.IndexByte(name, '-'), strings.LastIndexByte(name, '-')
	if first < 0 || last <= first+1 {
		return "", "", false
	}
	kind = hypervisor.GuestKind(name[:first])
	return kind, hypervisor.GuestID(name[first+1 : last]), kind == hypervisor.VM || kind == hypervisor.Container
}

// madeOf returns the guest of which a backup was made. The caller holds the
// locks of both. A file that is not complete is of no guest.
func (c *Cluster) madeOf(a *Archive, k *kept) (guest, error) {
	if a.Folder == "" {
		return k.guest, nil
	}
	of, ok := c.dumps.Load(sha256.Sum256(c.loginMachine().files[a.file(k.ID)].content))
	if !ok {
		return guest{}, plugin.Errorf(plugin.Refused, "the backup %s is damaged", k.ID)
	}
	return of.(guest), nil
}

// BackupFile implements hypervisor.BackupFileLocator for archives with a
// folder.
func (h *Host) BackupFile(ctx context.Context, query hypervisor.BackupQuery, b hypervisor.Backup) (hypervisor.BackupFile, error) {
	_, a, err := h.begun(ctx, "backupfile", query.Storage)
	if err != nil {
		return hypervisor.BackupFile{}, err
	}
	if a.Folder == "" {
		return hypervisor.BackupFile{}, plugin.Errorf(plugin.Unsupported, "the storage %s keeps no files", query.Storage)
	}
	if b.ID == "" {
		return hypervisor.BackupFile{}, nil
	}
	id, found := strings.CutPrefix(b.ID, b.Storage+":")
	if _, _, ok := backupNamed(strings.TrimPrefix(id, "backup/")); !found || !ok || strings.Count(id, "/") != 1 {
		return hypervisor.BackupFile{}, plugin.Errorf(plugin.NotFound, "backup %.200q not found", b.ID)
	}
	return hypervisor.BackupFile{Path: a.file(id), ID: query.Storage + ":" + id}, nil
}

// MachineFiles returns the paths of the files on the machine, sorted.
func (c *Cluster) MachineFiles() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for name := range c.loginMachine().files {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// ChangeMachineFile changes the content of a file on the machine. A missing
// file is created.
func (c *Cluster) ChangeMachineFile(name string, change func(content []byte) []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	files := c.loginMachine().files
	files[name] = nodeFile{0o644, change(slices.Clone(files[name].content))}
}

// digest returns the program sha256sum on some files.
func (c *Cluster) digest(files map[string]nodeFile) func(context.Context, hypervisor.NodeCommand, hypervisor.NodeStreams) int {
	return func(_ context.Context, command hypervisor.NodeCommand, s hypervisor.NodeStreams) (code int) {
		c.mu.Lock()
		var lines strings.Builder
		for _, name := range command.Arguments {
			if file, there := files[name]; there {
				sum := sha256.Sum256(file.content)
				lines.WriteString(hex.EncodeToString(sum[:]) + "  " + name + "\n")
			} else if name != "--" {
				code = 1
			}
		}
		c.mu.Unlock()
		_, _ = io.WriteString(s.Output, lines.String())
		return code
	}
}
