package pve

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// limitsOf returns the limits in the schema of Proxmox VE for a kind of guest.
// Its web page has smaller ones for some values, and a node refuses to start a
// guest that it cannot hold.
func limitsOf(kind hypervisor.GuestKind) hypervisor.GuestLimits {
	limits := hypervisor.GuestLimits{MTU: 65520, MinNumber: 100, MaxNumber: 999_999_999}
	if kind == hypervisor.Container {
		limits.Cores, limits.MTU = 8192, 65535
	}
	return limits
}

// osTypes are the words for the operating systems of VMs, the default first.
var osTypes = []string{"l26", "l24", "win11", "win10", "win8", "win7", "wvista", "w2k8", "w2k3", "w2k", "wxp", "solaris", "other"}

// These are the forms of texts in property strings. None of them can end a
// property and begin another.
var (
	storageName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,98}[A-Za-z0-9]$`)
	bridgeName  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,14}$`)
	imageName   = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_.-]{0,98}[A-Za-z0-9]):iso/[^,=/\x00-\x1f\x7f]{1,255}$`)
	markForm    = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// invalid returns an Invalid error with a field.
func invalid(field, format string, args ...any) *plugin.Error {
	e := plugin.Errorf(plugin.Invalid, format, args...)
	e.Field = field
	return e
}

// Placement sends one request for each requested part: the storages of the
// node, its bridges, a free id, an image. If a node shows no storage or no
// bridge at all, the rights of the token are asked for as well.
func (h *Host) Placement(ctx context.Context, query hypervisor.PlacementQuery) (hypervisor.Placement, error) {
	p := hypervisor.Placement{OSTypes: slices.Clone(osTypes), Limits: limitsOf(query.Kind)}
	if _, err := nodePath(query.Node, "storage"); err != nil {
		return p, plugin.Errorf(plugin.NotFound, "node %.80q does not exist", query.Node)
	}
	var err error
	if query.Storages {
		if p.Storages, err = h.storages(ctx, query.Node); err != nil {
			return p, h.explainAway(ctx, query.Node, err)
		}
	}
	if query.Bridges {
		if p.Bridges, err = h.bridges(ctx, query.Node); err != nil {
			return p, h.explainAway(ctx, query.Node, err)
		}
	}
	if query.ID {
		if p.ID, p.Number, err = h.freeID(ctx, query.Number); err != nil {
			return p, err
		}
	}
	if query.Image != "" {
		p.ImageFound, err = h.hasImage(ctx, query.Node, query.Image)
	}
	return p, err
}

// placementRow is one row of a node's storages.
type placementRow struct {
	Storage pveapi.Text `json:"storage"`
	Type    pveapi.Text `json:"type"`
	Content pveapi.Text `json:"content"`
	Shared  pveapi.Flag `json:"shared"`
	Active  pveapi.Flag `json:"active"`
	Enabled pveapi.Flag `json:"enabled"`
	Avail   pveapi.Int  `json:"avail"`
}

// storage converts a row of a node's storages.
func (row placementRow) storage() hypervisor.PlacementStorage {
	content := strings.Split(string(row.Content), ",")
	s := hypervisor.PlacementStorage{
		Name: string(row.Storage), VMs: slices.Contains(content, "images"), Containers: slices.Contains(content, "rootdir"),
		Backups: slices.Contains(content, "backup"), Templates: slices.Contains(content, "vztmpl"), Shared: bool(row.Shared),
		Available: bool(row.Active) && bool(row.Enabled),
		Thin:      string(row.Type) != "lvm", // files are sparse, and so are volumes of all other types unless told otherwise
	}
	if row.Avail.Set && s.Available {
		s.Free = &row.Avail.N
	}
	return s
}

// storages returns the visible storages of a node.
func (h *Host) storages(ctx context.Context, node string) (all []hypervisor.PlacementStorage, err error) {
	path, err := nodePath(node, "storage")
	if err != nil {
		return nil, err
	}
	var rows []placementRow
	if _, err := h.api.Get(ctx, path, nil, &rows); err != nil {
		return nil, err
	}
	for _, row := range rows {
		all = append(all, row.storage())
	}
	if len(all) == 0 {
		err = h.hidden(ctx, need{"Datastore.Audit", "/storage"})
	}
	return all, err
}

// bridges returns everything to which a NIC on the node can be attached,
// sorted.
func (h *Host) bridges(ctx context.Context, node string) ([]string, error) {
	path, err := nodePath(node, "network")
	if err != nil {
		return nil, err
	}
	var rows []struct {
		Name pveapi.Text `json:"iface"`
	}
	if _, err := h.api.Get(ctx, path, url.Values{"type": {"any_bridge"}}, &rows); err != nil {
		return nil, err
	}
	var names []string
	for _, row := range rows {
		names = append(names, string(row.Name))
	}
	slices.Sort(names)
	if len(names) == 0 {
		err = h.hidden(ctx, need{"SDN.Audit", "/sdn"})
	}
	return names, err
}

// freeID asks for a free id, or whether a given one is free. Proxmox VE
// reserves nothing, so that another request may take it first.
func (h *Host) freeID(ctx context.Context, wanted *int64) (hypervisor.GuestID, *int64, error) {
	var query url.Values
	if wanted != nil {
		if limits := limitsOf(hypervisor.VM); *wanted < limits.MinNumber || *wanted > limits.MaxNumber {
			return "", nil, nil
		}
		query = url.Values{"vmid": {strconv.FormatInt(*wanted, 10)}}
	}
	var answer pveapi.Text
	_, err := h.api.Get(ctx, "/cluster/nextid", query, &answer)
	if e, ok := asError(err); ok && e.Kind == plugin.Invalid && e.Field == "vmid" {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	number, err := vmid(hypervisor.GuestID(answer))
	if err != nil {
		return "", nil, plugin.Errorf(plugin.Protocol, "the answer has an invalid next free ID: %.40q", string(answer))
	}
	return hypervisor.GuestID(answer), &number, nil
}

// hasImage reports whether an installation image exists on its storage.
func (h *Host) hasImage(ctx context.Context, node, image string) (bool, error) {
	if strings.ContainsAny(image, ",=") {
		return false, invalid("image", "the name of an installation image must not contain a comma or an equals sign; rename the file")
	}
	found := imageName.FindStringSubmatch(image)
	if found == nil || !utf8.ValidString(image) {
		return false, nil
	}
	path, err := nodePath(node, "storage", found[1], "content")
	if err != nil {
		return false, err
	}
	var rows []struct {
		ID pveapi.Text `json:"volid"`
	}
	_, err = h.api.Get(ctx, path, url.Values{"content": {"iso"}}, &rows)
	if plugin.KindOf(err) == plugin.NotFound {
		return false, nil // of the storage
	}
	for _, row := range rows {
		if string(row.ID) == image {
			return true, nil
		}
	}
	return false, err
}
