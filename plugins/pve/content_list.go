package pve

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// volumeKinds maps the kinds of content.
var volumeKinds = map[string]hypervisor.VolumeKind{
	"images": hypervisor.VolumeDisk, "rootdir": hypervisor.VolumeDisk, "iso": hypervisor.VolumeImage, "vztmpl": hypervisor.VolumeTemplate,
	"backup": hypervisor.VolumeBackup,
}

// checkVolume refuses an id that cannot be that of a volume on the storage. It
// becomes part of a path.
func checkVolume(id, storage string) error {
	of, name, _ := strings.Cut(id, ":")
	good := of == storage && storageName.MatchString(storage) && len(id) <= maxVolume && utf8.ValidString(id) &&
		!strings.ContainsFunc(name, unicode.IsControl)
	for part := range strings.SplitSeq(name, "/") {
		good = good && part != "" && part != "." && part != ".."
	}
	if !good {
		return plugin.Errorf(plugin.NotFound, "volume %.300q does not exist on storage %.80q", id, storage)
	}
	return nil
}

// volumeRow is one row of the content of a storage. Its texts are valid until
// the next row is read.
type volumeRow struct {
	backupRow
	content, parent   pveapi.Scalar
	used, approximate figure
}

var _ pveapi.RowDecoder = (*volumeRow)(nil)

// Reset empties the row.
func (r *volumeRow) Reset() { *r = volumeRow{} }

// Field takes one member of the row.
func (r *volumeRow) Field(name []byte, v pveapi.Scalar) {
	switch string(name) {
	case "content":
		r.content = v
	case "parent":
		r.parent = v
	case "used":
		r.used.from(v)
	case "approximate-size":
		r.approximate.from(v)
	default:
		r.backupRow.Field(name, v)
	}
}

// bytes returns a size that may be missing.
func (f figure) bytes() *int64 {
	if !f.set || f.n < 0 {
		return nil
	}
	n := f.n
	return &n
}

// show converts the row. ok is false if its ID does not belong to the storage.
// The exact size wins over the approximate one that some plugins report. A file
// of a content that the SDK does not know has the kind "other". The volumes of
// a backup server have names of kind, guest and time, which are shown as a
// whole.
func (r *volumeRow) show(query hypervisor.ContentQuery) (v hypervisor.Volume, ok bool) {
	v = hypervisor.Volume{
		ID: r.volume.Text(), Storage: query.Storage, Node: query.Node, Content: cut(r.content.Text(), maxWord),
		Format: cut(r.format.Text(), maxWord), SizeBytes: r.size.bytes(), UsedBytes: r.used.bytes(),
	}
	if checkVolume(v.ID, query.Storage) != nil {
		return v, false
	}
	if v.SizeBytes == nil {
		v.SizeBytes = r.approximate.bytes()
	}
	v.Name = v.ID[strings.LastIndexAny(v.ID, ":/")+1:]
	if v.Kind = volumeKinds[v.Content]; v.Kind == "" {
		v.Kind = hypervisor.VolumeOther
	}
	if r.taken.set && r.taken.n > 0 && r.taken.n <= lastSecond {
		v.CreatedAt = time.Unix(r.taken.n, 0).UTC()
	}
	switch v.Kind {
	case hypervisor.VolumeDisk:
		v.Guest, v.Parent = hypervisor.GuestID(r.guest()), parentID(query.Storage, r.parent.Text())
	case hypervisor.VolumeBackup:
		v.Guest, v.Protected, v.Notes = hypervisor.GuestID(r.guest()), r.protected, cut(strings.TrimSpace(r.notes.Text()), maxNotes)
		text := r.encrypted.Text() // the fingerprint of the key, or 1
		v.Encrypted = text != "" && text != "0"
		switch r.verification.state {
		case hypervisor.BackupVerified, hypervisor.BackupDamaged:
			v.Verified = r.verification.state
		}
		// The names on a backup server consist of kind, guest and time.
		if parts := strings.Split(v.ID, "/"); len(parts) == 4 {
			v.Name = strings.Join(parts[1:], "/")
		}
	}
	return v, true
}

// parentID returns the id of the volume of which another is a linked copy.
// Storages of files give it as a path, such as ../100/base-100-disk-0.raw,
// others as a name with a snapshot.
func parentID(storage, text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "@")
	if text == "" {
		return ""
	}
	if strings.HasPrefix(text, storage+":") {
		return text
	}
	parts := slices.DeleteFunc(strings.Split(text, "/"), func(p string) bool { return p == "" || p == "." || p == ".." })
	if len(parts) > 2 {
		parts = parts[len(parts)-2:]
	}
	if len(parts) == 2 {
		if _, err := strconv.Atoi(parts[0]); err != nil {
			parts = parts[1:]
		}
	}
	return storage + ":" + strings.Join(parts, "/")
}

