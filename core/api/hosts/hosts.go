// Package hosts is the HTTP resource of hypervisor hosts: enrolling and removing them, their tokens, their checks and
// their tasks.
package hosts

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/power"
)

// Poller reads hosts' inventories.
type Poller interface {
	// Sync polls one host now and returns when what it found is written.
	Sync(ctx context.Context, hostID int64) error
	// Wake makes the loop look for new hosts now.
	Wake()
}

// Deps is what the resource works with.
type Deps struct {
	Hosts  *host.Store
	Poller Poller
	Power  *power.Store
}

type handlers struct {
	hosts  *host.Store
	poller Poller
	power  *power.Store
}

const tag = "Hosts"

// Register declares the operations.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Hosts, deps.Poller, deps.Power}
	op.Get(a, "/api/v1/hosts", h.list, op.Spec{
		ID: "list_hosts", Summary: "List hosts", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "The hosts of the caller's teams, by name. A host is one hypervisor API endpoint; several hosts may front one cluster.",
	})
	op.Post(a, "/api/v1/hosts", h.create, op.Spec{
		ID: "create_host", Summary: "Enrol a host", Tag: tag, Calls: true, Role: identity.Admin, Status: http.StatusCreated,
		Audit: op.Audit{Action: "host.create"}, Recall: h.created,
		Description: "Verifies the endpoint with its monitoring token before anything is stored. A given `tls_fingerprint` is enforced from " +
			"the first connection on; without one, `verify_tls` true checks the certificate against the system's authorities and the name, and " +
			"false pins the certificate seen now. Missing privileges are told in `verification` and do not refuse the host. Failures are 502 " +
			"`hypervisor_error` with `reason`, or `token_rejected`. A server that is enrolled already, under another address, is 409 " +
			"`already_enrolled`, with its `host_id` for who is admin of that host's team; members of one cluster are hosts of their own. An " +
			"installation has at most 10,000 hosts; enrolling more is 409 `conflict`. The host " +
			"belongs to the team `default` until it is moved. The first poll begins at once. A one-time code pins the certificate that it " +
			"names and is traded for a credential after all that can be refused without it: what fails afterwards names in `credential_id` " +
			"what the hypervisor trusts in vain, and is 504 `outcome_unknown` where the answer to the code was lost. A `driver` that is not " +
			"installed is 422, with the names of those that run.\n\n`paste` takes what the token script has printed: the host is stored with the " +
			"tokens of all capabilities in it, that for `monitoring` among them, or not at all. Each is verified before any is stored; where one " +
			"fails, `tokens` in the answer has a row for each. What is wrong with a paste is 422, and never tells anything of it.\n\n" +
			"`ssh_enroll` makes an SSH key for the host's machine; `ssh.pending` in the answer has the line for its authorized_keys, and POST " +
			"`ssh/verify` looks whether it works. It needs `ssh_consent`, else it is 409 `consent_required`, whose member `consent` tells what " +
			"is agreed to. A driver that logs in to no machines is 501 `unsupported`.",
	})
	op.Get(a, "/api/v1/hosts/capabilities", h.capabilities, op.Spec{
		ID: "list_capabilities", Summary: "List what tokens are for", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "What Hostler can do on a host of the driver, one token for each: `monitoring` is required, the others are added when " +
			"they are needed.",
	})
	op.Get(a, "/api/v1/hosts/drivers", h.drivers, op.Spec{
		ID: "list_drivers", Summary: "List the drivers of hypervisors", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Those that run, by name, with what a form to enrol a host needs: the forms of credentials with their labels, the " +
			"default port, the capabilities, what rights can be narrowed to, and what guests can do.",
	})
	op.Post(a, "/api/v1/hosts/probe", h.probe, op.Spec{
		ID: "probe_host", Summary: "Check an endpoint without enrolling it", Tag: tag, Calls: true, Role: identity.Admin, ReadOnly: true,
		Description: "Looks at the certificate, tries the tokens and tells what was found, as enrolling would; nothing is stored. " +
			"`certificate` is told whether or not anything vouches for it, and no token is sent to an endpoint whose certificate is neither " +
			"pinned nor " +
			"trusted.\n\nWith `token_secret` one token is tried, and failures are those of enrolling; with the certificate as a member " +
			"`certificate` where it was seen. With `paste`, or with `tokens`, each token has a row in `tokens`: a bad one, and an " +
			"endpoint that is not there, is a `reason` of its row and no error. An empty `tokens` only looks at the certificate.\n\nA " +
			"one-time code is not used: `one_time_code` tells what it says of itself, and only the endpoint and its certificate are checked. " +
			"An API key needs the scope `hosts:write`: this makes the service call an address.",
	})
	op.Post(a, "/api/v1/hosts/token-script", h.tokenScript, op.Spec{
		ID: "write_token_script", Summary: "Write the script that makes the tokens", Tag: tag, Role: identity.Admin, ReadOnly: true,
		Unsupported: true,
		Description: "A shell script for an administrator of the hypervisor: it makes one user, and a role and a token for each capability, " +
			"and prints the tokens. What it has printed is taken as `paste` at enrolling, by a probe, and where tokens are replaced. It is safe " +
			"to run twice. `undo` has the commands that take back what it made. A capability that the driver does not have is 501 " +
			"`unsupported`.",
	})
	op.Put(a, "/api/v1/hosts/self", h.setSelf, op.Spec{
		ID: "set_self_host", Summary: "Say which host the service itself runs on", Tag: tag, Role: identity.Admin,
		Audit:       op.Audit{Action: "host.set_self"},
		Description: "Null, like an absent key, says that it is none of them.",
	})
	op.Get(a, "/api/v1/hosts/:host_id", h.get, op.Spec{
		ID: "get_host", Summary: "Get a host", Tag: tag, Role: identity.Viewer, On: op.Host,
		Description: "The host as its last poll found it, with its tokens by capability; never their secrets.",
	})
	op.Patch(a, "/api/v1/hosts/:host_id", h.patch, op.Spec{
		ID: "patch_host", Summary: "Change a host", Tag: tag, Calls: true, Role: identity.Admin, On: op.Host,
		Audit: op.Audit{Action: "host.update"},
		Description: "Another address or certificate is verified first, and nothing changes when that fails. `tls_fingerprint` null unpins " +
			"the certificate, or pins the one seen now where `verify_tls` is off. Another address needs the role owner unless it shows the " +
			"certificate that is pinned: the stored tokens are sent there. A server that is enrolled as another host is 409 `already_enrolled`, " +
			"as at enrolling. Moving a host to another team needs the role admin there too.",
	})
	op.Delete(a, "/api/v1/hosts/:host_id", h.remove, op.Spec{
		ID: "remove_host", Summary: "Forget a host", Tag: tag, Role: identity.Owner, On: op.Host, Status: http.StatusOK,
		Audit:   op.Audit{Action: "host.remove"},
		Confirm: op.Confirm{When: op.ConfirmAlways, Field: "name"}, Plan: true,
		Description: "Drops its tokens, apps and cached guests; nothing changes on the hypervisor. `confirm` must be its name (409 " +
			"`confirm_required`). Apps refuse it (409 `host_has_apps`) unless `forget_apps`, and unfinished jobs do (409 `conflict`).",
	})
	registerTokens(a, h)
	registerCalls(a, h)
	registerPeers(a, h)
	registerPower(a, h)
}

