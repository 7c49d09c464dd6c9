package host

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/secret"
)

// Config configures a Store.
type Config struct {
	DB      *db.DB
	Drivers Drivers
	Keys    secret.Keys
	// Driver is the name of the driver for new hosts that name none. Empty
	// means "pve".
	Driver string
	// Own knows the guest that the service runs in. Nil means that it is
	// unknown.
	Own SelfGuest
	// AllowLocal permits loopback and link-local addresses.
	AllowLocal bool
	// Timeout bounds each check of an endpoint. Zero means 20 s: hypervisors
	// delay their answer to a wrong token by seconds.
	Timeout time.Duration
	Logger  hclog.Logger
}

// Store gives access to the hosts. It is safe for concurrent use.
type Store struct {
	db         *db.DB
	drivers    Drivers
	keys       secret.Keys
	driver     string
	own        SelfGuest
	allowLocal bool
	timeout    time.Duration
	log        hclog.Logger
	// described contains the last known description of each driver by name.
	described sync.Map
	// logins contains the slots for logins of each host by ID. They limit what
	// this instance does at the same time.
	logins sync.Map
}

// New returns a Store.
func New(config Config) *Store {
	s := &Store{
		db: config.DB, drivers: config.Drivers, keys: config.Keys, driver: config.Driver, own: config.Own,
		allowLocal: config.AllowLocal, timeout: config.Timeout, log: config.Logger,
	}
	if s.driver == "" {
		s.driver = "pve"
	}
	if s.timeout == 0 {
		s.timeout = 20 * time.Second
	}
	if s.log == nil {
		s.log = hclog.NewNullLogger()
	}
	return s
}

// SealedTable is the column with the secrets of tokens, for the rotation of the key.
var SealedTable = secret.Table{Name: "host_credentials", Column: "secret", Key: []string{"id"}}

// place returns what a credential's secret is bound to.
func place(credentialID int64) secret.Binding {
	return secret.Binding{Table: "host_credentials", Column: "secret", Row: secret.Row(credentialID)}
}

// MaxHosts is the largest number of hosts.
const MaxHosts = 10_000

// Host is a host as users see it.
type Host struct {
	ID          int64        `json:"id" example:"1"`
	Name        string       `json:"name" example:"rack1"`
	Address     string       `json:"address" example:"192.0.2.10:8006" doc:"Name or IP address and port; IPv6 in brackets"`
	TeamID      int64        `json:"team_id" example:"1"`
	Driver      string       `json:"driver" example:"pve"`
	Status      string       `json:"status" enum:"pending,online,unreachable" example:"online" doc:"pending until the first poll"`
	Reason      *string      `json:"reason" doc:"Why the last poll failed: unreachable, tls_fingerprint, auth, permission, protocol, refused, timeout or plugin. An online host has permission if its monitoring token lacks privileges, which missing lists; objects that the token cannot see are unknown. Null if there is no problem"`
	Error       *string      `json:"error" doc:"The reason as a sentence"`
	Version     *string      `json:"version" example:"9.2.11" doc:"Version of the hypervisor"`
	Cluster     *Cluster     `json:"cluster" doc:"Cluster of the host; null until the first poll"`
	EntryNode   *string      `json:"entry_node" example:"pve1" doc:"Node that responds at the address"`
	Fingerprint *string      `json:"tls_fingerprint" example:"3F:9A:0C:51:7B:E2:44:D8:96:1E:A7:30:CB:5D:82:F6:19:60:BE:4C:D3:07:8A:F1:2E:95:6B:C8:54:A0:ED:73" doc:"Fingerprint of the pinned certificate: SHA-256 in hexadecimal with colons; null if none is pinned"`
	VerifyTLS   bool         `json:"verify_tls" example:"true" doc:"Without a pinned certificate: verify the certificate against the system's certificate authorities and the name"`
	NodeShell   bool         `json:"node_shell_enabled" example:"false"`
	SSHHostKey  *string      `json:"ssh_host_key_fingerprint" doc:"Same as ssh.fingerprint"`
	SSH         SSH          `json:"ssh" doc:"SSH access to the host; only some features require it, such as app scripts and rollback timers of network changes"`
	Tokens      []Credential `json:"capabilities" doc:"Capabilities with a token"`
	Counts      Counts       `json:"counts" doc:"Number of objects on the host; objects of a cluster count once even if it has several hosts"`
	PolledAt    *time.Time   `json:"polled_at" example:"2026-01-31T12:00:00Z" doc:"Time of the last poll through this host, successful or not"`
	OKAt        *time.Time   `json:"ok_at" example:"2026-01-31T12:00:00Z" doc:"Time of the last successful poll"`
	IsSelf      bool         `json:"is_self" example:"false" doc:"true if the service runs on this host"`
	CreatedAt   time.Time    `json:"created_at" example:"2026-01-31T12:00:00Z"`
}

// Cluster is the group of nodes that a host belongs to.
type Cluster struct {
	ID int64 `json:"id" example:"1"`
	// Name is empty for a machine alone.
	Name string `json:"name" example:"prod" doc:"Name of the cluster; empty for a standalone host"`
}

// Credential is the information about a stored token, without its secret.
type Credential struct {
	Key           string         `json:"key" example:"monitoring" doc:"Capability of the token"`
	TokenID       string         `json:"token_id" example:"service@pve!monitoring" doc:"ID on the hypervisor: the ID of a token or the SHA-256 of a certificate"`
	Form          string         `json:"form" example:"token" doc:"Form of the credential, as the driver names it"`
	VerifiedAt    *time.Time     `json:"verified_at" example:"2026-01-31T12:00:00Z"`
	Missing       []string       `json:"missing" doc:"Required privileges that the token lacks"`
	Extra         []string       `json:"extra" doc:"Privileges that the token has but does not need"`
	Recommended   []string       `json:"recommended" doc:"Additional privileges that this release of the hypervisor requires for some features"`
	ConsoleLimits []ConsoleLimit `json:"console_limits" doc:"For a console token: consoles that this release of the hypervisor does not open with a token, as of the last check"`
}

// Counts are numbers of objects at a host.
type Counts struct {
	Nodes      int `json:"nodes" example:"3"`
	VMs        int `json:"vms" example:"40"`
	Containers int `json:"containers" example:"12"`
	Apps       int `json:"apps" example:"5"`
}

// withTimeout bounds a check of an endpoint.
func (s *Store) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.timeout)
}
