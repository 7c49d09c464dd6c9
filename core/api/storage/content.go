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

// contents declares the operations on what lies on a storage.
func (h handlers) contents(a *op.API) {
	op.Get(a, one+"/content", h.content, op.Spec{
		ID: "list_storage_content", Summary: "List what is on a storage", Tag: tag, Role: identity.Viewer, On: op.Host, Calls: true,
		Needs: endpoint.Monitoring,
		Description: "Asked of the hypervisor, by kind and name, as `node` sees it: without it, of a node that can use the storage, " +
			"the host's own " +
			"before others. A storage that is not shared has other content on each node. Hypervisors may show less to the token for " +
			"monitoring than " +
			"to that for lifecycle, which is used where the host has it; of what kinds of content something is not shown is told by " +
			"`X-Hidden-Content`.",
	})
	op.Delete(a, one+"/content/*volid", h.deleteVolume, op.Spec{
		ID: "delete_storage_volume", Summary: "Delete a volume", Tag: tag, Role: identity.Admin, On: op.Host, Calls: true, Plan: true,
		Needs: endpoint.Lifecycle, Status: http.StatusAccepted, Audit: op.Audit{Action: "storage.delete_volume", Target: "volid"},
		Confirm: op.Confirm{When: op.ConfirmAlways, Field: "name"},
		Description: "Answers with the job that does it. 409 `volume_in_use` with `guests` while something uses it: a disk as long as " +
			"the guest is " +
			"there whose it is by its name, an image while the configuration of a VM names it, and what other volumes are linked copies " +
			"of. All of " +
			"it is asked of the hypervisor when the job starts, which else fails; of VMs whose configuration was read within the last hour and " +
			"has not changed since, as far as is known, only then. A protected backup is 409 `protected`, and a backup needs the host's " +
			"token for backup besides. 409 `confirm_required` until `confirm` holds the volume's name. Where several nodes have such a " +
			"storage, each " +
			"for itself, `node` is needed.",
	})
	op.Post(a, one+"/content/download", h.download, op.Spec{
		ID: "download_storage_content", Summary: "Have the hypervisor download a file", Tag: tag, Role: identity.Admin, On: op.Host,
		Calls: true, Needs: endpoint.Lifecycle, Status: http.StatusAccepted, Audit: op.Audit{Action: "storage.download", Target: "name"},
		Recall: h.again,
		Description: "Answers with the job that follows it. The node fetches the file itself, from its own network, and compares the " +
			"checksum. The node also resolves the name itself, so a name that resolves to a refused address, such as 127.0.0.1, is not " +
			"refused. The query of `url` may hold a secret: it is in no answer, trail or transcript of this service, though " +
			"the hypervisor's own log of the task has it; a user and password are refused. A file of this name that is there is 409 `conflict`.",
	})
	op.Get(a, one+"/templates", h.templates, op.Spec{
		ID: "list_storage_templates", Summary: "List the templates that can be fetched to a storage", Tag: tag, Role: identity.Viewer,
		On:    op.Host,
		Calls: true, Needs: endpoint.Monitoring,
		Description: "Those of containers that the hypervisor's own source has, as the node last heard of it.",
	})
	op.Post(a, one+"/templates", h.fetchTemplate, op.Spec{
		ID: "fetch_storage_template", Summary: "Fetch a template to a storage", Tag: tag, Role: identity.Admin, On: op.Host,
		Calls: true, Needs: endpoint.Lifecycle, Status: http.StatusAccepted, Audit: op.Audit{Action: "storage.fetch_template", Target: "name"},
		Recall:      h.again,
		Description: "Answers with the job that follows it. One that is there is 409 `conflict`.",
	})
}

type contentInput struct {
	op.Page
	Named
	Node     string `query:"node" maxLength:"253" doc:"As this node sees it"`
	Content  string `query:"content" maxLength:"64" pattern:"^[a-z_-]+$" doc:"Only this kind of content, in the hypervisor's word"`
	Kind     string `query:"kind" enum:"disk,image,template,backup,other" doc:"Only volumes of this kind"`
	GuestRef string `query:"guest_ref" maxLength:"255" doc:"Only volumes of the guest that has this id at the hypervisor"`
	Search   string `query:"search" maxLength:"100" doc:"Only volumes with this in their ids"`
}

type contentOutput struct {
	Total  int      `header:"X-Total-Count" doc:"Number of all entries, those on other pages included"`
	Hidden []string `header:"X-Hidden-Content" doc:"Kinds of content of which the host's tokens are not shown everything"`
	Body   []storage.Volume
}

