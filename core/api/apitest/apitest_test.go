package apitest_test

//go:generate go test . -count=1 -run TestScenario -update

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

type volume struct {
	Name string            `json:"name" minLength:"1" maxLength:"40" example:"data"`
	Size int64             `json:"size_gb,omitempty" minimum:"1" maximum:"4096" default:"32"`
	Kind string            `json:"kind,omitempty" enum:"dir,zfs"`
	Tags []string          `json:"tags,omitempty" maxItems:"8"`
	Made time.Time         `json:"made,omitzero"`
	Rest op.Object         `json:"rest,omitempty"`
	Sub  []map[string]part `json:"sub,omitempty"`
}

type part struct {
	At   *int              `json:"at,omitempty"`
	Note op.Optional[bool] `json:"note,omitzero"`
}

// handler is an API of a few operations of every shape.
func handler(t testing.TB, extra ...func(*op.API)) http.Handler {
	t.Helper()
	router := route.New()
	a := op.New(op.Config{Router: router, Authenticator: apitest.Callers{}, Resolver: apitest.EmptyResolver{},
		Recorder: &apitest.MemoryRecorder{},
		Version:  "1"})
	spec := func(id string, role identity.Role, on op.On, action string) op.Spec {
		return op.Spec{ID: id, Summary: id, Tag: "Volumes", Role: role, On: on, Audit: op.Audit{Action: action}}
	}
	op.Get(a, "/api/v1/volumes", func(_ context.Context, in *struct {
		op.Page
		Kind  string    `query:"kind" enum:"dir,zfs"`
		Since time.Time `query:"since"`
		Tags  []string  `query:"tags"`
		Rate  float64   `query:"rate"`
		Deep  bool      `query:"deep"`
		Last  string    `header:"Last-Event-ID"`
	}) (*op.List[volume], error) {
		return &op.List[volume]{}, nil
	}, spec("list_volumes", identity.Viewer, op.Anywhere, ""))
	op.Post(a, "/api/v1/volumes", func(_ context.Context, in *struct{ Body volume }) (*op.Body[volume], error) {
		return &op.Body[volume]{Body: in.Body}, nil
	}, spec("create_volume", identity.Admin, op.Instance, "volume.create"))
	op.Delete(a, "/api/v1/volumes/:name/*volid", func(_ context.Context, in *struct {
		Name  string `path:"name"`
		Volid string `path:"volid"`
		Body  *struct {
			Confirm *string `json:"confirm,omitempty"`
		}
	}) (*op.Empty, error) {
		if in.Body == nil || in.Body.Confirm == nil {
			return nil, problem.Confirm(problem.CodeConfirmRequired, in.Name, "type the name")
		}
		return nil, nil
	}, spec("delete_content", identity.Owner, op.Instance, "volume.delete"))
	op.Post(a, "/api/v1/vms/:vm_id/:action", func(context.Context, *struct {
		VMID   int64  `path:"vm_id"`
		Action string `path:"action" enum:"start,stop"`
	}) (*op.Body[volume], error) {
		return nil, nil
	}, spec("act_on_vm", identity.Operator, op.VM, "vm.{action}"))
	op.Stream(a, "/api/v1/events/stream", func(ctx context.Context, _ *struct{}, s *op.EventStream) error {
		if err := s.Open(); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}, spec("stream_events", identity.Viewer, op.Anywhere, ""))
	op.Post(a, "/api/v1/setup", func(context.Context, *struct {
		Body struct {
			Token string `json:"token"`
		}
	}) (*op.Empty, error) {
		return nil, problem.New(problem.CodeAlreadySetUp, "there is an owner")
	}, op.Spec{ID: "set_up", Summary: "Set up", Tag: "Setup", Public: true})
	for _, declare := range extra {
		declare(a)
	}
	router.Handle("GET", "/api/openapi.json", func(w http.ResponseWriter, _ *http.Request, _ route.Params) { _, _ = w.Write(a.Document()) })
	return a
}

// both is the API in the process and behind a real server.
func both(t *testing.T, run func(t *testing.T, a *apitest.API)) {
	t.Helper()
	h := handler(t)
	t.Run("in process", func(t *testing.T) {
		t.Parallel()
		run(t, &apitest.API{Handler: h, LogIn: apitest.FakeLogIn})
	})
	t.Run("over HTTP", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		run(t, &apitest.API{URL: server.URL, Client: server.Client(), LogIn: apitest.FakeLogIn})
	})
}

func TestMatrix(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, a *apitest.API) { a.MatrixWith(t, apitest.MatrixConfig{}) })
}

func TestGarbage(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, a *apitest.API) {
		a.Garbage(t, apitest.GarbageConfig{Seed: 1, PerOperation: 150, Values: map[string]string{"vm_id": "7", "action": "start"}})
	})
}

