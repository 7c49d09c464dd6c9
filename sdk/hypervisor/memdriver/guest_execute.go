package memdriver

import (
	"cmp"
	"context"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// SetSockets sets where a container listens. It reports whether the container
// exists.
func (c *Cluster) SetSockets(id hypervisor.GuestID, sockets ...hypervisor.Socket) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, ok := c.guests[id]
	if ok {
		g.sockets = slices.Clone(sockets)
	}
	return ok
}

// inside begins every call into a container. The machine has the containers of
// all nodes.
func (h *Host) inside(ctx context.Context, method string, ref hypervisor.GuestRef) (*Cluster, *guest, error) {
	if err := hypervisor.CheckContainer(ref); err != nil {
		return nil, nil, err
	}
	c, err := h.enter(ctx, method, false)
	if err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	g, err := c.find(ref)
	switch {
	case err != nil:
		return nil, nil, err
	case g.Status != hypervisor.GuestRunning:
		return nil, nil, plugin.Errorf(plugin.Conflict, "the container does not run")
	}
	if g.files == nil {
		g.files = map[string]nodeFile{}
	}
	return c, g, nil
}

// RunInGuest implements hypervisor.GuestExecutor. A container has the programs of the machine.
func (h *Host) RunInGuest(ctx context.Context, ref hypervisor.GuestRef, command hypervisor.NodeCommand, streams hypervisor.NodeStreams) (
	hypervisor.NodeResult, error) {
	if err := command.Check(); err != nil {
		return hypervisor.NodeResult{}, err
	}
	c, g, err := h.inside(ctx, "runinguest", ref)
	if err != nil {
		return hypervisor.NodeResult{}, err
	}
	if command.Directory != "" && !slices.Contains(folders, command.Directory) {
		return hypervisor.NodeResult{}, plugin.Errorf(plugin.NotFound, "the directory to run in is not there")
	}
	c.mu.Lock()
	program := c.loginMachine().Programs[command.Program]
	if command.Program == "rm" {
		program = c.remove(g.files)
	}
	c.mu.Unlock()
	if program == nil {
		program = programs[path.Base(command.Program)]
	}
	return h.runProgram(ctx, c, "runinguest", program, command, streams)
}

// CopyToGuest implements hypervisor.GuestExecutor. A container has the folders of the machine.
func (h *Host) CopyToGuest(ctx context.Context, ref hypervisor.GuestRef, file hypervisor.NodeFile, content io.Reader) (string, error) {
	if err := file.Check(); err != nil {
		return "", err
	}
	c, g, err := h.inside(ctx, "copytoguest", ref)
	if err != nil {
		return "", err
	}
	return h.storeFile(ctx, c, "copytoguest", g.files, file, content)
}

// CopyFromGuest implements hypervisor.GuestExecutor.
func (h *Host) CopyFromGuest(ctx context.Context, ref hypervisor.GuestRef, name string, limit int64, content io.Writer) (
	hypervisor.NodeFile, error) {
	if err := hypervisor.CheckNodePath(name); err != nil {
		return hypervisor.NodeFile{}, err
	}
	c, g, err := h.inside(ctx, "copyfromguest", ref)
	if err != nil {
		return hypervisor.NodeFile{}, err
	}
	return h.giveFile(ctx, c, "copyfromguest", g.files, name, limit, content)
}

// Sockets implements hypervisor.SocketLister.
func (h *Host) Sockets(ctx context.Context, ref hypervisor.GuestRef) (hypervisor.SocketList, error) {
	c, g, err := h.inside(ctx, "sockets", ref)
	if err != nil {
		return hypervisor.SocketList{}, err
	}
	c.mu.Lock()
	sockets := slices.Clone(g.sockets)
	c.mu.Unlock()
	slices.SortFunc(sockets, func(a, b hypervisor.Socket) int {
		return cmp.Or(strings.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Port, b.Port), strings.Compare(a.Address, b.Address))
	})
	list := hypervisor.SocketList{Sockets: sockets[:min(len(sockets), hypervisor.MaxSockets)], More: len(sockets) > hypervisor.MaxSockets}
	return list, h.late(ctx, c, "sockets")
}
