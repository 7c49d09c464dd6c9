package lxd_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/lxd"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// fixture is a project of a real server, seen through the driver.
type fixture struct {
	*lxdtest.Server
	project, node string
	driver        *lxd.Driver
	made          atomic.Int32

	mu      sync.Mutex
	targets map[endpoint.Capability]endpoint.Target
}

func newFixture(t testing.TB, server *lxdtest.Server, project string) *fixture {
	t.Helper()
	if project != "default" {
		server.Project(t, project)
	}
	return &fixture{Server: server, project: project, node: server.Name(t), driver: newDriver(t, patience),
		targets: map[endpoint.Capability]endpoint.Target{}}
}

// target gives the certificate of a capability, which is restricted to the project.
func (f *fixture) target(t testing.TB, capability endpoint.Capability) endpoint.Target {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, there := f.targets[capability]; !there {
		f.targets[capability] = with(f.Trusted(t, f.project), capability)
	}
	return f.targets[capability]
}

// with is a target for another capability.
func with(target endpoint.Target, capability endpoint.Capability) endpoint.Target {
	target.Credential.Capability = capability
	return target
}

// host opens a host with the certificate of a capability.
func (f *fixture) host(t testing.TB, capability endpoint.Capability) *lxd.Host {
	t.Helper()
	return open(t, f.driver, f.target(t, capability))
}

// path is the path of an instance for the administrator.
func (f *fixture) path(name, below string) string {
	return "/1.0/instances/" + url.PathEscape(name) + below + "?project=" + url.QueryEscape(f.project)
}

// container makes a container in one of the states running and stopped, which is gone with the test.
func (f *fixture) container(t testing.TB, status, image string) hypervisor.GuestRef {
	t.Helper()
	at := f.Container(t, f.project, fmt.Sprintf("c%d", f.made.Add(1)), image)
	ref := f.ref(t, at.Name)
	t.Cleanup(func() { f.remove(t, ref) })
	if status == hypervisor.GuestRunning {
		f.state(t, at.Name, map[string]any{"action": "start"})
		f.Listening(t, at)
	}
	return ref
}

// state changes a container's state as the administrator.
func (f *fixture) state(t testing.TB, name string, change map[string]any) {
	t.Helper()
	if err := f.Do(t.Context(), http.MethodPut, f.path(name, "/state"), change, nil); err != nil {
		t.Fatal(err)
	}
}

// all changes the state of all containers of the project at once as the administrator.
func (f *fixture) all(t testing.TB, state map[string]any) {
	t.Helper()
	path := "/1.0/instances?project=" + url.QueryEscape(f.project)
	if err := f.Do(t.Context(), http.MethodPut, path, map[string]any{"state": state}, nil); err != nil {
		t.Fatal(err)
	}
}

// stop stops a container at once as the administrator.
func (f *fixture) stop(t testing.TB, ref hypervisor.GuestRef) {
	t.Helper()
	at, err := lxd.InstanceRef(ref.ID)
	must(t, "reading an id", err)
	f.state(t, at.Name, map[string]any{"action": "stop", "force": true})
}

// ref is how the driver names a container.
func (f *fixture) ref(t testing.TB, name string) hypervisor.GuestRef {
	t.Helper()
	var is struct {
		Config map[string]string `json:"config"`
	}
	if err := f.Do(t.Context(), http.MethodGet, f.path(name, ""), nil, &is); err != nil {
		t.Fatal(err)
	}
	id := hypervisor.GuestID(name)
	if f.project != "default" {
		id = hypervisor.GuestID(f.project + "/" + name)
	}
	return hypervisor.GuestRef{Kind: hypervisor.Container, Node: f.node, ID: id, UID: is.Config["volatile.uuid"]}
}

// remove deletes a container whatever it does and is called by now.
func (f *fixture) remove(t testing.TB, ref hypervisor.GuestRef) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, at := range f.list(ctx, t) {
		if at.uid == ref.UID {
			waittest.Succeeds(t, "the container can be removed", func() error {
				_ = f.Do(ctx, http.MethodPut, f.path(at.name, "/state"), map[string]any{"action": "stop", "force": true}, nil)
				err := f.Do(ctx, http.MethodDelete, f.path(at.name, ""), nil, nil)
				if err != nil && ctx.Err() == nil && (strings.Contains(err.Error(), "busy") || strings.Contains(err.Error(), "running")) {
					return err // an operation goes on
				}
				if err != nil {
					t.Error("removing a container:", err)
				}
				return nil
			})
		}
	}
}

