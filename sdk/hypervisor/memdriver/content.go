package memdriver

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// diskContent maps kinds of guests to the content of their disks.
var diskContent = map[hypervisor.GuestKind]string{hypervisor.VM: "images", hypervisor.Container: "rootdir"}

// kindOf maps contents to kinds of volumes.
var kindOf = map[string]hypervisor.VolumeKind{"iso": hypervisor.VolumeImage, "templates": hypervisor.VolumeTemplate}

// seen returns a storage that a node sees. The caller holds the lock.
func (c *Cluster) seen(name, node string) (*storage, error) {
	s := c.storage(name)
	switch {
	case !slices.Contains(c.nodes, node):
		return nil, plugin.Errorf(plugin.NotFound, "node %.80q not found", node)
	case s == nil || !s.on(node):
		return nil, plugin.Errorf(plugin.NotFound, "storage %.80q not found on node %s", name, node)
	case s.Away:
		return nil, plugin.Errorf(plugin.Refused, "storage %s is not available", name)
	}
	return s, nil
}

// volumes returns what a node sees on a storage. The caller holds the lock.
func (c *Cluster) volumes(s *storage, node string) (all []hypervisor.Volume) {
	for _, g := range c.inOrder() {
		for _, d := range g.config.Disks {
			if d.Storage == s.Name && d.Volume != "" && !d.Removable && !d.Local && (s.shared() || g.Node == node) {
				v := hypervisor.Volume{ID: d.Volume, Kind: hypervisor.VolumeDisk, Content: diskContent[g.Kind], Format: "raw", Guest: g.ID,
					CreatedAt: g.began.UTC().Truncate(time.Second)}
				if d.SizeGB != nil {
					v.SizeBytes = ptr(*d.SizeGB << 30)
				}
				all = append(all, v)
			}
		}
	}
	if s.Name == "local" {
		for _, image := range c.images {
			if c.fileAt(image) >= 0 {
				continue // below, with its size
			}
			all = append(all, hypervisor.Volume{ID: image, Kind: hypervisor.VolumeImage, Content: "iso", Format: "iso",
				SizeBytes: ptr(int64(1 << 20))})
		}
	}
	for _, f := range c.files {
		if f.Storage == s.Name {
			all = append(all, hypervisor.Volume{ID: f.id(), Kind: kindOf[f.Content], Content: f.Content, Format: f.Content,
				SizeBytes: ptr(f.Size)})
		}
	}
	for _, v := range s.volumes {
		if s.shared() || v.Node == "" || v.Node == node {
			all = append(all, v)
		}
	}
	if s.Archive != nil {
		for _, b := range s.Archive.Backups() {
			all = append(all, hypervisor.Volume{ID: s.Name + ":" + b.ID, Kind: hypervisor.VolumeBackup, Content: "backup", Format: b.Format,
				SizeBytes: b.SizeBytes, CreatedAt: b.TakenAt, Guest: b.Guest, Notes: b.Notes, Protected: b.Protected, Verified: b.Verified})
		}
	}
	for i := range all {
		v := &all[i]
		v.Storage, v.Node = s.Name, node
		v.Name = v.ID[strings.LastIndexAny(v.ID, ":/")+1:]
	}
	return all
}

// AddVolume adds a volume to a storage without the API, and returns its ID.
func (c *Cluster) AddVolume(storageName string, v hypervisor.Volume) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.storage(storageName); s != nil {
		v.ID = storageName + ":" + v.Name
		s.volumes = append(s.volumes, v)
	}
	return v.ID
}

// HasVolume reports whether a volume is on a storage, for any node.
func (c *Cluster) HasVolume(storageName, id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.storage(storageName)
	return s != nil && slices.ContainsFunc(c.nodes, func(node string) bool {
		return slices.ContainsFunc(c.volumes(s, node), func(v hypervisor.Volume) bool { return v.ID == id })
	})
}

