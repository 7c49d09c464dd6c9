// Package configs is the HTTP resource of the configuration of VMs and apps,
// such as memory, cores, disks and tags. Reading and changing it contact the
// hypervisor while the caller waits.
package configs

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/app"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/vm"
	"github.com/hostler/hostler/sdk/endpoint"
)

// Guests finds the VM or the app that a path names. Package vm and package app
// implement it.
type Guests interface {
	Request(ctx context.Context, id, team int64, confirm *string) (guest.Request, error)
}

// Deps has what the operations of this package need.
type Deps struct {
	VMs   *vm.Store
	Apps  *app.Store
	Actor *guest.Actor
}

type handlers struct {
	guests Guests
	apps   *app.Store
	actor  *guest.Actor
}

// changeTime is how long a change may take, with the requests before and after
// it that read the configuration.
const changeTime = 3 * time.Minute

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	for _, s := range []struct {
		kind, one, tag string
		on             op.On
		guests         Guests
	}{{"vm", "a VM", "VMs", op.VM, deps.VMs}, {"app", "an app", "Apps", op.App, deps.Apps}} {
		h := handlers{s.guests, deps.Apps, deps.Actor}
		op.Get(a, "/api/v1/"+s.kind+"s/:"+s.kind+"_id/config", h.get, op.Spec{
			ID: "get_" + s.kind + "_config", Summary: "Get the configuration of " +
				s.one, Tag: s.tag, Role: identity.Viewer, On: s.on,
			Calls: true, Needs: endpoint.Monitoring,
			Description: "Reads the configuration from the hypervisor; it is not stored. The fields contain the active " +
				"configuration; `pending` contains changes that wait for a restart, by the hypervisor's keys.",
		})
	}
	h := handlers{deps.VMs, deps.Apps, deps.Actor}
	op.Patch(a, "/api/v1/vms/:vm_id", h.patchVM, op.Spec{
		ID: "reconfigure_vm", Summary: "Change the configuration of a VM", Tag: "VMs", Role: identity.Operator, On: op.VM,
		Calls: true, Needs: endpoint.Lifecycle, Audit: op.Audit{Action: "vm.reconfigure"}, Timeout: changeTime,
		Description: "Changes the configuration immediately, without a job. 409 `guest_busy` while a job works on " +
			"the VM. The service sends one request for all fields except `disks`, and then one for each disk; none " +
			"is repeated. A disk with a `storage` is new: its key must be one that the VM does not have yet. If a " +
			"later request fails, `done` in the response lists the changed fields, and `unknown` " +
			"those with an unknown result. A successful response returns the active configuration and the changes " +
			"that wait for a restart. An outdated `digest` is 409 `digest_conflict`.",
	})
	op.Put(a, "/api/v1/vms/:vm_id/drives/:drive", h.setDrive, op.Spec{
		ID: "set_vm_drive", Summary: "Change the image in a CD/DVD drive of a VM", Tag: "VMs", Role: identity.Operator, On: op.VM,
		Calls: true, Needs: endpoint.Lifecycle, Audit: op.Audit{Action: "vm.set_drive", Target: "drive"}, Timeout: changeTime,
		Description: "Inserts an ISO image that the node of the VM has, or ejects the present one if `image` is null, at once " +
			"and also while the VM is running. `drive` is the key of a disk with `removable` in the configuration, such as ide2. " +
			"422 `invalid` if the key holds a disk or a drive for Cloud-Init. 409 `guest_busy` while a job works on the " +
			"VM. An outdated `digest` is 409 `digest_conflict`. A driver that cannot change drives is 501 `unsupported`. A " +
			"successful response returns the configuration.",
	})
	op.Patch(a, "/api/v1/apps/:app_id", h.patchApp, op.Spec{
		ID: "reconfigure_app", Summary: "Change an app and its container", Tag: "Apps", Role: identity.Operator, On: op.App, Calls: true,
		Entitlement: "apps.reconfigure", Audit: op.Audit{Action: "app.reconfigure"}, Timeout: changeTime,
		Description: "`cores`, `memory_mb`, `swap_mb` and `disks` belong to the container and are changed first, like " +
			"those of a VM. `name`, `web_port`, `web_path`, `web_protocol` and `slug` belong to the app and require " +
			"neither a hypervisor nor a token. If the second part fails, `done` in the response lists the changed " +
			"fields. `slug` is the catalog entry that updates the app; only an admin can change it, and not while an " +
			"update is running (409 `guest_busy`).",
	})
}

