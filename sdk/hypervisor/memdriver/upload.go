package memdriver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// File is a file that was uploaded to a storage.
type File struct {
	Storage, Content, Name string
	Size                   int64
	SHA256                 string
}

// id is the file's volume id.
func (f *File) id() string { return f.Storage + ":" + f.Content + "/" + f.Name }

// endings are those of the names of files, by what they are.
var endings = map[string]string{".iso": "iso", ".tar": "templates"}

// Files are those that were uploaded, the oldest first.
func (c *Cluster) Files() []File {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.files)
}

// CheckUpload implements hypervisor.Uploader.
func (h *Host) CheckUpload(ctx context.Context, spec hypervisor.UploadSpec) (hypervisor.UploadCheck, error) {
	c, f, err := h.file(ctx, "checkupload", spec)
	if err != nil {
		return hypervisor.UploadCheck{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	check := hypervisor.UploadCheck{Content: f.Content, Name: f.Name, Volume: f.id(), Free: ptr(c.storage(spec.Storage).FreeGB << 30)}
	if i := c.fileAt(f.id()); i >= 0 {
		check.Present, check.PresentSize = true, &c.files[i].Size
	}
	return check, nil
}

// fileAt is the place of a file, or -1; it needs the lock.
func (c *Cluster) fileAt(id string) int {
	return slices.IndexFunc(c.files, func(f File) bool { return f.id() == id })
}

// file is what would come of an upload.
func (h *Host) file(ctx context.Context, method string, spec hypervisor.UploadSpec) (*Cluster, File, error) {
	c, privileges, err := h.begin(ctx, method)
	if err != nil {
		return nil, File{}, err
	}
	if err := require(privileges, GuestPower, "/storages/"+spec.Storage); err != nil {
		return nil, File{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s, is := c.storage(spec.Storage), endings[path.Ext(spec.Name)]
	switch {
	case !slices.Contains(c.nodes, spec.Node):
		return nil, File{}, invalid("node", "node %.80q not found", spec.Node)
	case s == nil:
		return nil, File{}, plugin.Errorf(plugin.NotFound, "storage %.80q not found", spec.Storage)
	case s.Away:
		return nil, File{}, plugin.Errorf(plugin.Refused, "storage %s is not available", s.Name)
	case s.Archive != nil:
		return nil, File{}, invalid("storage", "storage %s stores only backups", s.Name)
	case len(spec.Name) > 255 || strings.ContainsAny(spec.Name, "/\\\x00") || strings.TrimSuffix(spec.Name, path.Ext(spec.Name)) == "":
		return nil, File{}, invalid("name", "%.80q is not a file name", spec.Name)
	case spec.Content != "" && !slices.Contains([]string{"iso", "templates"}, spec.Content):
		return nil, File{}, invalid("content", "unknown content %.80q", spec.Content)
	case is == "" || spec.Content != "" && spec.Content != is:
		return nil, File{}, invalid("name", "wrong file extension")
	case spec.Size > s.FreeGB<<30:
		return nil, File{}, plugin.Errorf(plugin.Refused, "storage %s has no room for %d bytes", s.Name, spec.Size)
	}
	return c, File{Storage: s.Name, Content: is, Name: spec.Name, Size: spec.Size}, nil
}

// Upload implements hypervisor.Uploader. The file is there when its task has
// ended. A late fault strikes once it was read.
func (h *Host) Upload(ctx context.Context, spec hypervisor.UploadSpec, file io.Reader) (string, error) {
	c, f, err := h.file(ctx, "upload", spec)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	n, err := io.Copy(hash, io.LimitReader(file, spec.Size))
	if err != nil {
		return "", fmt.Errorf("reading the file: %w", err)
	}
	if more, err := io.ReadFull(file, make([]byte, 1)); n != spec.Size || more > 0 || !errors.Is(err, io.EOF) {
		return "", plugin.Errorf(plugin.Refused, "the file is not of %d bytes", spec.Size)
	}
	f.SHA256 = hex.EncodeToString(hash.Sum(nil))
	c.mu.Lock()
	t := c.newTask(spec.Node, "storage_upload", hypervisor.GuestRef{}, h.target.Credential)
	t.add("storing " + f.id())
	time.AfterFunc(c.taskTime, func() { c.stored(t, f, spec.SHA256) })
	c.mu.Unlock()
	if fault := c.fault("upload"); fault.Late {
		if err := fault.apply(ctx, h.target); err != nil {
			return "", err
		}
	}
	return t.ID, nil
}

// stored ends the task of an upload, unless somebody stopped it.
func (c *Cluster) stored(t *task, f File, want string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case t.Status != hypervisor.TaskRunning:
		return
	case want != "" && want != f.SHA256:
		t.end(hypervisor.TaskFailed, "the checksum is "+f.SHA256)
		return
	}
	if i := c.fileAt(f.id()); i >= 0 {
		c.files = slices.Delete(c.files, i, i+1)
	}
	c.files = append(c.files, f)
	if f.Content == "iso" && !slices.Contains(c.images, f.id()) {
		c.images = append(c.images, f.id())
	}
	t.end(hypervisor.TaskOK, "OK")
}
