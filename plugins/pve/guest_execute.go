package pve

import (
	"context"
	"io"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// containerID returns the number of a container. It becomes an argument of a
// command on the node, so that only digits are accepted.
func containerID(guest hypervisor.GuestRef) (string, error) {
	if err := hypervisor.CheckContainer(guest); err != nil {
		return "", err
	}
	id := string(guest.ID)
	if len(id) > 9 || id[0] == '0' || strings.Trim(id, "0123456789") != "" {
		return "", plugin.Errorf(plugin.NotFound, "the guest does not exist")
	}
	return id, nil
}

// RunInGuest implements hypervisor.GuestExecutor. It does not use the API; it
// logs in to the node at the address by SSH.
func (h *Host) RunInGuest(ctx context.Context, guest hypervisor.GuestRef, command hypervisor.NodeCommand, streams hypervisor.NodeStreams) (
	hypervisor.NodeResult, error) {
	id, err := containerID(guest)
	if err != nil {
		return hypervisor.NodeResult{}, err
	}
	return h.machine.RunInContainer(ctx, id, command, streams)
}

// CopyToGuest implements hypervisor.GuestExecutor.
func (h *Host) CopyToGuest(ctx context.Context, guest hypervisor.GuestRef, file hypervisor.NodeFile, content io.Reader) (string, error) {
	id, err := containerID(guest)
	if err != nil {
		return "", err
	}
	return h.machine.CopyToContainer(ctx, id, file, content)
}

// CopyFromGuest implements hypervisor.GuestExecutor.
func (h *Host) CopyFromGuest(ctx context.Context, guest hypervisor.GuestRef, path string, limit int64, content io.Writer) (
	hypervisor.NodeFile, error) {
	id, err := containerID(guest)
	if err != nil {
		return hypervisor.NodeFile{}, err
	}
	return h.machine.CopyFromContainer(ctx, id, path, limit, content)
}

// Sockets implements hypervisor.SocketLister.
func (h *Host) Sockets(ctx context.Context, guest hypervisor.GuestRef) (hypervisor.SocketList, error) {
	id, err := containerID(guest)
	if err != nil {
		return hypervisor.SocketList{}, err
	}
	return h.machine.Sockets(ctx, id)
}