func (h handlers) list(ctx context.Context, _ *struct{}) (*op.List[host.Host], error) {
	all, err := h.hosts.List(ctx, identity.FromContext(ctx).Visible())
	return &op.List[host.Host]{Total: len(all), Body: all}, err
}

func (h handlers) get(ctx context.Context, _ *struct{}) (*op.Body[host.Host], error) {
	found, err := h.hosts.Get(ctx, op.Found(ctx).ID)
	return &op.Body[host.Host]{Body: found}, err
}

type capabilitiesInput struct {
	Driver string `query:"driver" maxLength:"63" example:"pve" doc:"One of GET /hosts/drivers; pve by default"`
}

func (h handlers) capabilities(ctx context.Context, in *capabilitiesInput) (*op.List[host.Capability], error) {
	all, err := h.hosts.Capabilities(ctx, in.Driver)
	return &op.List[host.Capability]{Total: len(all), Body: all}, err
}

func (h handlers) drivers(ctx context.Context, _ *struct{}) (*op.List[host.Driver], error) {
	all, err := h.hosts.ListDrivers(ctx)
	return &op.List[host.Driver]{Total: len(all), Body: all}, err
}

type removeInput struct {
	op.Planned
	Body *struct {
		Confirm    *string `json:"confirm,omitempty" nullable:"true" maxLength:"200" doc:"The host's name"`
		ForgetApps bool    `json:"forget_apps,omitempty" doc:"Forget its apps too; their containers stay as they are"`
	}
}

// Removed is the answer of a removal.
type Removed struct {
	Removed bool `json:"removed" example:"true"`
}

func (h handlers) remove(ctx context.Context, in *removeInput) (*op.Body[Removed], error) {
	confirm, forget := "", false
	if in.Body != nil {
		forget = in.Body.ForgetApps
		if in.Body.Confirm != nil {
			confirm = *in.Body.Confirm
		}
	}
	err := h.hosts.Remove(ctx, op.Found(ctx).ID, confirm, forget)
	return &op.Body[Removed]{Body: Removed{Removed: true}}, err
}

type selfInput struct {
	Body struct {
		HostID *int64 `json:"host_id,omitempty" nullable:"true" minimum:"1" example:"1"`
	}
}

// Self is the host that the service runs on.
type Self struct {
	HostID *int64 `json:"host_id" example:"1" doc:"Null for none of them"`
}

func (h handlers) setSelf(ctx context.Context, in *selfInput) (*op.Body[Self], error) {
	err := h.hosts.SetSelf(ctx, in.Body.HostID)
	return &op.Body[Self]{Body: Self{HostID: in.Body.HostID}}, err
}

// created makes the answer of create again.
func (h handlers) created(ctx context.Context, made idempotency.Made) (any, error) {
	var v host.Verification
	if err := made.Decode(&v); err != nil {
		return nil, err
	}
	found, err := h.hosts.Get(ctx, made.Target())
	return Created{found, v}, err
}
