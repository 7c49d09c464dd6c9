package hypervisor

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
	"google.golang.org/grpc"
)

// Client is a driver that runs in a plugin process. Its hosts satisfy every optional interface in Go, so a type
// assertion proves nothing: ask AsLifecycler and its kin, which know what the plugin claims. A call to a plugin that is
// not there fails with plugin.ErrGone in it.
type Client struct {
	conn grpc.ClientConnInterface
	base hypervisorv1.HypervisorServiceClient
	info atomic.Pointer[Info]
}

var (
	_ Driver       = (*Client)(nil)
	_ RoleScripter = (*Client)(nil)
)

// NewClient makes a driver of a connection. Until its Info is known it is taken to have every ability; a call that the
// plugin does not answer is then Unsupported.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{conn: conn, base: hypervisorv1.NewHypervisorServiceClient(conn)}
}

// SetInfo records what the plugin said of itself, and replaces what was known before.
func (c *Client) SetInfo(info Info) { c.info.Store(&info) }

// Info asks the plugin, and remembers the answer's abilities.
func (c *Client) Info(ctx context.Context) (Info, error) {
	answer, err := c.base.Info(ctx, &hypervisorv1.InfoRequest{})
	if err != nil {
		return Info{}, plugin.CallError(ctx, err)
	}
	info := infoFromProto(answer)
	c.SetInfo(info)
	return info, nil
}

// Open gives a host for the target. It asks the plugin for its Info when that is not known yet, and nothing otherwise.
func (c *Client) Open(ctx context.Context, target endpoint.Target) (Host, error) {
	if c.info.Load() == nil {
		if _, err := c.Info(ctx); err != nil {
			return nil, err
		}
	}
	return &remoteHost{client: c, target: endpoint.TargetToProto(target)}, nil
}

// RoleScript implements RoleScripter.
func (c *Client) RoleScript(ctx context.Context, query RoleScriptQuery) (string, error) {
	req := &hypervisorv1.RoleScriptRequest{Path: wire.Text(query.Path), NodeShell: query.NodeShell}
	for _, capability := range query.Capabilities {
		req.Capabilities = append(req.Capabilities, wire.Text(string(capability)))
	}
	answer, err := hypervisorv1.NewRoleScriptServiceClient(c.conn).RoleScript(ctx, req)
	if err != nil {
		return "", plugin.CallError(ctx, err)
	}
	return answer.GetScript(), nil
}

// RoleRemoval implements RoleScripter.
func (c *Client) RoleRemoval(ctx context.Context, capability endpoint.Capability) ([]string, error) {
	req := &hypervisorv1.RoleRemovalRequest{Capability: wire.Text(string(capability))}
	answer, err := hypervisorv1.NewRoleScriptServiceClient(c.conn).RoleRemoval(ctx, req)
	if err != nil {
		return nil, plugin.CallError(ctx, err)
	}
	return answer.GetCommands(), nil
}

// can reports whether the plugin claims an ability.
func (c *Client) can(a Ability) bool {
	info := c.info.Load()
	return info == nil || slices.Contains(info.Abilities, a)
}

// errNoResult is a stream of WaitTask that ended well without telling how the task ended.
func errNoResult(taskID string) error {
	return plugin.Errorf(plugin.Internal, "the plugin ended the wait for task %s without a result", taskID)
}

// errBadAnswer is an answer that lacks what it must have.
func errBadAnswer(what string) error {
	return fmt.Errorf("the plugin's answer has no %s", what)
}