// request returns the guest that the path names.
func (h handlers) request(ctx context.Context) (guest.Request, error) {
	return h.guests.Request(ctx, op.ResourceOf(ctx).ID, op.ResourceOf(ctx).TeamID, nil)
}

func (h handlers) get(ctx context.Context, _ *struct{}) (*op.Body[guest.Config], error) {
	r, err := h.request(ctx)
	if err != nil {
		return nil, err
	}
	config, err := h.actor.Config(ctx, r.Guest)
	return &op.Body[guest.Config]{Body: config}, err
}

// DiskChange is the requested size of a disk, or a new disk.
type DiskChange struct {
	SizeGB  int64  `json:"size_gb" minimum:"1" maximum:"1048576" example:"40" doc:"Size in GiB; disks can only grow"`
	Storage string `json:"storage,omitempty" maxLength:"100" example:"nas" doc:"For a new disk, whose key the guest does not have yet: the storage that it is created on"`
	Path    string `json:"path,omitempty" maxLength:"500" pattern:"^/" example:"/data" doc:"Mount point of a new disk inside a container"`
}

// ofDisks returns the requested disks by key.
func ofDisks(disks map[string]DiskChange) map[string]guest.DiskRequest {
	all := make(map[string]guest.DiskRequest, len(disks))
	for key, d := range disks {
		all[key] = guest.DiskRequest{SizeGB: d.SizeGB, Storage: d.Storage, Path: d.Path}
	}
	return all
}

type patchVMInput struct {
	Body struct {
		Cores       op.Optional[int64]    `json:"cores,omitzero" nullable:"false" minimum:"1" maximum:"8192" example:"4" doc:"Number of cores per socket"`
		Sockets     op.Optional[int64]    `json:"sockets,omitzero" nullable:"false" minimum:"1" maximum:"64" example:"1" doc:"Number of CPU sockets"`
		MemoryMB    op.Optional[int64]    `json:"memory_mb,omitzero" nullable:"false" minimum:"16" maximum:"16777216" example:"4096" doc:"Memory in MiB"`
		BalloonMB   op.Optional[int64]    `json:"balloon_mb,omitzero" minimum:"0" maximum:"16777216" example:"1024" doc:"Memory that the VM keeps when the node runs short of memory, at most memory_mb; 0 or null disables ballooning"`
		CPUType     op.Optional[string]   `json:"cpu_type,omitzero" nullable:"false" minLength:"1" maxLength:"200" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]*$" example:"host" doc:"CPU type, as the hypervisor names it"`
		Name        op.Optional[string]   `json:"name,omitzero" nullable:"false" minLength:"1" maxLength:"63" example:"web1" doc:"Letters, digits, . and -, starting and ending with a letter or digit"`
		Description op.Optional[string]   `json:"description,omitzero" maxLength:"8192" doc:"Notes"`
		Tags        op.Optional[Tags]     `json:"tags,omitzero" doc:"All tags; null or an empty list removes them"`
		Disks       map[string]DiskChange `json:"disks,omitempty" doc:"New sizes, and new disks, by disk key"`
		Digest      string                `json:"digest,omitempty" maxLength:"200" doc:"Digest of the configuration that you read"`
	}
}

func (h handlers) patchVM(ctx context.Context, in *patchVMInput) (*op.Body[guest.Config], error) {
	b := &in.Body
	order := guest.ConfigRequest{
		Digest: b.Digest, Cores: b.Cores.Pointer(), Sockets: b.Sockets.Pointer(), MemoryMB: b.MemoryMB.Pointer(),
		CPUType: b.CPUType.Pointer(), Name: b.Name.Pointer(), Disks: ofDisks(b.Disks),
	}
	// Null clears: the zero value of each is what the hypervisor has when there is none.
	if b.BalloonMB.Set {
		order.BalloonMB = &b.BalloonMB.Value
	}
	if b.Description.Set {
		order.Description = &b.Description.Value
	}
	if b.Tags.Set {
		tags := []string(b.Tags.Value)
		order.Tags = &tags
	}
	r, err := h.request(ctx)
	if err != nil {
		return nil, err
	}
	config, err := guest.Reconfigure(ctx, h.actor, r, order)
	return &op.Body[guest.Config]{Body: config}, err
}

