package pvesim

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// controlFirewalls answers what is configured and what is in force.
func controlFirewalls(c *Cluster, _ *http.Request) (any, error) {
	return struct {
		FirewallStatus
		Configured map[FirewallScope]FirewallConfig `json:"configured"`
	}{c.FirewallStatus(), c.Firewalls()}, nil
}

// controlSetFirewalls replaces all configurations. Members that it does not
// know are left alone, so that a file which has more can be sent as it is.
func controlSetFirewalls(c *Cluster, r *http.Request) (any, error) {
	var in struct {
		Cluster FirewallConfig            `json:"cluster"`
		Host    FirewallConfig            `json:"host"`
		Nodes   map[string]FirewallConfig `json:"nodes"`
		Guests  map[string]FirewallConfig `json:"guests"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&in); err != nil {
		return nil, fmt.Errorf("reading control request: %w", err)
	}
	all := map[FirewallScope]FirewallConfig{FirewallCluster: in.Cluster, FirewallNode(c.NodeNames()[0]): in.Host}
	for name, config := range in.Nodes {
		all[FirewallNode(name)] = config
	}
	for id, config := range in.Guests {
		vmid, err := strconv.Atoi(id)
		if err != nil {
			return nil, fmt.Errorf("guest %q is no number", id)
		}
		all[FirewallGuest(vmid)] = config
	}
	return nil, c.SetFirewalls(all)
}

// controlFirewallClients sets as what the nodes' firewalls see clients.
func controlFirewallClients(c *Cluster, r *http.Request) (any, error) {
	var in struct {
		Clients []FirewallClient `json:"clients"`
	}
	if err := decodeControl(r, &in); err != nil {
		return nil, err
	}
	return nil, c.SetFirewallClients(in.Clients...)
}

// controlFirewallLog writes lines to a node's firewall log.
func controlFirewallLog(c *Cluster, r *http.Request) (any, error) {
	var in struct {
		Node  string   `json:"node"`
		Lines []string `json:"lines"`
	}
	if err := decodeControl(r, &in); err != nil {
		return nil, err
	}
	for _, line := range in.Lines {
		if strings.ContainsAny(line, "\n\x00") {
			return nil, fmt.Errorf("%q is more than a line", line)
		}
	}
	return nil, c.AppendFirewallLog(in.Node, in.Lines...)
}