func (h handlers) content(ctx context.Context, in *contentInput) (*contentOutput, error) {
	filter := storage.ContentFilter{Node: in.Node, Content: in.Content, Kind: in.Kind, GuestRef: in.GuestRef, Search: in.Search}
	page, err := h.Storages.Content(ctx, op.Found(ctx).ID, in.Name, filter, in.Offset(), in.Limit())
	return &contentOutput{Total: page.Total, Hidden: page.Hidden, Body: page.Volumes}, err
}

type deleteVolumeInput struct {
	op.Planned
	Named
	ID   string `path:"volid" maxLength:"300" example:"local:iso/debian.iso" doc:"As volid of the list; slashes may stand as they are"`
	Node string `query:"node" maxLength:"253" doc:"The node that has it, where several have such a storage each for itself"`
	Body *struct {
		Confirm *string `json:"confirm,omitempty" nullable:"true" maxLength:"300" doc:"The volume's name"`
	}
}

func (h handlers) deleteVolume(ctx context.Context, in *deleteVolumeInput) (*op.Body[guest.Started], error) {
	var confirm *string
	if in.Body != nil {
		confirm = in.Body.Confirm
	}
	done, err := h.Storages.DeleteVolume(ctx, op.Found(ctx).ID, in.Name, in.Node, in.ID, confirm)
	return &op.Body[guest.Started]{Body: done}, err
}

type downloadInput struct {
	Named
	Body struct {
		URL       string  `json:"url" minLength:"1" maxLength:"2048" example:"https://files.example.com/debian.iso" doc:"http or https"`
		Content   string  `json:"content" minLength:"1" maxLength:"64" example:"iso" doc:"What it is to the storage, in the hypervisor's word"`
		Filename  *string `json:"filename,omitempty" nullable:"true" minLength:"1" maxLength:"255" doc:"Null for the last part of the URL's path"`
		Node      *string `json:"node,omitempty" nullable:"true" minLength:"1" maxLength:"253" doc:"The node that fetches it"`
		Checksum  *string `json:"checksum,omitempty" nullable:"true" minLength:"1" maxLength:"128" doc:"In hexadecimal digits"`
		Algorithm *string `json:"checksum_algorithm,omitempty" nullable:"true" enum:"md5,sha1,sha224,sha256,sha384,sha512"`
		VerifyTLS *bool   `json:"verify_tls,omitempty" nullable:"true" doc:"False takes any certificate of the server"`
	}
}

func (h handlers) download(ctx context.Context, in *downloadInput) (*op.Body[guest.Started], error) {
	b := &in.Body
	text := func(p *string) string {
		if p == nil {
			return ""
		}
		return *p
	}
	done, err := h.Storages.Download(ctx, op.Found(ctx).ID, in.Name, storage.DownloadOrder{
		URL: b.URL, Content: b.Content, Filename: text(b.Filename), Node: text(b.Node), Checksum: text(b.Checksum),
		Algorithm:      text(b.Algorithm),
		AnyCertificate: b.VerifyTLS != nil && !*b.VerifyTLS,
	})
	return &op.Body[guest.Started]{Body: done}, err
}

type templatesInput struct {
	op.Page
	Named
	Node   string `query:"node" maxLength:"253" doc:"What this node can fetch"`
	Search string `query:"search" maxLength:"100" doc:"Only templates with this in their names or titles"`
}

func (h handlers) templates(ctx context.Context, in *templatesInput) (*op.List[storage.Template], error) {
	all, total, err := h.Storages.Templates(ctx, op.Found(ctx).ID, in.Name, in.Node, in.Search, in.Offset(), in.Limit())
	return &op.List[storage.Template]{Total: total, Body: all}, err
}

type fetchTemplateInput struct {
	Named
	Body struct {
		Template string  `json:"template" minLength:"1" maxLength:"255" example:"debian-13-standard_13.1-2_amd64.tar.zst"`
		Node     *string `json:"node,omitempty" nullable:"true" minLength:"1" maxLength:"253" doc:"The node that fetches it"`
	}
}

func (h handlers) fetchTemplate(ctx context.Context, in *fetchTemplateInput) (*op.Body[guest.Started], error) {
	node := ""
	if in.Body.Node != nil {
		node = *in.Body.Node
	}
	done, err := h.Storages.FetchTemplate(ctx, op.Found(ctx).ID, in.Name, in.Body.Template, node)
	return &op.Body[guest.Started]{Body: done}, err
}
