package pvesim

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Capabilities are the keys of [Cluster.Tokens], in the product's order.
var Capabilities = []string{"monitoring", "lifecycle", "console", "backup", "node_power"}

// ServiceUser owns the tokens of [Cluster.Tokens].
const ServiceUser = "service@pve"

// capabilityRoles are the roles that the product's token script makes, one per capability.
var capabilityRoles = map[string]struct {
	role  string
	privs []string
}{
	"monitoring": {"ServiceAudit", []string{"VM.Audit", "Datastore.Audit", "Sys.Audit", "Pool.Audit", "SDN.Audit"}},
	"lifecycle": {"ServiceLifecycle", []string{
		"VM.PowerMgmt", "VM.Config.Disk", "VM.Config.CPU", "VM.Config.Memory", "VM.Config.Network", "VM.Config.Options",
		"VM.Allocate", "VM.Clone", "VM.Snapshot", "VM.Snapshot.Rollback", "VM.Migrate", "Sys.Modify", "Datastore.Allocate",
		"Datastore.AllocateSpace",
	}},
	"console":    {"ServiceConsole", []string{"VM.Console"}},
	"backup":     {"ServiceBackup", []string{"VM.Backup", "Datastore.AllocateSpace", "Datastore.Audit"}},
	"node_power": {"ServiceNodePower", []string{"Sys.PowerMgmt"}},
}

// recommended are what today's releases want in addition.
var recommended = map[string][]string{
	"monitoring": {"VM.GuestAgent.Audit", "Sys.Syslog"},
	"lifecycle": {
		"SDN.Use", "VM.Config.HWType", "VM.Config.CDROM", "Datastore.AllocateTemplate", "Sys.AccessNetwork",
		"VM.Audit", "Sys.Audit",
	},
	"backup": {"SDN.Use", "VM.Allocate", "VM.Config.Options", "VM.Config.Network"},
}

// guestNames are the beginnings of the names of generated guests.
var guestNames = []string{
	"web", "mail", "db", "cache", "git", "wiki", "proxy", "dns", "backup", "media", "monitor", "build", "files", "chat", "vpn", "queue",
}

// build creates the scenario: nodes, storages, accounts, guests, snapshots and
// firewalls, in this order. The random numbers come from the seed of the
// options, so the same options always give the same cluster. With Bare it stops
// after the accounts.
func (c *Cluster) build() error {
	for i := range c.opts.Nodes {
		if _, err := c.addNode(i); err != nil {
			return err
		}
	}
	c.addStorage(StorageSpec{ID: "local", Content: "backup,iso,vztmpl", Size: 90 * gibibyte})
	if c.opts.BackupFolder != "" {
		local := c.storageByID("local")
		local.config["path"] = c.opts.BackupFolder
		local.backups.folder, local.backups.node = filepath.Join(c.opts.BackupFolder, "dump"), c.nodes[0].name
		if err := os.MkdirAll(local.backups.folder, 0o700); err != nil {
			return err
		}
	}
	c.addStorage(StorageSpec{ID: "local-lvm", Plugin: "lvmthin", Content: "images,rootdir", Size: 800 * gibibyte})
	c.storageByID("local").images = []storageImage{
		{content: "iso", name: "debian-13.1.0-amd64-netinst.iso", size: 790 * mebibyte, ctime: c.clock.now().Unix() - 86400},
	}
	if len(c.nodes) > 1 {
		c.addStorage(StorageSpec{ID: "nas", Plugin: "nfs", Shared: true, Size: 8192 * gibibyte})
	}
	for _, s := range c.opts.SharedStorages {
		c.addStorage(s.spec)
		c.storageByID(s.spec.ID).backups = &s.backups
	}
	c.addUser(rootUser, c.newUUID())
	c.adminToken = c.addToken(rootUser+"!admin", false)
	c.ticketKey = []byte(c.newUUID())
	if c.opts.Bare {
		return nil
	}
	c.buildService()
	if err := c.buildGuests(); err != nil {
		return err
	}
	if err := c.buildSnapshots(); err != nil {
		return err
	}
	return c.buildFirewall()
}

// buildService makes the service user, its roles and privilege-separated
// tokens, each granted on "/".
func (c *Cluster) buildService() {
	c.addUser(ServiceUser, "")
	for _, key := range Capabilities {
		r := capabilityRoles[key]
		c.setRole(r.role, r.privs)
		if c.opts.Recommended {
			c.setRole(r.role, slices.Concat(r.privs, recommended[key]))
		}
		c.grant("/", ServiceUser, r.role, true)
		t := c.addToken(ServiceUser+"!"+key, true)
		c.grant("/", t.ID, r.role, true)
		c.serviceTokens[key] = t
	}
}