func TestScenario(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, a *apitest.API) {
		a.Run(t,
			apitest.Scenario{Name: "anonymous", Method: "GET", URL: "/api/v1/volumes", Status: 401, Error: "unauthenticated"},
			apitest.Scenario{Name: "viewer", Method: "GET", URL: "/api/v1/volumes", As: apitest.Viewer, Status: 200, Contains: []string{"[]"},
				Lacks: []string{"null"}},
			apitest.Scenario{Name: "another team's admin", Method: "POST", URL: "/api/v1/volumes", As: apitest.In(2, identity.Admin), Body: "{}",
				Status: 403, Error: "forbidden"},
			apitest.Scenario{Name: "create", Method: "POST", URL: "/api/v1/volumes", As: apitest.Admin, Body: `{"name":"a"}`, Status: 200,
				Golden: filepath.Join("testdata", "create.json"),
				After: func(t *testing.T, answer *apitest.Response) {
					if answer.Header.Get("X-Request-ID") == "" {
						t.Error("no request id")
					}
				}},
			apitest.Scenario{Name: "own headers", Method: "POST", URL: "/api/v1/volumes", As: apitest.Admin, Body: `{"name":"a"}`,
				Headers: map[string]string{"Content-Type": "text/plain"}, Status: 415, Error: "unsupported_media_type"},
		)
	})
}

// TestSweepsFindFaults proves that the sweeps can fail, on operations with one fault each.
func TestSweepsFindFaults(t *testing.T) {
	t.Parallel()
	type queryIn struct {
		Q string `query:"q"`
	}
	get := func(id string, run func(q string) error) func(*op.API) {
		return func(a *op.API) {
			op.Get(a, "/api/v1/"+id, func(_ context.Context, in *queryIn) (*op.Empty, error) { return nil, run(in.Q) },
				op.Spec{ID: id, Summary: id, Tag: "Faulty", Role: identity.Viewer})
		}
	}
	a := &apitest.API{LogIn: apitest.FakeLogIn, Handler: handler(t,
		get("injection", func(q string) error {
			if strings.Contains(q, "'") {
				panic("a quote reached the database")
			}
			return nil
		}),
		get("echo", func(q string) error { return problem.InvalidField("not "+q, "enum", "query", "q") }),
		get("sound", func(string) error { return nil }),
	)}
	config := apitest.GarbageConfig{Seed: 1, PerOperation: 300}
	for _, id := range []string{"injection", "echo"} {
		if len(a.GarbageComplaints(t, id, config)) == 0 {
			t.Errorf("garbage found nothing wrong with %s", id)
		}
	}
	if complaints := a.GarbageComplaints(t, "sound", config); len(complaints) > 0 {
		t.Errorf("garbage complains about a sound operation: %v", complaints)
	}
}

// things has the VM 1 of the default team.
type things struct{ err error }

func (r things) Resolve(_ context.Context, _ op.On, id int64) (op.Resource, error) {
	switch {
	case id == 1:
		return op.Resource{Kind: "vm", ID: 1, Name: "web", TeamID: identity.DefaultTeam}, nil
	case r.err != nil:
		return op.Resource{}, r.err
	}
	return op.Resource{}, op.NotFound("vm")
}

