package install

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// listLimit bounds listing the templates on a storage.
const listLimit = 20 * time.Second

// findTemplate finds out whether the storage has a template of the entry's
// system, and writes a sentence about it for the plan. A storage that cannot be
// read is refused now, because the scripts would fail on it. If the token may
// not list the content, the plan says that it is unknown.
func (r *request) findTemplate(ctx context.Context) error {
	d := r.offer.Entry.Defaults
	system := strings.TrimSpace(d.OS + " " + d.OSVersion)
	if d.OS == "" {
		return nil
	}
	list, err := host.CallWithTimeout(ctx, r.Hosts, listLimit, r.HostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.ContentLister) (hypervisor.ContentList, error) {
			return at.Content(ctx, hypervisor.ContentQuery{
				Storage: r.place.TemplateStorage, Node: r.offer.Host.Node, Kind: hypervisor.VolumeTemplate,
			})
		})
	switch kind := plugin.KindOf(err); {
	case err == nil:
	case ctx.Err() != nil:
		return err
	case kind == plugin.NotFound || kind == plugin.Refused:
		return problem.InvalidField("the storage with the container's template cannot be read", "value_error", "body",
			"template_storage")
	default: // the token is not shown it, or the hypervisor has no such list: the scripts will see
		r.template = fmt.Sprintf("It is not known whether a template of %s is on %s: if not, the scripts download it from the node's "+
			"list of templates. Nobody has pinned it.", system, r.place.TemplateStorage)
		return nil
	}
	for _, v := range list.Volumes {
		if v.Kind == hypervisor.VolumeTemplate && ofSystem(v.Name, d.OS, d.OSVersion) {
			r.template = fmt.Sprintf("The container is created from the template %s on %s, which nobody has pinned.", host.Clean(v.Name),
				r.place.TemplateStorage)
			return nil
		}
	}
	r.template = fmt.Sprintf("There is no template of %s on %s: the scripts download it from the node's list of templates, which "+
		"requires internet access. Nobody has pinned it.", system, r.place.TemplateStorage)
	return nil
}

// ofSystem reports whether the name of a template, such as
// debian-13-standard_13.1-2_amd64.tar.zst, belongs to a system. The version 1
// does not match 13.
func ofSystem(name, os, version string) bool {
	name = strings.ToLower(name[strings.LastIndexAny(name, "/:")+1:])
	rest, ok := strings.CutPrefix(name, strings.ToLower(os)+"-")
	if !ok || version == "" {
		return ok
	}
	after, ok := strings.CutPrefix(rest, version)
	return ok && (after == "" || after[0] < '0' || after[0] > '9')
}