// buildGuests spreads the guests over the nodes: three of five are virtual
// machines, one in fifty is a template, and two thirds run. The first five are
// the same in every scenario, so tests can rely on a running and a stopped
// guest of each kind.
func (c *Cluster) buildGuests() error {
	c.pools["production"] = "what must not stop"
	for i := range c.opts.Guests {
		s := GuestSpec{
			VMID:   c.opts.FirstVMID + i,
			Node:   c.nodes[i%len(c.nodes)].name,
			Name:   fmt.Sprintf("%s-%d", guestNames[c.rand.IntN(len(guestNames))], c.opts.FirstVMID+i),
			Cores:  1 << c.rand.IntN(4),
			Memory: 512 * mebibyte << c.rand.IntN(5),
			Disk:   gibibyte * int64(4+c.rand.IntN(60)),
			Status: StatusRunning,
		}
		if i%5 == 2 || i%5 == 4 {
			s.Type = LXC
			s.Swap = 512 * mebibyte
		} else {
			s.Agent = c.rand.IntN(2) == 0
		}
		if c.rand.IntN(3) == 0 {
			s.Status = StatusStopped
		}
		switch i { // the first few are the same in every scenario
		case 0, 2:
			s.Status = StatusRunning
		case 1, 4:
			s.Status = StatusStopped
		}
		if i%50 == 49 {
			s.Template, s.Status = true, StatusStopped
		}
		switch c.rand.IntN(6) {
		case 0:
			s.Tags = "prod;web"
		case 1:
			s.Tags = "test"
		}
		if c.rand.IntN(4) == 0 {
			s.Pool = "production"
		}
		if _, err := c.addGuest(s); err != nil {
			return err
		}
	}
	return nil
}

// buildSnapshots gives the first virtual machine a small tree and the first
// container a single snapshot.
func (c *Cluster) buildSnapshots() error {
	days := func(n int) time.Time { return c.clock.now().Add(-time.Duration(n) * 24 * time.Hour) }
	vm, ct := c.opts.FirstVMID, c.opts.FirstVMID+2
	for _, s := range []struct {
		vmid int
		spec SnapshotSpec
	}{
		{vm, SnapshotSpec{Name: "installed", Description: "fresh installation", Taken: days(60)}},
		{vm, SnapshotSpec{Name: "before-upgrade", Parent: "installed", Taken: days(9), Memory: true}},
		{vm, SnapshotSpec{Name: "experiment", Parent: "installed", Description: "other configuration\nnot in use", Taken: days(30)}},
		{vm, SnapshotSpec{Name: "upgraded", Parent: "before-upgrade", Taken: days(8)}},
		{ct, SnapshotSpec{Name: "nightly", Description: "taken by a schedule", Taken: days(1)}},
	} {
		if c.guests[s.vmid] == nil {
			continue
		}
		if err := c.addSnapshot(s.vmid, s.spec); err != nil {
			return err
		}
	}
	return nil
}

// buildFirewall writes a few rules for the cluster, every node and some guests.
func (c *Cluster) buildFirewall() error {
	datacenter := c.changeFirewall(FirewallCluster)
	datacenter.aliases["monitoring"] = FirewallAlias{Name: "monitoring", CIDR: "10.99.0.250"}
	datacenter.ipsets["management"] = &section[FirewallMember]{list: []FirewallMember{{CIDR: "10.99.0.0/16"}}}
	rules := map[FirewallScope][]FirewallRule{
		FirewallCluster: {
			{Type: "in", Action: "ACCEPT", Enable: true, Macro: "SSH", Source: "+management", Comment: "administrators"},
			{Type: "in", Action: "ACCEPT", Enable: true, Proto: "tcp", Dport: "8006", Source: "+management", Comment: "web interface"},
			{Type: "in", Action: "DROP", Log: "info", Comment: "everything else, once the rest is tried"},
		},
	}
	for _, n := range c.nodes {
		rules[FirewallNode(n.name)] = []FirewallRule{
			{Type: "in", Action: "ACCEPT", Enable: true, Proto: "tcp", Dport: "9100", Source: "monitoring", Comment: "node exporter"},
		}
	}
	for i, vmid := range c.sortedVMIDs() {
		if i%4 == 0 && i < 100 {
			rules[FirewallGuest(vmid)] = []FirewallRule{
				{Type: "in", Action: "ACCEPT", Enable: true, Macro: "HTTP", Interface: "net0"},
				{Type: "in", Action: "ACCEPT", Enable: true, Macro: "HTTPS", Interface: "net0"},
				{Type: "out", Action: "REJECT", Macro: "SMTP", Log: "warning", Comment: "no mail from here"},
			}
		}
	}
	for scope, list := range rules {
		if err := c.setFirewallRules(scope, list); err != nil {
			return err
		}
	}
	return nil
}
