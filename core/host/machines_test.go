package host_test

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// machine is a server as its endpoint shows it.
type machine struct {
	// certificate stands for the one shown; its fingerprint is of this text.
	certificate string
	// signed is true when an authority signed it for every name.
	signed  bool
	node    string
	cluster string
	address string // of the node
	// fails is the error of the inventory.
	fails error
	// peers are the nodes that it tells of; refuses are the secrets that it does not take.
	peers   []hypervisor.Peer
	refuses []string
	// hangs lets it answer nothing.
	hangs bool
}

// machines is a driver of servers that stand at addresses of the test's choice, several of one server included.
type machines struct {
	hypervisor.Driver
	mu sync.Mutex
	at map[string]machine
	// asked counts the questions for a version by address; then, if set, is called before each call is answered.
	asked map[string]int
	then  func(call, address string)
	// sent are the secrets that went to each address, in order.
	sent map[string][]string
}

func (d *machines) Hypervisor(string) hypervisor.Driver { return d }

// put lets a server answer at an address, in place of another one.
func (d *machines) put(address string, m machine) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at[address+":8006"] = m
}

func (d *machines) questions(address string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked[address+":8006"]
}

func (d *machines) Info(context.Context) (hypervisor.Info, error) {
	return hypervisor.Info{Name: "machines", Version: "1", Product: "Machines"}, nil
}

func (d *machines) Open(_ context.Context, target endpoint.Target) (hypervisor.Host, error) {
	return &connection{machines: d, target: target}, nil
}

// connection is one address with one token; the methods that it lacks are not called.
type connection struct {
	hypervisor.Host
	machines *machines
	target   endpoint.Target
}

// print is the fingerprint of a certificate.
func print(certificate string) string {
	sum := sha256.Sum256([]byte(certificate))
	return endpoint.Fingerprint(&x509.Certificate{Raw: sum[:]})
}

func (e *connection) begin(ctx context.Context, call string) (machine, error) {
	if e.machines.then != nil {
		e.machines.then(call, e.target.Address)
	}
	e.machines.mu.Lock()
	defer e.machines.mu.Unlock()
	if call == "version" {
		e.machines.asked[e.target.Address]++
	}
	m, ok := e.machines.at[e.target.Address]
	if m.hangs {
		e.machines.mu.Unlock()
		<-ctx.Done()
		e.machines.mu.Lock()
		return m, plugin.Errorf(plugin.Timeout, "no answer")
	}
	if !ok {
		return m, plugin.Errorf(plugin.Unreachable, "nobody there")
	}
	if e.target.Fingerprint != "" && e.target.Fingerprint != print(m.certificate) || e.target.Fingerprint == "" && e.target.VerifyTLS &&
		!m.signed {
		err := plugin.Errorf(plugin.Untrusted, "not this certificate")
		err.Fingerprint = print(m.certificate)
		return m, err
	}
	secret := string(e.target.Credential.Secret)
	if sent := e.machines.sent[e.target.Address]; !slices.Contains(sent, secret) {
		e.machines.sent[e.target.Address] = append(sent, secret)
	}
	if slices.Contains(m.refuses, secret) {
		return m, plugin.Errorf(plugin.TokenRejected, "no such token")
	}
	return m, nil
}

func (e *connection) Version(ctx context.Context) (hypervisor.Version, error) {
	m, err := e.begin(ctx, "version")
	return hypervisor.Version{Version: "9.2.11", Fingerprint: print(m.certificate)}, err
}

func (e *connection) Permissions(ctx context.Context) (hypervisor.Permissions, error) {
	_, err := e.begin(ctx, "permissions")
	return hypervisor.Permissions{}, err
}

func (e *connection) Inventory(ctx context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
	m, err := e.begin(ctx, "inventory")
	if err == nil {
		err = m.fails
	}
	if err != nil {
		return err
	}
	if err := page(hypervisor.Page{Cluster: &hypervisor.Cluster{Name: m.cluster, Entry: m.node, Quorate: true}}); err != nil {
		return err
	}
	// Nodes may come in a later page.
	return page(hypervisor.Page{Nodes: []hypervisor.Node{{Name: "other", Address: "192.0.2.250"}, {Name: m.node, Address: m.address}}})
}

func (e *connection) Peers(ctx context.Context) ([]hypervisor.Peer, error) {
	m, err := e.begin(ctx, "peers")
	return slices.Clone(m.peers), err // the store changes what it is given
}

func (e *connection) Close() error { return nil }

// newMachines is a store whose driver has these servers, and its database.
func newMachines(t *testing.T) (*host.Store, *machines, *db.DB) {
	t.Helper()
	d := dbtest.New(t)
	box, err := secret.Load(t.Context(), filepath.Join(t.TempDir(), "key"), func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	driver := &machines{at: map[string]machine{}, asked: map[string]int{}, sent: map[string][]string{}}
	if _, err := d.Pool.Exec(t.Context(), "INSERT INTO teams (id, name, slug) VALUES (2, 'Two', 'two'), (3, 'Three', 'three')"); err != nil {
		t.Fatal(err)
	}
	return host.New(host.Config{DB: d, Drivers: driver, Keys: box}), driver, d
}

// enrolment is of a host at an address, with its name.
func enrolment(address string, verify bool) host.EnrolRequest {
	return host.EnrolRequest{Name: address, Address: address, TokenID: "service@pve!monitoring", Secret: secret.New("s"), VerifyTLS: verify}
}

// enrol enrols a server that is to be taken, with what is shown pinned unless an authority decides.
func enrol(t *testing.T, s *host.Store, address string, verify bool) int64 {
	t.Helper()
	h, _, err := s.Create(t.Context(), enrolment(address, verify))
	if err != nil {
		t.Fatalf("enrolling %s: %v", address, err)
	}
	return h.ID
}

// hosts lists the enrolled ones with what says where they are.
func listed(t *testing.T, d *db.DB) (out string) {
	t.Helper()
	err := d.Pool.QueryRow(t.Context(), "SELECT COALESCE(string_agg(concat_ws(' ', id, name, address, left(tls_fingerprint, 5), "+
		"entry_node), '; ' ORDER BY id), '') FROM hosts").Scan(&out)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
