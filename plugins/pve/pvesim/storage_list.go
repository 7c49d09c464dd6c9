package pvesim

import (
	"slices"
	"strings"
	"time"
)

// storageEndpoints serves storages as nodes see them.
func storageEndpoints() []*endpoint {
	return []*endpoint{
		serve("GET", "/nodes/{node}/storage", listStorages),
		serve("GET", "/nodes/{node}/storage/{storage}/status", storageStatus),
		serve("GET", "/nodes/{node}/storage/{storage}/content", listContent),
		serve("POST", "/nodes/{node}/storage/{storage}/content", allocateVolume),
		serve("GET", "/nodes/{node}/storage/{storage}/content/{volume}", readVolume),
		serve("PUT", "/nodes/{node}/storage/{storage}/content/{volume}", changeVolume),
		serve("DELETE", "/nodes/{node}/storage/{storage}/content/{volume}", deleteVolume),
	}
}

// listStorages lists those of the node that the caller may see, with their figures.
func listStorages(r *request) (result, *apiError) {
	wanted, rows := r.values.listOf("content"), []map[string]any{}
	for _, s := range r.c.storages {
		if !s.on(r.node.name) || !r.c.allowed(r.who, "/storage/"+s.id, "Datastore.Audit", "Datastore.AllocateSpace") ||
			r.values.has("storage") && r.values.text("storage") != s.id || len(wanted) > 0 && !s.holdsAny(wanted) {
			continue
		}
		row := s.figures(r.now)
		row["storage"] = s.id
		if r.values.boolean("format", false) {
			row["format"], row["formats"] = s.formats()
		}
		rows = append(rows, row)
	}
	return ok(rows)
}

// storageStatus is one row of the list.
func storageStatus(r *request) (result, *apiError) {
	s := r.c.storageByID(r.values.text("storage"))
	if s == nil || !s.on(r.node.name) {
		return fail(badParameter("storage", "No such storage."))
	}
	row := s.figures(r.now)
	delete(row, "used_fraction")
	return ok(row)
}

// holdsAny reports whether a storage takes one of the kinds of content.
func (s *storage) holdsAny(wanted []string) bool {
	return slices.ContainsFunc(strings.Split(s.content, ","), func(c string) bool { return slices.Contains(wanted, c) })
}

// figures are a storage's state as lists show it.
func (s *storage) figures(now time.Time) map[string]any {
	row := map[string]any{"type": s.plugin, "content": s.content, "shared": oneOrZero(s.shared), "enabled": oneOrZero(!s.disabled),
		"active": oneOrZero(!s.away && !s.disabled)}
	if s.away || s.disabled {
		row["total"], row["used"], row["avail"] = 0, 0, 0
		return row
	}
	used := s.usedAt(now)
	row["total"], row["used"], row["avail"], row["used_fraction"] = s.size, used, s.size-used, float64(used)/float64(s.size)
	return row
}

// formats are those of volumes, in the old form and the new one.
func (s *storage) formats() (old []any, now map[string]any) {
	supported := []string{"raw", "subvol"}
	if s.plugin == "dir" || s.plugin == "nfs" || s.plugin == "cifs" {
		supported = []string{"qcow2", "raw", "subvol", "vmdk"}
	}
	set := map[string]any{}
	for _, f := range supported {
		set[f] = 1
	}
	return []any{set, "raw"}, map[string]any{"default": "raw", "supported": supported}
}

// storageImage is an installation image, or a template of containers, on a storage.
type storageImage struct {
	content string // iso or vztmpl
	name    string
	size    int64
	ctime   int64
	sha256  string // of one that was uploaded
}

// AddImage puts an image on a storage: of the content iso, such as debian.iso,
// or vztmpl, such as debian.tar.gz.
func (c *Cluster) AddImage(storageID, content, name string, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.storageByID(storageID); s != nil {
		s.images = append(s.images, storageImage{content: content, name: name, size: size, ctime: c.clock.now().Unix()})
	}
}

// row is an image as the list shows it.
func (i storageImage) row(storageID string) map[string]any {
	format := i.content
	if format == "vztmpl" {
		format = "tgz"
	}
	return map[string]any{"volid": storageID + ":" + i.content + "/" + i.name, "content": i.content, "format": format, "size": i.size,
		"ctime": i.ctime}
}
