package main_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// start builds the program and starts it as the service does.
func start(t *testing.T) (*plugin.Connection, int) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "hostler-plugin-pve")
	if err := programtest.Build(t.Context(), "", binary, "."); err != nil {
		t.Fatal(err)
	}
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: plugin.Handshake(), VersionedPlugins: plugin.VersionedSet(), Cmd: exec.Command(binary),
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC}, AutoMTLS: true, SkipHostEnv: true,
		Logger: hclog.NewNullLogger(), StartTimeout: time.Minute, GRPCDialOptions: plugin.DialOptions(),
	})
	t.Cleanup(client.Kill)
	protocol, err := client.Client()
	if err != nil {
		t.Fatal("starting:", err)
	}
	conn, err := plugin.Connect(protocol)
	if err != nil {
		t.Fatal("connecting:", err)
	}
	served, err := conn.Describe(t.Context())
	if err != nil || len(served) != 2 || served[0].Kind != plugin.KindHypervisor || served[1].Kind != plugin.KindFirewall {
		t.Fatalf("it serves %+v, %v", served, err)
	}
	return conn, client.ReattachConfig().Pid
}

// TestTenThousandGuestsInLittleMemory polls a large cluster through the real process.
func TestTenThousandGuestsInLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory: make check runs it")
	}
	t.Parallel()
	conn, pid := start(t)
	driver := hypervisor.NewClient(conn)
	info, err := driver.Info(t.Context())
	if want := hypervisor.Abilities(&pve.Driver{}, &pve.Host{}); err != nil || info.Name != "pve" || !slices.Equal(info.Abilities, want) {
		t.Fatalf("info is %+v, %v", info, err)
	}
	cluster := pvesimtest.Start(t, pvesim.Options{Nodes: 10, Guests: 10000})
	token := cluster.Tokens()["monitoring"]
	host, err := driver.Open(t.Context(), endpoint.Target{
		Address: strings.TrimPrefix(cluster.URL(""), "https://"), Fingerprint: cluster.Fingerprint(""), AllowLocal: true,
		Credential: endpoint.Credential{Capability: endpoint.Monitoring, ID: token.ID, Secret: plugin.Secret(token.Secret)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		guests := 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		err := host.Inventory(ctx, hypervisor.InventoryQuery{Detail: i%5 == 4, Since: time.Now().Add(-5 * time.Minute)},
			func(p hypervisor.Page) error {
				guests += len(p.Guests)
				return nil
			})
		cancel()
		if err != nil || guests != 10000 {
			t.Fatalf("%d guests, %v", guests, err)
		}
	}
	memory := resident(t, pid)
	t.Logf("resident memory of the plugin after ten inventories of 10,000 guests: %d MiB", memory>>20)
	if memory > 60<<20 {
		t.Errorf("the plugin takes %d MiB", memory>>20)
	}
}

// TestFirewallThroughTheProcess edits a firewall through the real process; refusals come with the field, the privilege and the command.
func TestFirewallThroughTheProcess(t *testing.T) {
	t.Parallel()
	conn, _ := start(t)
	cluster := pvesimtest.Start(t, pvesim.Options{Guests: -1, Recommended: true})
	backend, ctx := firewall.NewClient(conn), t.Context()
	info, err := backend.Info(ctx)
	if want, _ := firewall.Describe(ctx, pve.NewBackend(nil), (*pve.Firewall)(nil)); err != nil || !reflect.DeepEqual(info, want) {
		t.Fatalf("info is %+v, %v, want %+v", info, err, want)
	}
	open := func(capability endpoint.Capability) firewall.Firewall {
		token := cluster.Tokens()[string(capability)]
		fw, err := backend.Open(ctx, endpoint.Target{
			Address: strings.TrimPrefix(cluster.URL(""), "https://"), Fingerprint: cluster.Fingerprint(""), AllowLocal: true,
			Credential: endpoint.Credential{Capability: capability, ID: token.ID, Secret: plugin.Secret(token.Secret)},
		})
		must(t, err)
		return fw
	}
	on := firewall.Scope{Kind: firewall.ClusterScope}
	all := open(endpoint.Lifecycle).(interface {
		firewall.RuleEditor
		firewall.RuleMover
		firewall.AliasManager
		firewall.IPSetManager
		firewall.IPSetMemberEditor
		firewall.OptionsManager
		firewall.GroupManager
	})
	must(t, all.CreateAlias(ctx, on, firewall.Alias{Name: "office", CIDR: "192.0.2.1"}, ""))
	must(t, all.CreateIPSet(ctx, on, firewall.IPSet{Name: "web"}, ""))
	must(t, all.AddIPSetMember(ctx, on, "web", firewall.IPSetMember{CIDR: "office"}, ""))
	must(t, all.CreateGroup(ctx, firewall.Group{Name: "web"}, ""))
	at, digest, err := all.CreateRule(ctx, on, firewall.Rule{Direction: "in", Action: "ACCEPT", Source: "+web"}, "")
	if err != nil || at != 0 || digest == "" {
		t.Fatalf("position %d, digest %q, %v", at, digest, err)
	}
	must(t, all.MoveRule(ctx, on, 0, 1, digest))
	err = all.DeleteRule(ctx, on, 1, digest)
	var e *plugin.Error
	if !errors.As(err, &e) || e.Kind != plugin.Conflict || e.Field != firewall.FieldDigest {
		t.Errorf("a digest from before: %+v", err)
	}
	reads := open(endpoint.Monitoring)
	usage, err := reads.(firewall.UsageFinder).Usage(ctx, on, firewall.IPSetObject, "web")
	if err != nil || len(usage.Places) != 1 || usage.Places[0].Position != 1 || usage.Incomplete != "" {
		t.Errorf("usage is %+v, %v", usage, err)
	}
	group := firewall.Scope{Kind: firewall.GroupScope, Group: "web"}
	_, _, err = reads.(firewall.RuleEditor).CreateRule(ctx, group, firewall.Rule{Direction: "in", Action: "DROP"}, "")
	if !errors.As(err, &e) || e.Kind != plugin.Denied || !slices.Equal(e.Missing, []string{"Sys.Modify"}) || e.Path != "/" ||
		e.Remedy != "pveum role modify ServiceAudit --append 1 --privs Sys.Modify && pveum acl modify '/' --users 'service@pve' "+
			"--roles ServiceAudit && pveum acl modify '/' --tokens 'service@pve!monitoring' --roles ServiceAudit" {
		t.Errorf("a token that may only read: %+v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// resident is the present memory of a process in bytes.
func resident(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("this system does not tell the memory of processes:", err)
	}
	for line := range strings.Lines(string(status)) {
		var kb int64
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kb); n == 1 {
			return kb << 10
		}
	}
	t.Fatal("no VmRSS")
	return 0
}