type instance struct{ name, uid string }

// list are the project's containers.
func (f *fixture) list(ctx context.Context, t testing.TB) (all []instance) {
	t.Helper()
	var rows []struct {
		Name   string            `json:"name"`
		Config map[string]string `json:"config"`
	}
	if err := f.Do(ctx, http.MethodGet, "/1.0/instances?recursion=1&project="+url.QueryEscape(f.project), nil, &rows); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		all = append(all, instance{r.Name, r.Config["volatile.uuid"]})
	}
	return all
}

// rename gives a container another name.
func (f *fixture) rename(t testing.TB, ref hypervisor.GuestRef) hypervisor.GuestRef {
	t.Helper()
	at, err := lxd.InstanceRef(ref.ID)
	must(t, "reading an id", err)
	name := fmt.Sprintf("r%d", f.made.Add(1))
	if err := f.Do(t.Context(), http.MethodPost, f.path(at.Name, ""), map[string]string{"name": name}, nil); err != nil {
		t.Fatal(err)
	}
	return f.ref(t, name)
}

// code makes a join token for the project. One that is valid for a negative time is over.
func (f *fixture) code(t testing.TB, capability endpoint.Capability, valid time.Duration) plugin.Secret {
	t.Helper()
	code, id := f.tokenOperation(t, "hostler-"+string(capability))
	if valid > 0 {
		return code
	}
	if err := f.Do(t.Context(), http.MethodDelete, "/1.0/operations/"+id, nil, nil); err != nil {
		t.Fatal(err)
	}
	text, err := base64.StdEncoding.DecodeString(string(code))
	must(t, "reading a token", err)
	var token map[string]any
	must(t, "reading a token", json.Unmarshal(text, &token))
	token["expires_at"] = time.Now().Add(valid)
	text, err = json.Marshal(token)
	must(t, "writing a token", err)
	return plugin.Secret(base64.StdEncoding.EncodeToString(text))
}

// tokenOperation makes a join token and gives the operation that it is, too.
func (f *fixture) tokenOperation(t testing.TB, name string) (code plugin.Secret, id string) {
	t.Helper()
	code = f.JoinToken(t, name, f.project)
	text, err := base64.StdEncoding.DecodeString(string(code))
	must(t, "reading a token", err)
	var token struct{ Secret string }
	must(t, "reading a token", json.Unmarshal(text, &token))
	var byState map[string][]struct {
		ID       string
		Metadata struct{ Secret string }
	}
	if err := f.Do(t.Context(), http.MethodGet, "/1.0/operations?recursion=1", nil, &byState); err != nil {
		t.Fatal(err)
	}
	for _, op := range byState["running"] {
		if op.Metadata.Secret == token.Secret {
			return code, op.ID
		}
	}
	t.Fatal("the token's operation is not listed")
	return "", ""
}

// act does an action and waits for its end.
func (f *fixture) act(t testing.TB, ref hypervisor.GuestRef, action hypervisor.Action) hypervisor.TaskResult {
	t.Helper()
	host := f.host(t, endpoint.Lifecycle)
	id, err := host.Act(t.Context(), ref, action)
	must(t, string(action), err)
	return f.wait(t, host, id)
}

func (f *fixture) wait(t testing.TB, host *lxd.Host, id string) hypervisor.TaskResult {
	t.Helper()
	result, err := host.WaitTask(t.Context(), id, 0, func(hypervisor.LogLine) error { return nil })
	must(t, "waiting", err)
	return result
}

// guest reads a guest.
func (f *fixture) guest(t testing.TB, ref hypervisor.GuestRef) hypervisor.Guest {
	t.Helper()
	guest, err := f.host(t, endpoint.Monitoring).Guest(t.Context(), ref)
	must(t, "reading the guest", err)
	return guest
}
