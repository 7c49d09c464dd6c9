package pve

import (
	"context"
	"net/url"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// maxFilename is the longest file name that Proxmox VE accepts.
const maxFilename = 255

// downloadName checks the name of a new file. Proxmox VE would replace other
// characters without an error.
func downloadName(content, name string) error {
	given, _, err := uploadName(hypervisor.UploadSpec{Name: name, Content: content})
	if e, ok := asError(err); ok && e.Field == "name" {
		e.Field = "filename"
	}
	if err == nil && given != name {
		return invalid("filename", "a file name may contain only letters, digits, -, _ and .")
	}
	return err
}

// Download implements hypervisor.ContentFetcher.
func (h *Host) Download(ctx context.Context, spec hypervisor.DownloadSpec) (string, error) {
	if err := downloadName(spec.Content, spec.Filename); err != nil {
		return "", err
	}
	path, err := storagePath(spec.Node, spec.Storage, "download-url")
	if err != nil {
		return "", err
	}
	form := url.Values{"content": {spec.Content}, "filename": {spec.Filename}, "url": {string(spec.URL)}}
	if spec.Checksum != "" {
		form.Set("checksum", spec.Checksum)
		form.Set("checksum-algorithm", spec.ChecksumAlgorithm)
	}
	if spec.AnyCertificate {
		form.Set("verify-certificates", "0")
	}
	var answer pveapi.Text
	if _, err := h.api.Post(ctx, path, form, &answer); err != nil {
		e, ok := asError(err)
		if ok {
			e.Message = strings.ReplaceAll(e.Message, string(spec.URL), "[the URL]")
		}
		if ok && e.Kind == plugin.Denied && len(e.Missing) == 0 {
			h.lacksDownload(ctx, e, spec)
		}
		return "", h.explain(ctx, spec.Node, err)
	}
	h.log.Debug("download started", "node", spec.Node, "storage", spec.Storage, "file", spec.Filename, "task", string(answer))
	return taskIn(string(answer)), nil
}

// lacksDownload names the missing privileges, which the refusal does not.
func (h *Host) lacksDownload(ctx context.Context, e *plugin.Error, spec hypervisor.DownloadSpec) {
	var have grants
	if _, err := h.api.Get(ctx, "/access/permissions", nil, &have); err != nil {
		return
	}
	lacks := need{"Sys.AccessNetwork", "/nodes/" + spec.Node}
	if storage := "/storage/" + spec.Storage; !have.at("Datastore.AllocateTemplate", storage) {
		lacks = need{"Datastore.AllocateTemplate", storage}
	}
	e.Missing, e.Path = []string{lacks.privilege}, lacks.path
	e.Remedy = h.api.RemedyOf(ctx, e.Missing, e.Path)
}

// storagePath returns a path of a storage on a node.
func storagePath(node, storage string, rest ...string) (string, error) {
	if !storageName.MatchString(storage) {
		return "", plugin.Errorf(plugin.NotFound, "storage %.80q does not exist", storage)
	}
	return nodePath(node, append([]string{"storage", storage}, rest...)...)
}

// applianceRow is one row of the list of templates.
type applianceRow struct {
	Template     pveapi.Text `json:"template"`
	Headline     pveapi.Text `json:"headline"`
	Section      pveapi.Text `json:"section"`
	OS           pveapi.Text `json:"os"`
	Version      pveapi.Text `json:"version"`
	Architecture pveapi.Text `json:"architecture"`
	Description  pveapi.Text `json:"description"`
	Source       pveapi.Text `json:"source"`
}

// These limit the list of templates.
const (
	// maxTemplates is how many rows of the list are handed on, maxDescription
	// the length in bytes of a description.
	maxTemplates   = 5000
	maxDescription = 4 << 10
)

// Templates implements hypervisor.ContentFetcher. The list is the one that the
// node's daily update (pveam update) has downloaded. Every token may read it.
func (h *Host) Templates(ctx context.Context, node string) ([]hypervisor.Template, error) {
	path, err := nodePath(node, "aplinfo")
	if err != nil {
		return nil, err
	}
	var rows []applianceRow
	if _, err := h.api.Get(ctx, path, nil, &rows); err != nil {
		return nil, h.explain(ctx, node, err)
	}
	var all []hypervisor.Template
	for _, r := range rows[:min(len(rows), maxTemplates)] {
		name := string(r.Template)
		if name == "" || len(name) > maxFilename {
			continue
		}
		all = append(all, hypervisor.Template{
			Name: name, Title: cut(string(r.Headline), maxNotes), Section: cut(string(r.Section), maxWord), OS: cut(string(r.OS), maxWord),
			Version: cut(string(r.Version), maxWord), Architecture: cut(string(r.Architecture), maxWord),
			Description: cut(strings.TrimSpace(string(r.Description)), maxDescription), Source: cut(string(r.Source), maxNotes),
		})
	}
	return all, nil
}

// FetchTemplate implements hypervisor.ContentFetcher.
func (h *Host) FetchTemplate(ctx context.Context, spec hypervisor.TemplateSpec) (string, error) {
	if _, err := storagePath(spec.Node, spec.Storage); err != nil {
		return "", err
	}
	path, err := nodePath(spec.Node, "aplinfo")
	if err != nil {
		return "", err
	}
	var answer pveapi.Text
	if _, err := h.api.Post(ctx, path, url.Values{"storage": {spec.Storage}, "template": {spec.Name}}, &answer); err != nil {
		return "", h.explain(ctx, spec.Node, err)
	}
	h.log.Debug("download of a template started", "node", spec.Node, "storage", spec.Storage, "template", spec.Name, "task", string(answer))
	return taskIn(string(answer)), nil
}
