package guest_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

var (
	_ guest.Machines = (*machines)(nil)
	_ guest.Machines = (*halting)(nil)
)

// machines are those of a fixture's hosts: each has one for all of its nodes.
type machines struct {
	b *lifecycleFixture
	// refused are hosts that may not be logged in to.
	refused map[int64]error
	// wrap changes what is logged in to.
	wrap func(id int64, at hypervisor.NodeExecutor) hypervisor.NodeExecutor
}

func (m *machines) Machine(_ context.Context, hostID int64, _ string) (int64, error) {
	return hostID, m.refused[hostID]
}

func (m *machines) OnMachine(ctx context.Context, id int64, limit time.Duration,
	work func(context.Context, hypervisor.NodeExecutor) error) error {
	if err := m.refused[id]; err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	at, err := m.b.driver.Open(ctx, m.b.clusters()[id].NodeLogin())
	if err != nil {
		return err
	}
	node := at.(hypervisor.NodeExecutor)
	if m.wrap != nil {
		node = m.wrap(id, node)
	}
	return work(ctx, node)
}

// machineLogin is the place of the login among the targets of a process of a test.
const machineLogin endpoint.Capability = "login"

func (h *halting) Machine(_ context.Context, hostID int64, _ string) (int64, error) {
	return hostID, nil
}

func (h *halting) OnMachine(ctx context.Context, id int64, _ time.Duration,
	work func(context.Context, hypervisor.NodeExecutor) error) error {
	plain := h.targets[id][machineLogin]
	target := plain.Target
	target.Credential.Secret = sdk.Secret(plain.Secret)
	at, err := h.driver.Open(ctx, target)
	if err != nil {
		return err
	}
	return work(ctx, &haltingMachine{at.(hypervisor.NodeExecutor), h})
}

// haltingMachine is a machine at whose copies the process of a test may stand still.
type haltingMachine struct {
	hypervisor.NodeExecutor
	at *halting
}

func (m *haltingMachine) CopyToNode(ctx context.Context, file hypervisor.NodeFile, content io.Reader) (string, error) {
	return m.at.do("copy", func() (string, error) { return m.NodeExecutor.CopyToNode(ctx, file, content) })
}

// BackupFile implements hypervisor.BackupFileLocator.
func (h *haltingHost) BackupFile(ctx context.Context, query hypervisor.BackupQuery, backup hypervisor.Backup) (
	hypervisor.BackupFile, error) {
	return h.Host.(hypervisor.BackupFileLocator).BackupFile(ctx, query, backup)
}

// copying changes what a machine gives when a file is copied from it: the try, and the writer that gets it.
type copying struct {
	hypervisor.NodeExecutor
	from func(ctx context.Context, content io.Writer) (io.Writer, error)
}

func (c copying) CopyFromNode(ctx context.Context, path string, limit int64, content io.Writer) (hypervisor.NodeFile, error) {
	to, err := c.from(ctx, content)
	if err != nil {
		return hypervisor.NodeFile{}, err
	}
	return c.NodeExecutor.CopyFromNode(ctx, path, limit, to)
}

// copies has the source's machine give files in another way.
func (b *lifecycleFixture) copies(t *testing.T, from func(ctx context.Context, content io.Writer) (io.Writer, error)) {
	t.Helper()
	b.machines.wrap = func(id int64, at hypervisor.NodeExecutor) hypervisor.NodeExecutor {
		if id != b.hostID {
			return at
		}
		return copying{at, from}
	}
}

// noConsent is the problem of a host that may not be logged in to.
func noConsent() error {
	return problem.New(problem.CodeConsentRequired, "nobody has consented")
}