// Content implements hypervisor.ContentLister. Disks are visible to tokens that
// may change guests.
func (h *Host) Content(ctx context.Context, query hypervisor.ContentQuery) (hypervisor.ContentList, error) {
	c, privileges, err := h.begin(ctx, "content")
	if err != nil {
		return hypervisor.ContentList{}, err
	}
	if err := require(privileges, GuestAudit, "/storages/"+query.Storage); err != nil {
		return hypervisor.ContentList{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.seen(query.Storage, query.Node)
	if err != nil {
		return hypervisor.ContentList{}, err
	}
	var list hypervisor.ContentList
	disks := query.Content == "images" || query.Content == "rootdir" || query.Kind == hypervisor.VolumeDisk
	mayDisks := require(privileges, GuestPower, "/storages/"+query.Storage)
	switch {
	case mayDisks != nil && disks:
		return list, mayDisks
	case mayDisks != nil && query.Content == "" && query.Kind == "":
		list.Hidden = []string{"images", "rootdir"}
	}
	for _, v := range c.volumes(s, query.Node) {
		if (query.Content == "" || query.Content == v.Content) && (query.Kind == "" || query.Kind == v.Kind) &&
			(v.Kind != hypervisor.VolumeDisk || mayDisks == nil) {
			list.Volumes = append(list.Volumes, v)
		}
	}
	return list, nil
}

// DeleteVolume implements hypervisor.VolumeDeleter. It also deletes a disk that
// a guest uses; the guest loses it.
func (h *Host) DeleteVolume(ctx context.Context, volume hypervisor.Volume) (string, error) {
	c, privileges, err := h.begin(ctx, "deletevolume")
	if err != nil {
		return "", err
	}
	needed := GuestPower
	if volume.Kind == hypervisor.VolumeBackup {
		needed = GuestBackup
	}
	if err := require(privileges, needed, "/storages/"+volume.Storage); err != nil {
		return "", err
	}
	id, err := c.fetchTask(h, volume.Storage, volume.Node, hypervisor.OperationVolumeDelete, func(s *storage) error {
		for _, v := range c.volumes(s, volume.Node) {
			switch {
			case v.Parent != "" && v.Parent == volume.ID:
				return plugin.Errorf(plugin.Conflict, "volume %s is a linked copy of it", v.ID)
			case v.ID == volume.ID && v.Protected:
				return plugin.Errorf(plugin.Conflict, "it is protected")
			}
		}
		return nil
	}, func(s *storage) { c.removeVolume(s, volume.ID) })
	if err == nil {
		if fault := c.fault("deletevolume"); fault.Late {
			err = fault.apply(ctx, h.target)
		}
	}
	return id, err
}

// removeVolume removes a volume. The caller holds the lock.
func (c *Cluster) removeVolume(s *storage, id string) {
	s.volumes = slices.DeleteFunc(s.volumes, func(v hypervisor.Volume) bool { return v.ID == id })
	c.files = slices.DeleteFunc(c.files, func(f File) bool { return f.id() == id })
	c.images = slices.DeleteFunc(c.images, func(image string) bool { return image == id })
	for _, g := range c.guests {
		g.config.Disks = slices.DeleteFunc(g.config.Disks, func(d hypervisor.Disk) bool { return d.Volume == id })
	}
	if s.Archive != nil {
		s.Archive.mu.Lock()
		defer s.Archive.mu.Unlock()
		if name, found := strings.CutPrefix(id, s.Name+":"); found && s.Archive.Folder != "" {
			delete(c.loginMachine().files, s.Archive.file(name))
		}
		s.Archive.kept = slices.DeleteFunc(s.Archive.kept, func(k *kept) bool { return s.Name+":"+k.ID == id })
	}
}

// fetchTask starts a task on a storage that belongs to no guest. check judges
// at once, and end is called when the task ends; both with the lock.
func (c *Cluster) fetchTask(h *Host, storageName, node string, operation hypervisor.Operation, check func(*storage) error,
	end func(*storage)) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.seen(storageName, node)
	if err == nil {
		err = check(s)
	}
	if err != nil {
		return "", err
	}
	t := c.newTask(node, "storage_"+string(operation), hypervisor.GuestRef{}, h.target.Credential)
	t.Operation = operation
	t.add(fmt.Sprintf("%s on %s begins", operation, storageName))
	time.AfterFunc(c.taskTime, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if t.Status != hypervisor.TaskRunning {
			return
		}
		if c.storage(storageName) != s {
			t.end(hypervisor.TaskFailed, "the storage no longer exists")
			return
		}
		end(s)
		t.end(hypervisor.TaskOK, "OK")
	})
	return t.ID, nil
}

