package pve

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// NodeHardware sends one request for each section and two for HardwareSystem,
// through the entry node.
func (h *Host) NodeHardware(ctx context.Context, query hypervisor.HardwareQuery) (out hypervisor.NodeHardware, err error) {
	switch query.Section {
	case hypervisor.HardwareDisks:
		out.Disks, err = h.disks(ctx, query.Node, query.Health)
	case hypervisor.HardwareInterfaces:
		out.Interfaces, err = h.interfaces(ctx, query.Node)
	case hypervisor.HardwarePCI:
		out.PCI, err = h.pciDevices(ctx, query.Node)
	case hypervisor.HardwareServices:
		out.Services, err = h.services(ctx, query.Node)
	case hypervisor.HardwareSubscription:
		out.Subscription, err = h.subscription(ctx, query.Node)
	case hypervisor.HardwareSystem:
		out.System, err = h.system(ctx, query.Node)
	default:
		err = plugin.Errorf(plugin.Unsupported, "unknown section %.80q", query.Section)
	}
	return out, err
}

// askRows reads a list below a node. A null is an error and no empty list: it
// would look as if nothing were there.
func askRows[T any](ctx context.Context, h *Host, query url.Values, node string, below ...string) ([]T, error) {
	var rows []T
	_, err := h.askNode(ctx, &rows, query, node, below...)
	if err == nil && rows == nil {
		err = plugin.Errorf(plugin.Protocol, "the answer has no list of the node's %s", below[0])
	}
	return rows, err
}

// diskRow is one row of a node's disks. wearout is the share of life that
// remains, or a text if it is unknown.
type diskRow struct {
	Path   pveapi.Text `json:"devpath"`
	Type   pveapi.Text `json:"type"`
	Model  pveapi.Text `json:"model"`
	Vendor pveapi.Text `json:"vendor"`
	Serial pveapi.Text `json:"serial"`
	WWN    pveapi.Text `json:"wwn"`
	Size   pveapi.Int  `json:"size"`
	RPM    pveapi.Int  `json:"rpm"`
	Used   pveapi.Text `json:"used"`
	Health pveapi.Text `json:"health"`
	Left   pveapi.Int  `json:"wearout"`
}

// disks reads the disks of a node. Without health it skips SMART, which would
// wake sleeping disks.
func (h *Host) disks(ctx context.Context, node string, health bool) ([]hypervisor.NodeDisk, error) {
	query := url.Values{}
	if !health {
		query.Set("skipsmart", "1")
	}
	rows, err := askRows[diskRow](ctx, h, query, node, "disks", "list")
	if e := (*plugin.Error)(nil); errors.As(err, &e) && e.Kind == plugin.Denied && len(e.Missing) == 0 {
		// This refusal names no privilege, because two paths would do.
		e.Missing, e.Path = []string{"Sys.Audit"}, "/nodes/"+node
		e.Remedy = h.api.RemedyOf(ctx, e.Missing, e.Path)
	}
	if err != nil {
		return nil, err
	}
	disks := make([]hypervisor.NodeDisk, 0, len(rows))
	for _, row := range rows {
		disks = append(disks, row.disk(health))
	}
	return disks, nil
}

// disk converts the row.
func (r *diskRow) disk(health bool) hypervisor.NodeDisk {
	d := hypervisor.NodeDisk{
		Path: string(r.Path), Model: told(r.Model), Vendor: told(r.Vendor), Serial: told(r.Serial), WWN: told(r.WWN),
		Size: r.Size.Ptr(), Use: string(r.Used), Wakes: true,
	}
	switch kind := string(r.Type); kind {
	case hypervisor.DiskSSD, hypervisor.DiskNVMe:
		d.Kind, d.Wakes = kind, false
	case hypervisor.DiskHDD, hypervisor.DiskUSB:
		d.Kind = kind
	}
	if r.RPM.Set && r.RPM.N > 0 {
		d.RPM = r.RPM.Ptr()
	}
	if !health {
		return d
	}
	switch strings.ToUpper(string(r.Health)) {
	case "", "UNKNOWN":
	case "PASSED", "OK":
		d.Health = hypervisor.HealthPassed
	default:
		d.Health = hypervisor.HealthFailed
	}
	if r.Left.Set && r.Left.N >= 0 && r.Left.N <= 100 {
		used := 100 - r.Left.N
		d.Wear = &used
	}
	return d
}

// told returns a text without padding, and empty for the word that stands for
// an unknown value.
func told(text pveapi.Text) string {
	trimmed := strings.TrimSpace(string(text))
	if strings.EqualFold(trimmed, "unknown") {
		return ""
	}
	return trimmed
}

// interfaces returns the interfaces in force. Proxmox VE lists the staged ones
// as if they were.
func (h *Host) interfaces(ctx context.Context, node string) ([]hypervisor.NodeInterface, error) {
	network, err := h.NodeNetwork(ctx, node)
	if err != nil {
		return nil, err
	}
	if network.Unclear {
		return nil, plugin.Errorf(plugin.Protocol, "the node has staged network changes, and its active configuration cannot be "+
			"determined from their diff")
	}
	all := make([]hypervisor.NodeInterface, 0, len(network.Current))
	for _, i := range network.Current {
		all = append(all, hypervisor.NodeInterface{
			Name: i.Name, Type: i.Type, Active: &i.Active, Autostart: &i.Autostart, Addresses: texts(i.CIDR, i.CIDR6),
			Gateways: texts(i.Gateway, i.Gateway6), Ports: i.Ports, Comment: strings.TrimSpace(i.Comment),
		})
	}
	return all, nil
}

