package appscript_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pvessh"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// labHost is the hypervisor in memory, or the machine for a login. What is done with guests is done with the containers, too.
type labHost struct {
	*memdriver.Host
	f       *fixture
	machine *pvessh.Machine
}

func (c *labHost) CheckLogin(ctx context.Context) (hypervisor.NodeLogin, error) {
	return c.machine.CheckLogin(ctx)
}

func (c *labHost) RunOnNode(ctx context.Context, command hypervisor.NodeCommand, s hypervisor.NodeStreams) (hypervisor.NodeResult, error) {
	return overSSH(c.f, "on the node: "+command.Program+strings.Join(command.Arguments, " "), func() (hypervisor.NodeResult, error) {
		return c.machine.RunOnNode(ctx, command, s)
	})
}

func (c *labHost) RunInGuest(ctx context.Context, g hypervisor.GuestRef, command hypervisor.NodeCommand, s hypervisor.NodeStreams) (
	hypervisor.NodeResult, error) {
	return overSSH(c.f, "in a guest: "+command.Program+strings.Join(command.Arguments, " "), func() (hypervisor.NodeResult, error) {
		return c.machine.RunInContainer(ctx, string(g.ID), command, s)
	})
}

func (c *labHost) Sockets(ctx context.Context, g hypervisor.GuestRef) (hypervisor.SocketList, error) {
	return overSSH(c.f, "sockets", func() (hypervisor.SocketList, error) { return c.machine.Sockets(ctx, string(g.ID)) })
}

// overSSH does a step that needs the login, between what the fixture's ssh does before and after it.
func overSSH[T any](f *fixture, step string, do func() (T, error)) (T, error) {
	f.mu.Lock()
	ssh := f.ssh
	f.mu.Unlock()
	if ssh == nil {
		return do()
	}
	after := ssh(step)
	got, err := do()
	if lost := after(); lost != nil {
		return *new(T), lost
	}
	return got, err
}

// keeps are the files of a container that snapshots have.
const keeps = "root var/lib etc/os-release"

func (c *labHost) TakeSnapshot(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.SnapshotSpec) (string, error) {
	if err := c.f.asks(ctx, "snapshot", ref.ID); err != nil {
		return "", err
	}
	line := fmt.Sprintf("tar -C /var/roots/%s -cf /var/%s-%s.tar %s", ref.ID, ref.ID, spec.Name, keeps)
	if _, err := c.f.machine.Try(ctx, line); err != nil {
		return "", err
	}
	task, err := c.Host.TakeSnapshot(ctx, ref, spec)
	c.f.answers(ctx, "snapshot", ref.ID)
	return task, err
}

func (c *labHost) DeleteSnapshot(ctx context.Context, ref hypervisor.GuestRef, name string) (string, error) {
	if err := c.f.asks(ctx, "delete", ref.ID); err != nil {
		return "", err
	}
	return c.Host.DeleteSnapshot(ctx, ref, name)
}

func (c *labHost) RollBack(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.RollbackSpec) (string, error) {
	if err := c.f.asks(ctx, "roll-back", ref.ID); err != nil {
		return "", err
	}
	task, err := c.Host.RollBack(ctx, ref, spec)
	if err == nil {
		_, err = c.f.machine.Try(ctx, setBack(ref.ID, spec.Name))
		c.f.answers(ctx, "roll-back", ref.ID)
	}
	return task, err
}

func (c *labHost) RunBackup(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.BackupSpec) (string, error) {
	if err := c.f.asks(ctx, "backup", ref.ID); err != nil {
		return "", err
	}
	line := fmt.Sprintf("tar -C /var/roots/%s -cf /var/%s-backup.tar %s", ref.ID, ref.ID, keeps)
	if _, err := c.f.machine.Try(ctx, line); err != nil {
		return "", err
	}
	task, err := c.Host.RunBackup(ctx, ref, spec)
	c.f.answers(ctx, "backup", ref.ID)
	return task, err
}

func (c *labHost) Restore(ctx context.Context, spec hypervisor.RestoreSpec) (string, error) {
	if err := c.f.asks(ctx, "restore", spec.ID); err != nil {
		return "", err
	}
	task, err := c.Host.Restore(ctx, spec)
	if err == nil {
		_, err = c.f.machine.Try(ctx, setBack(spec.ID, "backup"))
		c.f.answers(ctx, "restore", spec.ID)
	}
	return task, err
}

// setBack is the command line that ends all that runs in a container, and gives it the files back that were kept under a name.
func setBack(id hypervisor.GuestID, name string) string {
	return fmt.Sprintf(`nsenter -t "$(cat /run/lxc/%[1]s)" -m -p -- sh -c 'kill -KILL -1' || true
		cd /var/roots/%[1]s && rm -rf root var/lib && tar -xf /var/%[1]s-%[2]s.tar`, id, name)
}

func (c *labHost) Act(ctx context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (string, error) {
	if err := c.f.asks(ctx, string(action), ref.ID); err != nil {
		return "", err
	}
	task, err := c.Host.Act(ctx, ref, action)
	if err == nil && action == hypervisor.Start {
		_, err = c.f.machine.Try(ctx, boot(ref.ID))
		c.f.answers(ctx, "start", ref.ID)
	}
	return task, err
}

// boot is the command line that starts a container, where it does not run, and its page.
func boot(id hypervisor.GuestID) string {
	return fmt.Sprintf(`[ "$(lxc-info -H -s -n %[1]s)" = RUNNING ] || { lxc-start -n %[1]s && sh -e /var/network-%[1]s; }
		lxc-attach -n %[1]s --clear-env -- sh /root/start`, id)
}