// Download implements hypervisor.ContentFetcher. A file whose name begins with
// "missing" is not found.
func (h *Host) Download(ctx context.Context, spec hypervisor.DownloadSpec) (string, error) {
	switch {
	case kindOf[spec.Content] == "":
		return "", invalid("content", "content %.40q cannot be downloaded", spec.Content)
	case endings[path.Ext(spec.Filename)] != spec.Content || strings.ContainsAny(spec.Filename, "/\\\x00"):
		return "", invalid("filename", "the name does not fit the content")
	}
	return h.fetch(ctx, "download", spec.Storage, spec.Node, spec.Content, spec.Filename, "downloading "+string(spec.URL))
}

// fetch puts a file on a storage by a task.
func (h *Host) fetch(ctx context.Context, method, storageName, node, content, name, line string) (string, error) {
	c, privileges, err := h.begin(ctx, method)
	if err != nil {
		return "", err
	}
	if err := require(privileges, GuestPower, "/storages/"+storageName); err != nil {
		return "", err
	}
	id, err := c.fetchTask(h, storageName, node, hypervisor.OperationDownload, func(s *storage) error {
		if slices.ContainsFunc(c.volumes(s, node), func(v hypervisor.Volume) bool { return v.Name == name && v.Content == content }) {
			return plugin.Errorf(plugin.Conflict, "a file with this name already exists")
		}
		return nil
	}, func(s *storage) {
		s.volumes = append(s.volumes, hypervisor.Volume{ID: s.Name + ":" + content + "/" + name, Node: node, Kind: kindOf[content],
			Content: content, Format: content, SizeBytes: ptr(int64(1 << 20)), CreatedAt: time.Now().UTC().Truncate(time.Second)})
	})
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	if t, err := c.task(id); err == nil {
		t.add(line)
		if strings.HasPrefix(name, "missing") {
			t.end(hypervisor.TaskFailed, "the server does not have the file: "+line)
		}
	}
	c.mu.Unlock()
	if fault := c.fault(method); fault.Late {
		return "", fault.apply(ctx, h.target)
	}
	return id, nil
}

// templates are the templates of every cluster.
var templates = []hypervisor.Template{
	{Name: "tiny-1.tar", Title: "Tiny", Section: "system", OS: "linux", Version: "1", Architecture: "amd64", Description: "small",
		Source: "mem"},
	{Name: "wiki-2.tar", Title: "Wiki", Section: "apps", OS: "linux", Version: "2", Architecture: "amd64", Description: "an app",
		Source: "mem"},
}

// Templates implements hypervisor.ContentFetcher.
func (h *Host) Templates(ctx context.Context, node string) ([]hypervisor.Template, error) {
	c, privileges, err := h.begin(ctx, "templates")
	if err != nil {
		return nil, err
	}
	if err := require(privileges, GuestAudit, "/nodes/"+node); err != nil {
		return nil, err
	}
	if !slices.Contains(c.Nodes(), node) {
		return nil, plugin.Errorf(plugin.NotFound, "node %.80q not found", node)
	}
	return slices.Clone(templates), nil
}

// FetchTemplate implements hypervisor.ContentFetcher.
func (h *Host) FetchTemplate(ctx context.Context, spec hypervisor.TemplateSpec) (string, error) {
	if !slices.ContainsFunc(templates, func(t hypervisor.Template) bool { return t.Name == spec.Name }) {
		return "", invalid("template", "template not found")
	}
	return h.fetch(ctx, "fetchtemplate", spec.Storage, spec.Node, "templates", spec.Name, "fetching "+spec.Name)
}
