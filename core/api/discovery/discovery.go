// Package discovery is the HTTP resource of what programs that watch others find to watch.
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

// Deps is what the operation works with.
type Deps struct{ Discovery *discovery.Store }

type handlers struct{ discovery *discovery.Store }

// Register declares the operation.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Discovery}
	op.Get(a, "/api/v1/sd/prometheus", h.prometheus, op.Spec{
		ID: "discover_prometheus_targets", Summary: "Tell Prometheus what there is to watch", Tag: "Metrics",
		Role: identity.Viewer, On: op.Anywhere,
		Description: "What you may see, as `http_sd_configs` of Prometheus reads it: let it come with an API key of the scope `read`. " +
			"With the role `guest`, or without one, it is every guest that has told an address and is no template, at `port`; with `app` the " +
			"pages of every app of which port and address are known, with `web_url` for a blackbox exporter; with `node` the nodes of the " +
			"hypervisors, at `port`; with `service` the figures of this service at the address where it is asked, with their paths. Labels " +
			"begin with `__meta_hostler_`: of a guest `id`, `kind`, `name`, `status`, `host`, `node`, `cluster`, `team`, `pool`, `ref`, " +
			"`tags`, `addresses`, `app` and `app_id`, of an app also `web_url`, `web_scheme` and `catalog_entry`, of a node also `version`; the " +
			"service's own two pages are told apart by the label `figures`. What is not known has no label. `tags` and `addresses` have a " +
			"comma before and behind each. The hypervisors are not asked: it is what the last polls found.",
	})
}

type prometheusInput struct {
	Role string `query:"role" enum:"guest,app,node,service" example:"guest" doc:"What to watch; guest when absent"`
	Port int    `query:"port" minimum:"1" maximum:"65535" example:"9100" doc:"Of guests and nodes; 9100, that of the node exporter, when absent"`

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
		groups := discovery.Itself(address, in.site.Secure, in.site.Path)
		return &op.List[discovery.Group]{Total: len(groups), Body: groups}, nil
	}
	port := in.Port
	if port == 0 {
		port = discovery.NodeExporter
	}
	groups, err := h.discovery.Find(ctx, discovery.Role(in.Role), port, identity.FromContext(ctx).Visible())
	return &op.List[discovery.Group]{Total: len(groups), Body: groups}, err
}

// reached is the address by which the service was asked, with its port.
func (in *prometheusInput) reached() (string, error) {
	u, err := url.Parse("//" + in.address)
	if err != nil || u.Host != in.address || u.Hostname() == "" || u.User != nil || !isName(u.Hostname()) {
		return "", problem.InvalidField("names no server", "value_error", "header", "Host")
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

// isName says whether a text is an address, or is made of what names of hosts are made of.
func isName(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	return strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz0123456789.-_") == ""
}
