package storage

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/storage"
	"github.com/hostler/hostler/sdk/endpoint"
)

// contents declares the operations on the content of storages.
func (h handlers) contents(a *op.API) {
	op.Get(a, one+"/content", h.content, op.Spec{
		ID: "list_storage_content", Summary: "List the content of a storage", Tag: tag, Role: identity.Viewer, On: op.Host, Calls: true,
		Needs: endpoint.Monitoring,
		Description: "Reads the content from the hypervisor as `node` sees it, sorted by kind and name. Without " +
			"`node`, it is read from a node that can use the storage, preferably the host's own. A storage that is not " +
			"shared has separate content on each node. The lifecycle token is used if the host has one, because " +
			"hypervisors may hide content from the monitoring token; `X-Hidden-Content` lists the kinds of content " +
			"that may be incomplete.",
	})
	op.Delete(a, one+"/content/*volid", h.deleteVolume, op.Spec{
		ID: "delete_storage_volume", Summary: "Delete a volume", Tag: tag, Role: identity.Admin, On: op.Host, Calls: true, Plan: true,
		Needs: endpoint.Lifecycle, Status: http.StatusAccepted, Audit: op.Audit{Action: "storage.delete_volume", Target: "volid"},
		Confirm: op.Confirm{When: op.ConfirmAlways, Field: "name"},
		Description: "Starts a job that deletes the volume. 409 `volume_in_use` with `guests` while it is in use: a " +
			"disk while its guest, identified by the name of the volume, exists; an image while the configuration " +
			"of a VM uses it; and a volume that has linked clones. The job checks this again on the hypervisor " +
			"before it deletes anything, except for VMs whose configuration was read within the last hour and has " +
			"not changed since. A protected backup is 409 `protected`, and a backup also requires the backup token " +
			"of the host. 409 `confirm_required` until `confirm` is the name of the volume. `node` is required if " +
			"several nodes have a storage of this name with separate content.",
	})
	op.Post(a, one+"/content/download", h.download, op.Spec{
		ID: "download_storage_content", Summary: "Download a file to a storage", Tag: tag, Role: identity.Admin, On: op.Host,
		Calls: true, Needs: endpoint.Lifecycle, Status: http.StatusAccepted, Audit: op.Audit{Action: "storage.download", Target: "name"},
		Replay: h.again,
		Description: "Starts a job that follows the download. The node downloads the file from its own network and " +
			"verifies the checksum. The node also resolves the host name in `url`, so a host name that resolves to " +
			"a refused address, such as 127.0.0.1, is not refused. The query of `url` may contain a secret: it is " +
			"in no response, audit entry or transcript of this service, but the task log of the hypervisor contains " +
			"it. A URL with a user name and password is refused. An existing file with this name is 409 `conflict`.",
	})
	op.Get(a, one+"/templates", h.templates, op.Spec{
		ID: "list_storage_templates", Summary: "List container templates that can be downloaded", Tag: tag, Role: identity.Viewer,
		On:    op.Host,
		Calls: true, Needs: endpoint.Monitoring,
		Description: "Lists the container templates that the hypervisor's own source offers, as last updated by the " +
			"node.",
	})
	op.Post(a, one+"/templates", h.fetchTemplate, op.Spec{
		ID: "fetch_storage_template", Summary: "Download a container template to a storage", Tag: tag, Role: identity.Admin, On: op.Host,
		Calls: true, Needs: endpoint.Lifecycle, Status: http.StatusAccepted, Audit: op.Audit{Action: "storage.fetch_template", Target: "name"},
		Replay:      h.again,
		Description: "Starts a job that follows the download. An existing template is 409 `conflict`.",
	})
}

type contentInput struct {
	op.Page
	StoragePath
	Node     string `query:"node" maxLength:"253" doc:"Node from which the storage is read"`
	Content  string `query:"content" maxLength:"64" pattern:"^[a-z_-]+$" doc:"Only this content type, as the hypervisor names it"`
	Kind     string `query:"kind" enum:"disk,image,template,backup,other" doc:"Only volumes of this kind"`
	GuestRef string `query:"guest_ref" maxLength:"255" doc:"Only volumes of the guest with this ID on the hypervisor"`
	Search   string `query:"search" maxLength:"100" doc:"Only volumes whose ID contains this text"`
}

type contentOutput struct {
	Total  int      `header:"X-Total-Count" doc:"Total number of entries on all pages"`
	Hidden []string `header:"X-Hidden-Content" doc:"Content types that the tokens of the host may not show completely"`
	Body   []storage.Volume
}

