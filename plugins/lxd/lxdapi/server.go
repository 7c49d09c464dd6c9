package lxdapi

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin"
)

// rootPath is the only path that answers every caller.
const rootPath = "/1.0"

// Server is what a server reports about itself. Callers that it does not trust
// only get Auth.
type Server struct {
	// Auth is trusted or untrusted. It is untrusted for a certificate of the type metrics too.
	Auth        string `json:"auth"`
	Environment struct {
		// Server is the product: lxd or incus.
		Server    string `json:"server"`
		Version   string `json:"server_version"`
		Name      string `json:"server_name"`
		Clustered bool   `json:"server_clustered"`
		Kernel    string `json:"kernel_version"`
		OS        string `json:"os_name"`
		OSVersion string `json:"os_version"`
		// StorageDrivers are those that the server can use. A pool of a remote one is the same at every member of a cluster.
		StorageDrivers []struct {
			Name   string `json:"Name"`
			Remote bool   `json:"Remote"`
		} `json:"storage_supported_drivers"`
	} `json:"environment"`
}

// Trusted reports whether the server knows the certificate that was shown.
func (s *Server) Trusted() bool { return s.Auth == "trusted" }

// Server asks what answers there. It needs no certificate.
func (c *Client) Server(ctx context.Context) (*Server, Meta, error) { return c.Member(ctx, "") }

// Member is Server for a member of the cluster, through the one that answers;
// an empty name is that one itself.
func (c *Client) Member(ctx context.Context, member string) (*Server, Meta, error) {
	query, err := targeting(member)
	if err != nil {
		return nil, Meta{}, err
	}
	var server Server
	meta, err := c.get(ctx, rootPath, query, &server)
	if err != nil {
		return nil, Meta{}, err
	}
	if server.Auth == "" || server.Trusted() && server.Environment.Version == "" {
		return nil, Meta{}, plugin.Errorf(plugin.Protocol, "the answer does not come from LXD or Incus: it does not report whether the "+
			"client is trusted")
	}
	return &server, meta, nil
}
