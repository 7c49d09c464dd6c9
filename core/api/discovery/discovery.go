// Package discovery is the HTTP resource of service discovery. Its operation
// lists scrape targets in the format of Prometheus http_sd_configs: guests,
// apps, nodes, or the endpoints of the service itself.
package discovery

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/discovery"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/proxy"
)

// Deps has what the operation of this package needs.
type Deps struct{ Discovery *discovery.Store }

type handlers struct{ discovery *discovery.Store }

// Register declares the operation.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Discovery}
	op.Get(a, "/api/v1/sd/prometheus", h.prometheus, op.Spec{
		ID: "discover_prometheus_targets", Summary: "List scrape targets for Prometheus", Tag: "Metrics",
		Role: identity.Viewer, On: op.Anywhere,
		Description: "Lists what you can see in the format of Prometheus `http_sd_configs`; use an API key with the " +
			"scope `read`. The role `guest`, the default, lists every guest with a known address that is not a " +
			"template, at `port`. `app` lists the web pages of every app with a known port and address, with `web_url` " +
			"for a blackbox exporter. `node` lists the nodes of the hypervisors, at `port`. `service` lists the " +
			"metrics endpoints of this service at the address of the request. Labels start with `__meta_hostler_`: for " +
			"a guest `id`, `kind`, `name`, `status`, `host`, `node`, `cluster`, `team`, `pool`, `ref`, `tags`, " +
			"`addresses`, `app` and `app_id`; for an app also `web_url`, `web_scheme` and `catalog_entry`; for a node " +
			"also `version`. The label `figures` distinguishes the two endpoints of the service. Unknown values have " +
			"no label. Each value in `tags` and `addresses` has a comma before and after it. The data is from the last " +
			"polls; hypervisors are not contacted.",
	})
}

type prometheusInput struct {
	Role string `query:"role" enum:"guest,app,node,service" example:"guest" doc:"Kind of targets; guest if absent"`
	Port int    `query:"port" minimum:"1" maximum:"65535" example:"9100" doc:"Port of guests and nodes; if absent 9100, the port of the node exporter"`

	address string
	site    proxy.Site
}

// Resolve implements huma.Resolver.
func (in *prometheusInput) Resolve(ctx huma.Context) []error {
	in.address, in.site = ctx.Host(), proxy.SiteOf(ctx.Context(), ctx.TLS())
	return nil
}

var _ huma.Resolver = (*prometheusInput)(nil)

func (h handlers) prometheus(ctx context.Context, in *prometheusInput) (*op.List[discovery.Group], error) {
	if in.Role == string(discovery.Services) {
		address, err := in.reached()
		if err != nil {
			return nil, err
		}
		groups := discovery.ServiceTargets(address, in.site.Secure, in.site.Path)
		return &op.List[discovery.Group]{Total: len(groups), Body: groups}, nil
	}
	port := in.Port
	if port == 0 {
		port = discovery.NodeExporter
	}
	groups, err := h.discovery.Find(ctx, discovery.Role(in.Role), port, identity.FromContext(ctx).Visible())
	return &op.List[discovery.Group]{Total: len(groups), Body: groups}, err
}

// reached returns the address of the service as the caller used it, with its
// port.
func (in *prometheusInput) reached() (string, error) {
	u, err := url.Parse("//" + in.address)
	if err != nil || u.Host != in.address || u.Hostname() == "" || u.User != nil || !isName(u.Hostname()) {
		return "", problem.InvalidField("does not name a server", "value_error", "header", "Host")
	}
	port := u.Port()
	if port == "" {
		port = "80"
		if in.site.Secure {
			port = "443"
		}
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// isName reports whether text is an IP address or consists of characters that
// host names have.
func isName(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	return strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz0123456789.-_") == ""
}