// texts returns the texts that are not empty.
func texts[T ~string](all ...T) []string {
	var out []string
	for _, text := range all {
		if text != "" {
			out = append(out, string(text))
		}
	}
	return out
}

// pciDevices leaves out the classes that Proxmox VE leaves out by default:
// bridges, memory controllers, processors.
func (h *Host) pciDevices(ctx context.Context, node string) ([]hypervisor.PCIDevice, error) {
	type row struct {
		ID         pveapi.Text `json:"id"`
		Class      pveapi.Text `json:"class"`
		Vendor     pveapi.Text `json:"vendor"`
		VendorName pveapi.Text `json:"vendor_name"`
		Device     pveapi.Text `json:"device"`
		DeviceName pveapi.Text `json:"device_name"`
		Group      pveapi.Int  `json:"iommugroup"` // -1 without an IOMMU
		Mediated   pveapi.Flag `json:"mdev"`
	}
	rows, err := askRows[row](ctx, h, nil, node, "hardware", "pci")
	if err != nil {
		return nil, err
	}
	devices := make([]hypervisor.PCIDevice, 0, len(rows))
	for _, row := range rows {
		d := hypervisor.PCIDevice{Address: string(row.ID), Class: string(row.Class), Vendor: string(row.Vendor),
			VendorName: string(row.VendorName), Device: string(row.Device), DeviceName: string(row.DeviceName), Mediated: bool(row.Mediated)}
		if row.Group.Set && row.Group.N >= 0 {
			d.IOMMUGroup = row.Group.Ptr()
		}
		devices = append(devices, d)
	}
	return devices, nil
}

// services reads the services of a node.
func (h *Host) services(ctx context.Context, node string) ([]hypervisor.NodeService, error) {
	type row struct {
		Name        pveapi.Text `json:"name"`
		Service     pveapi.Text `json:"service"`
		Description pveapi.Text `json:"desc"`
		State       pveapi.Text `json:"state"`
		Active      pveapi.Text `json:"active-state"`
		Unit        pveapi.Text `json:"unit-state"`
	}
	rows, err := askRows[row](ctx, h, nil, node, "services")
	if err != nil {
		return nil, err
	}
	services := make([]hypervisor.NodeService, 0, len(rows))
	for _, row := range rows {
		if row.Name == "" {
			row.Name = row.Service
		}
		services = append(services, hypervisor.NodeService{Name: string(row.Name), Description: string(row.Description),
			State: string(row.State), Active: string(row.Active), Enabled: string(row.Unit)})
	}
	slices.SortFunc(services, func(a, b hypervisor.NodeService) int { return strings.Compare(a.Name, b.Name) })
	return services, nil
}

// subscription reads neither the signature nor the server's id, and only the
// part of the key that names the product: the rest is a secret of the customer.
// A message of the server can repeat the key, so it is replaced there too.
func (h *Host) subscription(ctx context.Context, node string) (*hypervisor.Subscription, error) {
	var answer struct {
		Status  pveapi.Text `json:"status"`
		Product pveapi.Text `json:"productname"`
		Level   pveapi.Text `json:"level"`
		Message pveapi.Text `json:"message"`
		Key     pveapi.Text `json:"key"`
		Sockets pveapi.Int  `json:"sockets"`
		Due     pveapi.Text `json:"nextduedate"`
		Checked pveapi.Int  `json:"checktime"`
	}
	if _, err := h.askNode(ctx, &answer, nil, node, "subscription"); err != nil {
		return nil, err
	}
	if answer.Status == "" {
		return nil, plugin.Errorf(plugin.Protocol, "the subscription has no status")
	}
	s := &hypervisor.Subscription{
		Status: strings.ToLower(string(answer.Status)), Product: string(answer.Product), Level: string(answer.Level),
		Message: string(answer.Message), Sockets: answer.Sockets.Ptr(), Due: string(answer.Due),
	}
	if key := string(answer.Key); key != "" {
		prefix, _, found := strings.Cut(key, "-")
		if !found || len(prefix) > 8 {
			prefix = ""
		}
		s.Key = prefix + "-…"
		// The message may repeat the key.
		s.Message = strings.ReplaceAll(s.Message, key, s.Key)
	}
	if answer.Checked.Set && answer.Checked.N > 0 {
		s.Checked = time.Unix(answer.Checked.N, 0).UTC()
	}
	return s, nil
}

// system reads the name servers and the clock of a node.
func (h *Host) system(ctx context.Context, node string) (*hypervisor.NodeSystem, error) {
	var dns struct {
		First  pveapi.Text `json:"dns1"`
		Second pveapi.Text `json:"dns2"`
		Third  pveapi.Text `json:"dns3"`
		Search pveapi.Text `json:"search"`
	}
	if _, err := h.askNode(ctx, &dns, nil, node, "dns"); err != nil {
		return nil, err
	}
	var clock struct {
		Time pveapi.Int  `json:"time"`
		Zone pveapi.Text `json:"timezone"`
	}
	if _, err := h.askNode(ctx, &clock, nil, node, "time"); err != nil {
		return nil, err
	}
	if !clock.Time.Set {
		return nil, plugin.Errorf(plugin.Protocol, "the node's time is missing in the answer")
	}
	return &hypervisor.NodeSystem{Nameservers: texts(dns.First, dns.Second, dns.Third), SearchDomain: string(dns.Search),
		Timezone: string(clock.Zone), Clock: time.Unix(clock.Time.N, 0).UTC()}, nil
}