type setDriveInput struct {
	Drive string `path:"drive" minLength:"1" maxLength:"64" example:"ide2" doc:"Key of the drive on the hypervisor"`
	Body  struct {
		Image  *string `json:"image" nullable:"true" minLength:"1" maxLength:"400" example:"local:iso/debian-13.iso" doc:"ISO image to insert"`
		Digest string  `json:"digest,omitempty" maxLength:"200" doc:"Digest of the configuration that you read"`
	}
}

func (h handlers) setDrive(ctx context.Context, in *setDriveInput) (*op.Body[guest.Config], error) {
	r, err := h.request(ctx)
	if err != nil {
		return nil, err
	}
	config, err := guest.ChangeDrive(ctx, h.actor, r, in.Drive, in.Body.Image, in.Body.Digest)
	return &op.Body[guest.Config]{Body: config}, err
}

type patchAppInput struct {
	Body struct {
		Cores       op.Optional[int64]    `json:"cores,omitzero" minimum:"1" maximum:"8192" example:"2" doc:"Number of cores; null keeps it"`
		MemoryMB    op.Optional[int64]    `json:"memory_mb,omitzero" minimum:"16" maximum:"16777216" example:"1024" doc:"Memory in MiB; null keeps it"`
		SwapMB      op.Optional[int64]    `json:"swap_mb,omitzero" minimum:"0" maximum:"16777216" example:"512" doc:"Swap in MiB; null keeps it"`
		Name        op.Optional[string]   `json:"name,omitzero" minLength:"1" maxLength:"100" example:"wiki" doc:"Name of the app; the name of the container does not change. null keeps it"`
		WebPort     op.Optional[int]      `json:"web_port,omitzero" minimum:"1" maximum:"65535" example:"8080" doc:"Port of the web page"`
		WebPath     op.Optional[string]   `json:"web_path,omitzero" maxLength:"500" pattern:"^/" example:"/admin" doc:"Path of the web page"`
		WebProtocol op.Optional[string]   `json:"web_protocol,omitzero" enum:"http,https" example:"https"`
		Slug        op.Optional[string]   `json:"slug,omitzero" minLength:"1" maxLength:"130" example:"wiki" doc:"Slug of the catalog entry that updates it; null for none"`
		Disks       map[string]DiskChange `json:"disks,omitempty" doc:"New sizes, and new disks, by disk key"`
		Digest      string                `json:"digest,omitempty" maxLength:"200" doc:"Digest of the container's configuration that you read"`
	}
}

func (h handlers) patchApp(ctx context.Context, in *patchAppInput) (*op.Body[app.ReconfigureResult], error) {
	b := &in.Body
	if b.Slug.Set { // which decides what runs in the container as root
		if err := op.RequireRole(ctx, op.ResourceOf(ctx).TeamID, identity.Admin); err != nil {
			return nil, err
		}
	}
	order := guest.ConfigRequest{
		Digest: b.Digest, Cores: b.Cores.Pointer(), MemoryMB: b.MemoryMB.Pointer(), SwapMB: b.SwapMB.Pointer(), Disks: ofDisks(b.Disks),
	}
	done, err := h.apps.Reconfigure(ctx, op.ResourceOf(ctx).ID, op.ResourceOf(ctx).TeamID, order, app.Presentation{
		Name: b.Name.Pointer(), WebPort: given(b.WebPort), WebPath: given(b.WebPath), WebProtocol: given(b.WebProtocol), Slug: given(b.Slug),
	})
	return &op.Body[app.ReconfigureResult]{Body: done}, err
}

func given[T any](o op.Optional[T]) app.Optional[T] {
	return app.Optional[T]{Set: o.Set, Value: o.Pointer()}
}