// TestMatrixFindsFaults proves that the matrix can fail, on APIs with one fault each.
func TestMatrixFindsFaults(t *testing.T) {
	t.Parallel()
	as := func(c *apitest.Caller) func(*http.Request, string) {
		return func(r *http.Request, _ string) { apitest.FakeLogIn(r, c) }
	}
	stranger := apitest.Column{Name: "stranger", Elsewhere: identity.Viewer, LogIn: as(apitest.In(2, identity.Viewer))}
	viewer := apitest.Column{Name: "viewer", Role: identity.Viewer, LogIn: as(apitest.Viewer)}
	operator := apitest.Column{Name: "operator", Role: identity.Operator, LogIn: as(apitest.Operator)}
	scoped := apitest.Column{Name: "scoped", Role: identity.Operator, LogIn: as(apitest.Operator),
		Key: func(string) []string { return []string{"read"} }}
	off := apitest.Column{Name: "off", Role: identity.Viewer, LogIn: as(apitest.Viewer), Off: true}
	elsewhere := apitest.Column{Name: "stranger", Elsewhere: identity.Operator, LogIn: as(apitest.In(2, identity.Operator))}
	disguised := func(c apitest.Column) apitest.Column { // the service takes everybody for an owner
		c.LogIn = as(apitest.Owner)
		return c
	}
	spec := func(id string) op.Spec {
		return op.Spec{ID: id, Summary: id, Tag: "VMs", Role: identity.Viewer, On: op.VM, Entitlement: "vms"}
	}
	type one struct {
		ID int64 `path:"vm_id"`
	}
	build := func(resolver op.Resolver, on bool) *apitest.API {
		h := apitest.Resource(op.Config{
			Authenticator: apitest.Callers{}, Resolver: resolver, Recorder: &apitest.MemoryRecorder{},
			Entitlements: func(context.Context, string) bool { return on },
		}, func(a *op.API) {
			op.Get(a, "/api/v1/vms/:vm_id", func(context.Context, *one) (*op.Body[int], error) { return &op.Body[int]{Body: 1}, nil },
				spec("get_vm"))
			op.Get(a, "/api/v1/vms/:vm_id/hidden", func(context.Context, *one) (*op.Body[int], error) {
				return nil, problem.New(problem.CodeForbidden, "not by the handler either")
			}, spec("get_hidden"))
			write := spec("act_on_vm")
			write.Role, write.Entitlement = identity.Operator, ""
			op.Post(a, "/api/v1/vms/:vm_id/act", func(context.Context, *one) (*op.Empty, error) { return nil, nil }, write)
			write.ID = "open_console"
			op.Socket(a, "/api/v1/vms/:vm_id/ws", func(_ context.Context, _ *one, c *op.SocketConn) error {
				_, _, err := c.Read()
				return err
			}, write)
			write.ID, write.Content, write.Audit = "upload_disk", []string{"application/octet-stream"}, op.Audit{Action: "vm.upload"}
			op.Upload(a, "/api/v1/vms/:vm_id/disk", func(_ context.Context, _ *one, f *op.UploadBody) (*op.Empty, error) {
				_, err := io.Copy(io.Discard, f)
				return nil, err
			}, write)
		})
		return &apitest.API{Handler: h, LogIn: apitest.FakeLogIn}
	}
	for name, test := range map[string]struct {
		resolver  op.Resolver
		on        bool
		operation string
		column    apitest.Column
		sound     bool
	}{
		"sound for a stranger":             {things{}, true, "get_vm", stranger, true},
		"sound for a viewer":               {things{}, true, "get_vm", viewer, true},
		"sound for an operator":            {things{}, true, "act_on_vm", operator, true},
		"sound without the feature":        {things{}, false, "get_vm", off, true},
		"sound for a viewer who may not":   {things{}, true, "act_on_vm", viewer, true},
		"a missing thing has another text": {things{problem.New(problem.CodeInvalidState, "gone long ago")}, true, "get_vm", stranger, false},
		"a stranger may read": {things{}, true, "get_vm",
			apitest.Column{Name: "stranger", Elsewhere: identity.Viewer, LogIn: as(apitest.Viewer)}, false},
		"the handler refuses":          {things{}, true, "get_hidden", viewer, false},
		"the scope is not looked at":   {things{}, true, "act_on_vm", scoped, false},
		"the feature is not looked at": {things{}, true, "get_vm", off, false},
		"the feature is off for all":   {things{}, false, "get_vm", viewer, false},
		"every role is let in": {things{}, true, "act_on_vm",
			apitest.Column{Name: "viewer", Role: identity.Viewer, LogIn: as(apitest.Owner)}, false},
		"nobody is let in": {things{}, true, "act_on_vm", apitest.Column{Name: "nobody", Unknown: true, LogIn: as(apitest.Owner)}, false},
		"an operator is refused": {things{}, true, "act_on_vm",
			apitest.Column{Name: "operator", Role: identity.Operator, LogIn: as(apitest.Viewer)}, false},
		"a socket is sound for an operator":          {things{}, true, "open_console", operator, true},
		"a socket is sound for a viewer who may not": {things{}, true, "open_console", viewer, true},
		"a socket is sound for a stranger":           {things{}, true, "open_console", elsewhere, true},
		"a viewer opens a socket":                    {things{}, true, "open_console", disguised(viewer), false},
		"a stranger opens a socket":                  {things{}, true, "open_console", disguised(elsewhere), false},
		"nobody opens a socket":                      {things{}, true, "open_console", disguised(apitest.Column{Unknown: true}), false},
		"an operator's socket is refused": {things{}, true, "open_console",
			apitest.Column{Name: "operator", Role: identity.Operator, LogIn: as(apitest.Viewer)}, false},
		"an upload is sound for an operator":          {things{}, true, "upload_disk", operator, true},
		"an upload is sound for a viewer who may not": {things{}, true, "upload_disk", viewer, true},
		"an upload is sound for a stranger":           {things{}, true, "upload_disk", elsewhere, true},
		"a viewer uploads":                            {things{}, true, "upload_disk", disguised(viewer), false},
		"a stranger uploads":                          {things{}, true, "upload_disk", disguised(elsewhere), false},
		"nobody uploads":                              {things{}, true, "upload_disk", disguised(apitest.Column{Unknown: true}), false},
	} {
		config := apitest.MatrixConfig{Columns: []apitest.Column{test.column}, Values: map[string]string{"vm_id": "1"}}
		complaints := build(test.resolver, test.on).MatrixComplaints(t, test.operation, config)
		if (len(complaints) == 0) != test.sound {
			t.Errorf("%s: %q", name, complaints)
		}
	}
}
