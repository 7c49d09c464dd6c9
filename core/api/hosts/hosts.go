// Package hosts is the HTTP resource of hypervisor hosts. The files of the
// package are
//
//   - hosts.go: list, get and remove hosts, and the drivers and capabilities
//     that exist
//   - enrol.go: enrol and change a host, and probe an address before that
//   - token.go: add, replace and delete tokens, and the script that creates
//     them
//   - call.go: operations that ask the hypervisor while the caller waits,
//     such as a poll, a check or the status of a node
//   - peer.go: the other nodes of a host's cluster
//   - power.go: reboot and shut down a node
//
// Package host has the logic.
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

// Poller reads the inventory of hosts.
type Poller interface {
	// Sync polls one host now and returns when the result is stored.
	Sync(ctx context.Context, hostID int64) error
	// Wake makes the poller look for new hosts now.
	Wake()
}

// Deps has what the operations of this package need.
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

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Hosts, deps.Poller, deps.Power}
	op.Get(a, "/api/v1/hosts", h.list, op.Spec{
		ID: "list_hosts", Summary: "List hosts", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Lists the hosts of the caller's teams, by name. A host is one API endpoint of a hypervisor; " +
			"several hosts can belong to one cluster.",
	})
	op.Post(a, "/api/v1/hosts", h.create, op.Spec{
		ID: "create_host", Summary: "Enrol a host", Tag: tag, Calls: true, Role: identity.Admin, Status: http.StatusCreated,
		Audit: op.Audit{Action: "host.create"}, Replay: h.created,
		Description: "Verifies the endpoint with its monitoring token before anything is stored. A given " +
			"`tls_fingerprint` is enforced from the first connection. Without one, `verify_tls` true verifies the " +
			"certificate against the system's certificate authorities and the name; false pins the certificate that " +
			"is presented now. Missing privileges are listed in `verification` and do not prevent the enrolment. " +
			"Failures are 502 `hypervisor_error` with `reason`, or `token_rejected`. A server that is enrolled with " +
			"another address is 409 `already_enrolled`, with its `host_id` if you are an admin of that host's team; " +
			"each node of a cluster can be a separate host. An instance has at most 10,000 hosts; enrolling more is " +
			"409 `conflict`. The host belongs to the team `default` until it is moved. The first poll starts at " +
			"once. A one-time code pins the certificate that it contains, and is exchanged for a credential after " +
			"all other checks. If the enrolment fails afterwards, `credential_id` in the response is the credential " +
			"that the hypervisor still trusts although it is not used; 504 `outcome_unknown` if the response to the " +
			"code was lost. A `driver` that is not installed is 422, with the names of the running ones.\n\n" +
			"`paste` accepts the output of the token script, which must contain a token for `monitoring`. All " +
			"tokens are verified before the host is stored with them. If one fails, nothing is stored, and `tokens` " +
			"in the response has a row for each. An invalid paste is 422; the response never repeats any of it.\n\n" +
			"`ssh_enroll` creates an SSH key for the host; `ssh.pending` in the response has the line for its " +
			"authorized_keys, and POST `ssh/verify` tests it. It requires `ssh_consent`; otherwise the response is " +
			"409 `consent_required` with the text in `consent`. A driver without SSH support is 501 `unsupported`.",
	})
	op.Get(a, "/api/v1/hosts/capabilities", h.capabilities, op.Spec{
		ID: "list_capabilities", Summary: "List capabilities of tokens", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Lists the capabilities of the driver. Each one has a separate token. `monitoring` is required; " +
			"the others can be added when needed.",
	})
	op.Get(a, "/api/v1/hosts/drivers", h.drivers, op.Spec{
		ID: "list_drivers", Summary: "List hypervisor drivers", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Lists the running drivers by name, with the data of an enrolment form: forms of credentials with " +
			"their labels, default port, capabilities, scopes for rights, and actions of guests.",
	})
	op.Post(a, "/api/v1/hosts/probe", h.probe, op.Spec{
		ID: "probe_host", Summary: "Probe an endpoint without enrolling it", Tag: tag, Calls: true, Role: identity.Admin, ReadOnly: true,
		Description: "Reads the certificate, tests the tokens and returns the result, like enrolling; nothing is " +
			"stored. `certificate` is returned even if it is not trusted, and no token is sent to an endpoint whose " +
			"certificate is neither pinned nor trusted.\n\n" +
			"With `token_secret`, one token is tested, and failures are those of enrolling, with the member " +
			"`certificate` if it was read. With `paste` or `tokens`, each token has a row in `tokens`: an invalid " +
			"token, or an endpoint that cannot be reached, is a `reason` in its row and not an error. An empty " +
			"`tokens` checks only the certificate.\n\n" +
			"A one-time code is not used up: `one_time_code` shows its contents, and only the endpoint and its " +
			"certificate are checked. An API key needs the scope `hosts:write`, because the service connects to an " +
			"address.",
	})
	op.Post(a, "/api/v1/hosts/token-script", h.tokenScript, op.Spec{
		ID: "write_token_script", Summary: "Generate the script that creates tokens", Tag: tag, Role: identity.Admin, ReadOnly: true,
		Unsupported: true,
		Description: "Returns a shell script for an administrator of the hypervisor. It creates one user, and a role " +
			"and a token for each capability, and prints the tokens. Its output is the value of `paste` when you enrol " +
			"or probe a host or replace tokens. It can safely run twice. `undo` lists the commands that remove what it " +
			"created. A capability that the driver does not have is 501 `unsupported`.",
	})
	op.Put(a, "/api/v1/hosts/self", h.setSelf, op.Spec{
		ID: "set_self_host", Summary: "Set the host on which the service runs", Tag: tag, Role: identity.Admin,
		Audit:       op.Audit{Action: "host.set_self"},
		Description: "Set `host_id` to null, or omit it, if the service runs on none of the hosts.",
	})
	op.Get(a, "/api/v1/hosts/:host_id", h.get, op.Spec{
		ID: "get_host", Summary: "Get a host", Tag: tag, Role: identity.Viewer, On: op.Host,
		Description: "Returns the host as of its last poll, with its tokens by capability, without their secrets.",
	})
	op.Patch(a, "/api/v1/hosts/:host_id", h.patch, op.Spec{
		ID: "patch_host", Summary: "Change a host", Tag: tag, Calls: true, Role: identity.Admin, On: op.Host,
		Audit: op.Audit{Action: "host.update"},
		Description: "Verifies a new address or certificate first; nothing changes if that fails. `tls_fingerprint` " +
			"null unpins the certificate, or pins the presented one if `verify_tls` is off. A new address requires the " +
			"role owner unless it presents the pinned certificate, because the stored tokens are sent to it. A server " +
			"that is enrolled as another host is 409 `already_enrolled`, as for enrolling. Moving a host to another " +
			"team requires the role admin there, too.",
	})
	op.Delete(a, "/api/v1/hosts/:host_id", h.remove, op.Spec{
		ID: "remove_host", Summary: "Remove a host", Tag: tag, Role: identity.Owner, On: op.Host, Status: http.StatusOK,
		Audit:   op.Audit{Action: "host.remove"},
		Confirm: op.Confirm{When: op.ConfirmAlways, Field: "name"}, Plan: true,
		Description: "Deletes the host with its tokens, apps and cached guests; nothing changes on the hypervisor. " +
			"`confirm` must be the name of the host (409 `confirm_required`). Refused if the host has apps (409 " +
			"`host_has_apps`) unless `forget_apps` is given, and if it has unfinished jobs (409 `conflict`).",
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
	found, err := h.hosts.Get(ctx, op.ResourceOf(ctx).ID)
	return &op.Body[host.Host]{Body: found}, err
}

type capabilitiesInput struct {
	Driver string `query:"driver" maxLength:"63" example:"pve" doc:"Name of a driver from GET /hosts/drivers; pve if absent"`
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
	op.PlanParams
	Body *struct {
		Confirm    *string `json:"confirm,omitempty" nullable:"true" maxLength:"200" doc:"Name of the host"`
		ForgetApps bool    `json:"forget_apps,omitempty" doc:"Also remove its apps; their containers are kept"`
	}
}

// RemoveResult is the answer of remove.
type RemoveResult struct {
	Removed bool `json:"removed" example:"true"`
}

func (h handlers) remove(ctx context.Context, in *removeInput) (*op.Body[RemoveResult], error) {
	confirm, forget := "", false
	if in.Body != nil {
		forget = in.Body.ForgetApps
		if in.Body.Confirm != nil {
			confirm = *in.Body.Confirm
		}
	}
	err := h.hosts.Remove(ctx, op.ResourceOf(ctx).ID, confirm, forget)
	return &op.Body[RemoveResult]{Body: RemoveResult{Removed: true}}, err
}

type selfInput struct {
	Body struct {
		HostID *int64 `json:"host_id,omitempty" nullable:"true" minimum:"1" example:"1"`
	}
}

// Self names the host on which the service runs.
type Self struct {
	HostID *int64 `json:"host_id" example:"1" doc:"ID of the host; null for none"`
}

func (h handlers) setSelf(ctx context.Context, in *selfInput) (*op.Body[Self], error) {
	err := h.hosts.SetSelf(ctx, in.Body.HostID)
	return &op.Body[Self]{Body: Self{HostID: in.Body.HostID}}, err
}

// created rebuilds the answer of create for a repeated Idempotency-Key.
func (h handlers) created(ctx context.Context, made idempotency.Result) (any, error) {
	var v host.Verification
	if err := made.Decode(&v); err != nil {
		return nil, err
	}
	found, err := h.hosts.Get(ctx, made.Target())
	return CreateResult{found, v}, err
}
