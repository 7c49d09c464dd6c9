package lxdapi_test

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
)

// replayed is a call of the client that sends the request of a recording.
type replayed func(ctx context.Context, client *lxdapi.Client) (any, error)

// callOf gives the client's call for a recorded request, nil where it has none. An error counts whatever the parameters were;
// an answer only for the parameters that the client sends.
func callOf(t *testing.T, e lxdtest.Exchange) replayed {
	t.Helper()
	asked, err := url.Parse(e.Request.URL)
	if err != nil {
		t.Fatal(err)
	}
	path, query := e.Path, asked.Query()
	if asked.Path != "" {
		path = asked.Path
	}
	scope := lxdapi.Scope{Project: query.Get("project"), All: query.Get("all-projects") != ""}
	segments := strings.Split(strings.TrimPrefix(path, "/1.0/"), "/")
	good := e.Status < 300
	if strings.HasSuffix(path, "/wait") && strings.Contains(string(e.Response), `"status_code": 103`) {
		return nil // Wait would ask on and on
	}
	if good && query.Get("filter")+query.Get("instance-type") != "" {
		return nil
	}
	switch e.Method {
	case "GET":
		call, recursion := read(path, segments, scope, query)
		if good && query.Get("recursion") != recursion {
			return nil
		}
		return call
	case "PUT", "POST", "DELETE":
		return write(t, e, segments, scope.Project)
	}
	return nil
}

// read gives the call for a path, and the recursion that it asks for.
func read(path string, segments []string, scope lxdapi.Scope, query url.Values) (call replayed, recursion string) {
	type ctx = context.Context
	member := query.Get("target")
	if path == "/1.0" {
		return func(ctx ctx, c *lxdapi.Client) (any, error) { v, _, err := c.Server(ctx); return v, err }, ""
	}
	switch segments[0] {
	case "certificates":
		if len(segments) == 2 {
			return func(ctx ctx, c *lxdapi.Client) (any, error) { return c.OwnCertificate(ctx) }, ""
		}
	case "cluster":
		if len(segments) == 2 && segments[1] == "members" {
			return func(ctx ctx, c *lxdapi.Client) (any, error) { return c.ClusterMembers(ctx) }, "1"
		}
	case "metrics":
		return func(ctx ctx, c *lxdapi.Client) (any, error) { return c.Metrics(ctx, scope.Project) }, ""
	case "projects":
		if len(segments) == 1 {
			return func(ctx ctx, c *lxdapi.Client) (any, error) { return c.Projects(ctx) }, "1"
		}
	case "resources":
		return func(ctx ctx, c *lxdapi.Client) (any, error) { return c.Resources(ctx, member) }, ""
	case "storage-pools":
		switch {
		case len(segments) == 1:
			return func(ctx ctx, c *lxdapi.Client) (any, error) { return c.StoragePools(ctx) }, "1"
		case len(segments) == 3 && segments[2] == "resources":
			return func(ctx ctx, c *lxdapi.Client) (any, error) { return c.StorageResources(ctx, segments[1], member) }, ""
		}
	case "instances":
		return readInstance(segments, scope)
	case "operations":
		switch {
		case len(segments) == 1:
			return func(ctx ctx, c *lxdapi.Client) (any, error) {
				all, _, err := c.Operations(ctx, scope)
				return all, err
			}, "1"
		case len(segments) == 2:
			return func(ctx ctx, c *lxdapi.Client) (any, error) { return c.Operation(ctx, segments[1]) }, ""
		case segments[2] == "wait":
			return func(ctx ctx, c *lxdapi.Client) (any, error) { return c.Wait(ctx, segments[1]) }, ""
		}
	}
	return nil, ""
}

func readInstance(segments []string, scope lxdapi.Scope) (call replayed, recursion string) {
	switch {
	case len(segments) == 1:
		return func(ctx context.Context, c *lxdapi.Client) (any, error) {
			v, _, err := c.Instances(ctx, scope)
			return v, err
		}, "1"
	case len(segments) == 2:
		ref := lxdapi.InstanceRef{Project: scope.Project, Name: segments[1]}
		return func(ctx context.Context, c *lxdapi.Client) (any, error) {
			v, _, err := c.Instance(ctx, ref)
			return v, err
		}, "1"
	case len(segments) == 3 && segments[2] == "snapshots":
		ref := lxdapi.InstanceRef{Project: scope.Project, Name: segments[1]}
		return func(ctx context.Context, c *lxdapi.Client) (any, error) { return c.Snapshots(ctx, ref) }, "1"
	}
	return nil, ""
}

// write gives the call that sends the recorded body; nil where the client would send another.
func write(t *testing.T, e lxdtest.Exchange, segments []string, project string) replayed {
	t.Helper()
	var body map[string]any
	_ = json.Unmarshal(e.Request.Body, &body) // one that is none is not sent by the client either
	text := func(key string) string { s, _ := body[key].(string); return s }
	ref := lxdapi.InstanceRef{Project: project}
	if len(segments) > 1 {
		ref.Name = segments[1]
	}
	route := e.Method + " " + segments[0]
	if len(segments) > 2 {
		route += "/" + segments[2]
	}
	switch route {
	case "PUT instances/state":
		if body["stateful"] != nil {
			return nil
		}
		force, _ := body["force"].(bool)
		seconds, _ := body["timeout"].(float64)
		options := lxdapi.ActOptions{Force: force, Timeout: time.Duration(seconds) * time.Second}
		return func(ctx context.Context, c *lxdapi.Client) (any, error) {
			return c.Act(ctx, ref, lxdapi.Action(text("action")), options)
		}
	case "POST instances/snapshots":
		if len(segments) != 3 || text("name") == "" {
			return nil
		}
		var spec lxdapi.SnapshotSpec
		spec.Name = text("name")
		spec.Stateful, _ = body["stateful"].(bool)
		spec.Expires, _ = time.Parse(time.RFC3339, text("expires_at"))
		return func(ctx context.Context, c *lxdapi.Client) (any, error) { return c.CreateSnapshot(ctx, ref, spec) }
	case "DELETE instances/snapshots":
		return func(ctx context.Context, c *lxdapi.Client) (any, error) {
			return c.DeleteSnapshot(ctx, ref, segments[3])
		}
	case "PUT instances":
		if ref.Name == "" || text("restore") == "" && e.Status != 412 {
			return nil
		}
		snapshot := cmp.Or(text("restore"), "s1")
		return func(ctx context.Context, c *lxdapi.Client) (any, error) {
			return c.RestoreSnapshot(ctx, ref, snapshot, false, e.Request.Headers["If-Match"])
		}
	case "DELETE operations":
		return func(ctx context.Context, c *lxdapi.Client) (any, error) { return nil, c.Cancel(ctx, segments[1]) }
	case "POST certificates":
		if text("password")+text("trust_token") == "" {
			return nil
		}
		return func(ctx context.Context, c *lxdapi.Client) (any, error) {
			parsed, err := lxdapi.ParseJoinToken(token(func(m map[string]any) { m["client_name"] = text("name") }))
			if err != nil {
				return nil, err
			}
			return nil, c.Join(ctx, parsed)
		}
	}
	return nil
}