func (h handlers) content(ctx context.Context, in *contentInput) (*contentOutput, error) {
	filter := storage.ContentFilter{Node: in.Node, Content: in.Content, Kind: in.Kind, GuestRef: in.GuestRef, Search: in.Search}
	page, err := h.Storages.Content(ctx, op.ResourceOf(ctx).ID, in.Name, filter, in.Offset(), in.Limit())
	return &contentOutput{Total: page.Total, Hidden: page.Hidden, Body: page.Volumes}, err
}

type deleteVolumeInput struct {
	op.PlanParams
	StoragePath
	ID   string `path:"volid" maxLength:"300" example:"local:iso/debian.iso" doc:"Same as volid in the list; slashes need not be encoded"`
	Node string `query:"node" maxLength:"253" doc:"Node that has the volume; required if several nodes have separate content"`
	Body *struct {
		Confirm *string `json:"confirm,omitempty" nullable:"true" maxLength:"300" doc:"Name of the volume"`
	}
}

func (h handlers) deleteVolume(ctx context.Context, in *deleteVolumeInput) (*op.Body[guest.StartResult], error) {
	var confirm *string
	if in.Body != nil {
		confirm = in.Body.Confirm
	}
	done, err := h.Storages.DeleteVolume(ctx, op.ResourceOf(ctx).ID, in.Name, in.Node, in.ID, confirm)
	return &op.Body[guest.StartResult]{Body: done}, err
}

type downloadInput struct {
	StoragePath
	Body struct {
		URL       string  `json:"url" minLength:"1" maxLength:"2048" example:"https://files.example.com/debian.iso" doc:"URL of the file, http or https"`
		Content   string  `json:"content" minLength:"1" maxLength:"64" example:"iso" doc:"Content type, as the hypervisor names it"`
		Filename  *string `json:"filename,omitempty" nullable:"true" minLength:"1" maxLength:"255" doc:"Name of the file; null for the last part of the URL's path"`
		Node      *string `json:"node,omitempty" nullable:"true" minLength:"1" maxLength:"253" doc:"Node that downloads the file"`
		Checksum  *string `json:"checksum,omitempty" nullable:"true" minLength:"1" maxLength:"128" doc:"Expected checksum, in hexadecimal"`
		Algorithm *string `json:"checksum_algorithm,omitempty" nullable:"true" enum:"md5,sha1,sha224,sha256,sha384,sha512"`
		VerifyTLS *bool   `json:"verify_tls,omitempty" nullable:"true" doc:"false accepts any server certificate"`
	}
}

func (h handlers) download(ctx context.Context, in *downloadInput) (*op.Body[guest.StartResult], error) {
	b := &in.Body
	text := func(p *string) string {
		if p == nil {
			return ""
		}
		return *p
	}
	done, err := h.Storages.Download(ctx, op.ResourceOf(ctx).ID, in.Name, storage.DownloadRequest{
		URL: b.URL, Content: b.Content, Filename: text(b.Filename), Node: text(b.Node), Checksum: text(b.Checksum),
		Algorithm:      text(b.Algorithm),
		AnyCertificate: b.VerifyTLS != nil && !*b.VerifyTLS,
	})
	return &op.Body[guest.StartResult]{Body: done}, err
}

type templatesInput struct {
	op.Page
	StoragePath
	Node   string `query:"node" maxLength:"253" doc:"Node whose list of templates is read"`
	Search string `query:"search" maxLength:"100" doc:"Only templates with this text in their name or title"`
}

func (h handlers) templates(ctx context.Context, in *templatesInput) (*op.List[storage.Template], error) {
	all, total, err := h.Storages.Templates(ctx, op.ResourceOf(ctx).ID, in.Name, in.Node, in.Search, in.Offset(), in.Limit())
	return &op.List[storage.Template]{Total: total, Body: all}, err
}

type fetchTemplateInput struct {
	StoragePath
	Body struct {
		Template string  `json:"template" minLength:"1" maxLength:"255" example:"debian-13-standard_13.1-2_amd64.tar.zst"`
		Node     *string `json:"node,omitempty" nullable:"true" minLength:"1" maxLength:"253" doc:"Node that downloads the template"`
	}
}

func (h handlers) fetchTemplate(ctx context.Context, in *fetchTemplateInput) (*op.Body[guest.StartResult], error) {
	node := ""
	if in.Body.Node != nil {
		node = *in.Body.Node
	}
	done, err := h.Storages.FetchTemplate(ctx, op.ResourceOf(ctx).ID, in.Name, in.Body.Template, node)
	return &op.Body[guest.StartResult]{Body: done}, err
}
