package api_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/identity"
)

type disk struct {
	Size int64  `json:"size_gb" minimum:"1" maximum:"64" example:"32" doc:"Size in GiB"`
	Pool string `json:"pool,omitempty" default:"local-lvm" maxLength:"30"`
}

type machine struct {
	Name  string              `json:"name" example:"web" doc:"Name <b>shown</b>"`
	Kind  string              `json:"kind" enum:"vm,app"`
	Disks []disk              `json:"disks"`
	Tags  []string            `json:"tags"`
	Note  op.Optional[string] `json:"note,omitzero"`
	Boot  disk                `json:"boot"`
}

func TestDocsPageShowsOperations(t *testing.T) {
	t.Parallel()
	a := op.New(op.Config{Router: route.New(), Authenticator: apitest.Callers{}, Resolver: apitest.Nothing{}, Recorder: &apitest.Trail{},
		Version: "9.9"})
	op.Post(a, "/api/v1/vms/:vm_id/copy", func(context.Context, *struct {
		VMID int64 `path:"vm_id" doc:"The VM"`
		Fast bool  `query:"fast" default:"true"`
		Body *machine
	}) (*op.Body[machine], error) {
		return nil, nil
	}, op.Spec{ID: "copy_vm", Summary: "Copy a VM", Description: "Says <i>more</i> with `a<b`.", Tag: "VMs", Role: identity.Operator,
		On:     op.VM,
		Status: http.StatusAccepted, Audit: op.Audit{Action: "vm.copy"}, Entitlement: "vm.copy"})
	op.Get(a, "/api/v1/vms", func(context.Context, *op.Page) (*op.List[machine], error) { return nil, nil },
		op.Spec{ID: "list_vms", Summary: "List VMs", Tag: "VMs", Role: identity.Viewer, On: op.Anywhere})
	html, err := api.RenderDocs(a.Document())
	if err != nil {
		t.Fatal(err)
	}
	if file := os.Getenv("DOCS_PAGE"); file != "" { // to look at it
		if err := os.WriteFile(file, html, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text := string(html)
	for _, piece := range []string{
		"<h2>VMs</h2>", `id="copy_vm"`, "/api/v1/vms/{vm_id}/copy", "role operator on the vm", "key scope vms:write", "feature vm.copy",
		"recorded as vm.copy",
		"<td>vm_id</td><td>path</td><td>integer</td><td>required · at least 1 · The VM</td>", "default true", "Body, optional",
		"one of vm, app", "<td>disks[].size_gb</td>", "required · at least 1 · at most 64 · Size in GiB", "<td>boot.pool</td>",
		"<td>tags</td><td>array of string</td>",
		"<td>note</td><td>string or null</td>", "&#34;size_gb&#34;: 32", "<summary>202 Accepted</summary>", "<summary>409 ",
		"role viewer in any team", "<td>[].name</td>",
		"Says &lt;i&gt;more&lt;/i&gt; with <code>a&lt;b</code>.", "Name &lt;b&gt;shown",
	} {
		if !strings.Contains(text, piece) {
			t.Errorf("the page lacks %q", piece)
		}
	}
}
