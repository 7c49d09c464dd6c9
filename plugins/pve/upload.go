package pve

import (
	"context"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// uploadPrivilege is what sending files to a storage needs.
const uploadPrivilege = "Datastore.AllocateTemplate"

// uploadNames are the names of files by what they are to a storage.
var uploadNames = []struct {
	content string
	name    *regexp.Regexp
	endings string
}{
	{"iso", regexp.MustCompile(`(?i)^.+\.(?:iso|img)$`), ".iso or .img"},
	{"vztmpl", regexp.MustCompile(`(?i)^.+\.(?:tar|tar\.(?:gz|xz|zst|bz2))$`), ".tar, .tar.gz, .tar.xz, .tar.zst or .tar.bz2"},
	{"import", regexp.MustCompile(`^.+\.(?:ova|qcow2|raw|vmdk)$`), ".ova, .qcow2, .raw or .vmdk"},
}

// otherThanName are the characters for which the hypervisor puts an underscore.
var otherThanName = regexp.MustCompile(`[^A-Za-z0-9_.-]`)

// uploadName is the name that a file will have, and what it is to the storage.
func uploadName(spec hypervisor.UploadSpec) (name, content string, err error) {
	name = spec.Name
	if name == "" || len(name) > 255 || !utf8.ValidString(name) || strings.ContainsAny(name, `/\`) ||
		strings.ContainsFunc(name, unicode.IsControl) {
		return "", "", invalid("name", "%.80q is not a valid file name: it must have 1 to 255 bytes and no path", name)
	}
	name = otherThanName.ReplaceAllString(name, "_")
	for _, n := range uploadNames {
		switch fits := n.name.MatchString(name); {
		case spec.Content == n.content && !fits:
			return "", "", invalid("name", "the name of a file with the content %s must end in %s", n.content, n.endings)
		case fits && (spec.Content == "" || spec.Content == n.content):
			return name, n.content, nil
		}
	}
	if spec.Content != "" {
		return "", "", invalid("content", "cannot upload files with the content %.80q; use iso, vztmpl or import", spec.Content)
	}
	return "", "", invalid("name", "the file name must have a supported ending, such as .iso, .tar.gz or .qcow2")
}

// uploadTarget checks what needs no question.
func uploadTarget(spec hypervisor.UploadSpec) (path, name, content string, err error) {
	if !storageName.MatchString(spec.Storage) {
		return "", "", "", invalid("storage", "%.80q is not a valid storage name", spec.Storage)
	}
	if name, content, err = uploadName(spec); err != nil {
		return "", "", "", err
	}
	path, err = nodePath(spec.Node, "storage", spec.Storage)
	return path, name, content, err
}

// CheckUpload implements hypervisor.Uploader, with three questions: for the privilege, the storage and what is on it. The
// hypervisor itself refuses an upload only when all of it has arrived.
func (h *Host) CheckUpload(ctx context.Context, spec hypervisor.UploadSpec) (hypervisor.UploadCheck, error) {
	path, name, content, err := uploadTarget(spec)
	if err != nil {
		return hypervisor.UploadCheck{}, err
	}
	if err := h.mayUpload(ctx, spec.Storage); err != nil {
		return hypervisor.UploadCheck{}, err
	}
	check := hypervisor.UploadCheck{Content: content, Name: name, Volume: spec.Storage + ":" + content + "/" + name}
	if check.Free, err = h.uploadRoom(ctx, spec, content); err != nil {
		return hypervisor.UploadCheck{}, h.explain(ctx, spec.Node, err)
	}
	var rows []struct {
		ID   pveapi.Text `json:"volid"`
		Size pveapi.Int  `json:"size"`
	}
	if _, err := h.api.Get(ctx, path+"/content", url.Values{"content": {content}}, &rows); err != nil {
		return hypervisor.UploadCheck{}, h.explain(ctx, spec.Node, err)
	}
	for _, row := range rows {
		if string(row.ID) == check.Volume {
			check.Present = true
			if row.Size.Set {
				check.PresentSize = &row.Size.N
			}
		}
	}
	return check, nil
}

// mayUpload refuses a token without the privilege.
func (h *Host) mayUpload(ctx context.Context, storage string) error {
	path := "/storage/" + storage
	have, err := h.rights(ctx, path)
	if err != nil {
		return err
	}
	if _, held := have[uploadPrivilege]; held {
		return nil
	}
	e := plugin.Errorf(plugin.Denied, "uploading to storage %s requires %s", storage, uploadPrivilege)
	e.Missing, e.Path = []string{uploadPrivilege}, path
	e.Remedy = h.api.RemedyOf(ctx, e.Missing, e.Path)
	return e
}

// uploadRoom checks that the storage accepts files of the content and has
// enough room, and returns its free bytes, or nil if the storage does not
// report them. A storage that the token cannot see looks like one that does not
// exist; hidden tells the two apart by the token's privileges. The check is
// early advice only: the room can change until the upload.
func (h *Host) uploadRoom(ctx context.Context, spec hypervisor.UploadSpec, content string) (*int64, error) {
	path, err := nodePath(spec.Node, "storage")
	if err != nil {
		return nil, err
	}
	var rows []placementRow
	if _, err := h.api.Get(ctx, path, url.Values{"storage": {spec.Storage}}, &rows); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(rows, func(r placementRow) bool { return string(r.Storage) == spec.Storage })
	if i < 0 {
		if err := h.hidden(ctx, need{"Datastore.AllocateSpace", "/storage/" + spec.Storage}); err != nil {
			return nil, err
		}
		return nil, plugin.Errorf(plugin.NotFound, "node %s has no storage %s", spec.Node, spec.Storage)
	}
	row := rows[i]
	switch takes := strings.Split(string(row.Content), ","); {
	case !bool(row.Enabled):
		return nil, plugin.Errorf(plugin.Refused, "storage %s is disabled", spec.Storage)
	case !bool(row.Active):
		return nil, plugin.Errorf(plugin.Refused, "storage %s is not online", spec.Storage)
	case !slices.Contains(takes, content):
		return nil, invalid("content", "storage %s is not configured for the content %s", spec.Storage, content)
	case !row.Avail.Set:
		return nil, nil
	case row.Avail.N < spec.Size:
		return nil, plugin.Errorf(plugin.Refused, "storage %s has %d bytes free, but the file has %d bytes",
			spec.Storage, row.Avail.N, spec.Size)
	}
	return &row.Avail.N, nil
}

// Upload implements hypervisor.Uploader. The node of the endpoint's address takes the file in whole, below /var/tmp, and copies it from
// there to the storage, for another node over the network.
func (h *Host) Upload(ctx context.Context, spec hypervisor.UploadSpec, file io.Reader) (string, error) {
	path, name, content, err := uploadTarget(spec)
	if err != nil {
		return "", err
	}
	fields := [][2]string{{"content", content}}
	if spec.SHA256 != "" {
		fields = append(fields, [2]string{"checksum-algorithm", "sha256"}, [2]string{"checksum", spec.SHA256})
	}
	var answer pveapi.Text
	_, err = h.api.Upload(ctx, path+"/upload", pveapi.Upload{Fields: fields, Name: name, Size: spec.Size, File: file}, &answer)
	if err != nil {
		return "", h.explain(ctx, spec.Node, uploadError(err))
	}
	h.log.Debug("upload accepted", "node", spec.Node, "storage", spec.Storage, "file", name, "task", string(answer))
	return taskIn(string(answer)), nil
}

// uploadError brings what the hypervisor says of a file into our words.
func uploadError(err error) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	text := strings.ToLower(e.Message)
	switch {
	case e.Kind == plugin.Invalid && e.Field == "filename":
		e.Field = "name"
	case strings.Contains(text, "write to temporary file failed"), strings.Contains(text, "unable to create temporary upload file"):
		e.Kind = plugin.Refused
		e.Message = "the called node has too little space in /var/tmp, where it stores the whole file before copying it to " +
			"the storage: " + e.Message
	case strings.Contains(text, "does not support '") && strings.Contains(text, "' content"):
		wrongParameter(e, "content")
	case strings.Contains(text, "can't upload to storage type"):
		wrongParameter(e, "storage")
	}
	return e
}