// Content implements hypervisor.ContentLister. Proxmox VE leaves out disks and
// backups that the token may not use, without an error; so the rights of the
// token are asked for as well, which makes two requests. All other content is
// shown completely or refused, and needs one.
func (h *Host) Content(ctx context.Context, query hypervisor.ContentQuery) (hypervisor.ContentList, error) {
	if !storageName.MatchString(query.Storage) {
		return hypervisor.ContentList{}, plugin.Errorf(plugin.NotFound, "storage %.80q does not exist", query.Storage)
	}
	path, err := nodePath(query.Node, "storage", query.Storage, "content")
	if err != nil {
		return hypervisor.ContentList{}, err
	}
	var list hypervisor.ContentList
	var ask url.Values
	if content := contentOf(query); content != "" {
		ask = url.Values{"content": {content}}
	}
	answer, err := h.api.Stream(ctx, path, ask)
	if err != nil {
		return list, h.explain(ctx, query.Node, h.ofRole(ctx, storageError(err)))
	}
	defer answer.Close()
	row := &volumeRow{}
	err = answer.Rows(row, func() error {
		if v, ok := row.show(query); ok && asksFor(query, v.Content, v.Kind) {
			list.Volumes = append(list.Volumes, v)
		}
		return nil
	})
	if err != nil {
		return hypervisor.ContentList{}, err // nothing of a list that was cut off
	}
	lacks, all, err := h.hiddenContent(ctx, query)
	if err != nil {
		return hypervisor.ContentList{}, err
	}
	list.Hidden = slices.Sorted(maps.Keys(lacks))
	if all && len(list.Volumes) == 0 {
		n := lacks[list.Hidden[0]]
		e := plugin.Errorf(plugin.Denied, "the token cannot see volumes of this kind; it needs %s", n.privilege)
		e.Missing, e.Path = []string{n.privilege}, n.path
		e.Remedy = h.api.RemedyOf(ctx, e.Missing, e.Path)
		return hypervisor.ContentList{}, e
	}
	return list, nil
}

// asksFor reports whether a query asks for a content or a kind.
func asksFor(query hypervisor.ContentQuery, content string, kind hypervisor.VolumeKind) bool {
	return (query.Content == "" || query.Content == content) && (query.Kind == "" || query.Kind == kind)
}

// contentOf returns the only content that a query asks for, or an empty text if
// it asks for several.
func contentOf(query hypervisor.ContentQuery) string {
	if query.Content != "" {
		return query.Content
	}
	only := ""
	for content, kind := range volumeKinds {
		if kind == query.Kind {
			if only != "" {
				return ""
			}
			only = content
		}
	}
	return only
}

// ofRole chooses from alternative privileges in a refusal the one that the
// token's role should have.
func (h *Host) ofRole(ctx context.Context, err error) error {
	e, ok := asError(err)
	if !ok || e.Kind != plugin.Denied || len(e.Missing) != 1 {
		return err
	}
	for one := range strings.SplitSeq(e.Missing[0], "|") {
		if slices.Contains(roles[h.capability].privileges, one) && one != e.Missing[0] {
			e.Missing = []string{one}
			e.Remedy = h.api.RemedyOf(ctx, e.Missing, e.Path)
			return e
		}
	}
	return err
}

// hiddenContent returns the kinds of content of a query that are not shown
// completely, with the missing privileges. all reports that the query asks for
// nothing else.
func (h *Host) hiddenContent(ctx context.Context, query hypervisor.ContentQuery) (lacks map[string]need, all bool, err error) {
	storage := "/storage/" + query.Storage
	kinds := map[string][]need{
		"images":  {{"Datastore.Audit", storage}, {"VM.Config.Disk", "/vms"}},
		"rootdir": {{"Datastore.Audit", storage}, {"VM.Config.Disk", "/vms"}},
		"backup":  {{"Datastore.AllocateSpace", storage}, {"VM.Backup", "/vms"}},
	}
	maps.DeleteFunc(kinds, func(content string, _ []need) bool { return !asksFor(query, content, volumeKinds[content]) })
	if len(kinds) == 0 {
		return nil, false, nil
	}
	var have grants
	if _, err := h.api.Get(ctx, "/access/permissions", nil, &have); err != nil {
		return nil, false, err
	}
	if have.at("Datastore.Allocate", storage) {
		return nil, false, nil
	}
	lacks = map[string]need{}
	for content, needs := range kinds {
		for _, n := range needs {
			if !have.at(n.privilege, n.path) {
				lacks[content] = n
				break
			}
		}
	}
	return lacks, (query.Content != "" || query.Kind != "") && len(lacks) == len(kinds), nil
}

// at reports whether a privilege holds at a path. The nearest entry decides.
func (g grants) at(privilege, path string) bool {
	for place := path; ; {
		if privileges, named := g[place]; named {
			goesOn, held := privileges[privilege]
			return held && (place == path || bool(goesOn))
		}
		if place == "/" {
			return false
		}
		if place = place[:strings.LastIndexByte(place, '/')]; place == "" {
			place = "/"
		}
	}
}

// DeleteVolume implements hypervisor.VolumeDeleter. That a volume is protected
// or has linked copies shows only in the task.
func (h *Host) DeleteVolume(ctx context.Context, v hypervisor.Volume) (string, error) {
	if err := checkVolume(v.ID, v.Storage); err != nil {
		return "", err
	}
	path, err := nodePath(v.Node, "storage", v.Storage, "content", v.ID)
	if err != nil {
		return "", err
	}
	var answer pveapi.Text
	if _, err := h.api.Delete(ctx, path, nil, &answer); err != nil {
		return "", h.explain(ctx, v.Node, volumeError(err))
	}
	h.log.Debug("deletion of a volume started", "node", v.Node, "volume", v.ID, "task", string(answer))
	return taskIn(string(answer)), nil
}

// storageError turns an error about an unknown storage into one of the SDK.
func storageError(err error) error {
	if e, ok := asError(err); ok && e.Kind == plugin.Refused && strings.Contains(e.Message, "is not available on node") {
		e.Kind = plugin.NotFound
	}
	return err
}
