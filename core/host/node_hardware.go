package host

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// NodeHardware is the hardware information of one node. A section that could
// not be read is null and listed in Unreadable.
type NodeHardware struct {
	Node string `json:"node" example:"pve1"`
	// HealthAsked is whether the disks were asked, so that what they do not say is unknown and not merely unasked.
	HealthAsked  bool              `json:"health_asked" example:"false" doc:"true if health and wear of the disks were read; otherwise both are null and no disk was woken up"`
	Disks        []NodeDisk        `json:"disks" nullable:"true"`
	Interfaces   []NodeInterface   `json:"interfaces" nullable:"true" doc:"Physical interfaces, bonds, bridges and VLANs as currently active, without staged changes"`
	PCI          []PCIDevice       `json:"pci" nullable:"true" doc:"PCI devices that a guest can use; the list may omit bridges, memory controllers and processors"`
	Services     []NodeService     `json:"services" nullable:"true" doc:"Services of the hypervisor"`
	Subscription *NodeSubscription `json:"subscription"`
	System       *NodeSystem       `json:"system" doc:"DNS servers and clock"`
	Unreadable   []Unreadable      `json:"unreadable" doc:"Sections that are null, and the reasons"`
}

// Unreadable says why a section could not be read.
type Unreadable struct {
	Section string   `json:"section" enum:"disks,interfaces,pci,services,subscription,system" example:"pci"`
	Reason  string   `json:"reason" example:"permission" doc:"permission, unsupported, timeout, unreachable, tls_fingerprint, auth, protocol, refused or plugin"`
	Detail  string   `json:"detail" example:"the host denied access"`
	Missing []string `json:"missing" doc:"Privileges that the monitoring token lacks"`
	Path    *string  `json:"path" example:"/nodes/pve1" doc:"Path on which the privileges are missing"`
	Remedy  *string  `json:"remedy" doc:"Command that grants the missing privileges"`
}

// NodeDisk is a disk of a node.
type NodeDisk struct {
	Path        string  `json:"path" example:"/dev/sda"`
	Kind        *string `json:"kind" enum:"hdd,ssd,nvme,usb" example:"ssd"`
	Model       *string `json:"model" example:"SAMSUNG MZQL2960HCJR"`
	Vendor      *string `json:"vendor" example:"ATA"`
	Serial      *string `json:"serial" example:"S64FNE0R"`
	WWN         *string `json:"wwn" example:"0x5000c500a1b2c3d4"`
	SizeBytes   *int64  `json:"size_bytes" example:"960197124096"`
	RPM         *int64  `json:"rpm" example:"7200" doc:"Rotations per minute; null for a disk without rotating parts"`
	Use         *string `json:"use" example:"LVM" doc:"Use of the disk, as the hypervisor names it; null for an unused disk"`
	Health      *string `json:"health" enum:"passed,failed" example:"passed" doc:"Health that the disk reports; null if not requested or not reported"`
	WearPercent *int64  `json:"wear_percent" example:"3" doc:"Used part of its lifetime in percent, 0 to 100; null if health is null, and for disks that do not wear out"`
	Wakes       bool    `json:"wakes" example:"false" doc:"true if the disk may be in standby and reading its health wakes it up"`
}

// NodeInterface is a network interface of a node.
type NodeInterface struct {
	Name      string   `json:"name" example:"vmbr0"`
	Type      string   `json:"type" example:"bridge" doc:"Type, as in the list of networks"`
	Active    *bool    `json:"active" example:"true"`
	Autostart *bool    `json:"autostart" example:"true"`
	Addresses []string `json:"addresses" example:"[\"192.0.2.10/24\"]"`
	Gateways  []string `json:"gateways" example:"[\"192.0.2.1\"]"`
	Ports     []string `json:"ports" example:"[\"eno1\"]" doc:"Ports of a bridge or a bond"`
	Comment   *string  `json:"comment" example:"guests"`
}

// PCIDevice is a device on a node's PCI bus.
type PCIDevice struct {
	Address    string  `json:"address" example:"0000:01:00.0"`
	Class      *string `json:"class" example:"0x030000"`
	Vendor     *string `json:"vendor" example:"0x10de"`
	VendorName *string `json:"vendor_name" example:"NVIDIA Corporation"`
	Device     *string `json:"device" example:"0x2236"`
	DeviceName *string `json:"device_name" example:"GA102GL [A10]"`
	IOMMUGroup *int64  `json:"iommu_group" example:"12" doc:"IOMMU group; null without an IOMMU, which means that no guest can use the device"`
	Mediated   bool    `json:"mediated" example:"false" doc:"true if it can be divided among guests"`
}

// NodeService is one of the hypervisor's services on a node.
type NodeService struct {
	Name        string  `json:"name" example:"apid"`
	Description *string `json:"description" example:"API proxy"`
	State       *string `json:"state" example:"running"`
	Active      *string `json:"active" example:"active"`
	Enabled     *string `json:"enabled" example:"enabled"`
}

// NodeSubscription is what the node's maker is paid for.
type NodeSubscription struct {
	Status    *string    `json:"status" example:"active"`
	Product   *string    `json:"product" example:"Community Subscription 1 CPU/year"`
	Level     *string    `json:"level" example:"c"`
	Message   *string    `json:"message"`
	Key       *string    `json:"key" example:"abc1c-…" doc:"Subscription key, masked"`
	Sockets   *int64     `json:"sockets" example:"1"`
	Due       *string    `json:"due" example:"2027-01-31"`
	CheckedAt *time.Time `json:"checked_at" example:"2026-01-31T12:00:00Z"`
}

// NodeSystem is how a node finds names and what its clock says.
type NodeSystem struct {
	Nameservers  []string   `json:"nameservers" example:"[\"192.0.2.53\"]"`
	SearchDomain *string    `json:"search_domain" example:"example.com"`
	Timezone     *string    `json:"timezone" example:"Etc/UTC"`
	Clock        *time.Time `json:"clock" example:"2026-01-31T12:00:00Z" doc:"Clock of the node"`
}

// section is what became of one question.
type section struct {
	name  hypervisor.HardwareSection
	found hypervisor.NodeHardware
	err   error
}

// NodeHardware asks a node for all sections at once, each within three quarters
// of the store's limit; nothing of it is kept. With health the disks are asked
// too, which wakes those that sleep. Only when no section could be read is that
// an error: that of a section, one that came in place of an answer before one
// that means that none came. It is hypervisor_error also where nothing came in
// time, or where the node has none of the sections; unsupported is a driver
// that knows of none.
func (s *Store) NodeHardware(ctx context.Context, id int64, node string, health bool) (NodeHardware, error) {
	limit := s.timeout * 3 / 4
	sections, err := Call(ctx, s, id, endpoint.Monitoring, func(ctx context.Context, r hypervisor.HardwareReader) ([]section, error) {
		names := hypervisor.HardwareSections()
		sections := make([]section, len(names))
		var asked sync.WaitGroup
		for i, name := range names {
			asked.Go(func() {
				ctx, cancel := context.WithTimeout(ctx, limit)
				defer cancel()
				query := hypervisor.HardwareQuery{Node: node, Section: name, Health: health}
				found, err := r.NodeHardware(ctx, query)
				if err != nil && ctx.Err() == context.DeadlineExceeded {
					err = sdk.Errorf(sdk.Timeout, "the node did not answer within %s: %w", limit, err)
				}
				sections[i] = section{name, found, err}
			})
		}
		asked.Wait()
		return sections, nothingRead(sections)
	})
	if problem.CodeOf(err) == problem.CodeTimeout {
		err = unread(err)
	}
	if err != nil {
		return NodeHardware{}, UnknownNode(err)
	}
	return nodeHardwareOf(node, health, sections), nil
}

// nothingRead is nil when a section was read, else the error that tells most.
func nothingRead(sections []section) error {
	if slices.ContainsFunc(sections, func(s section) bool { return s.err == nil }) {
		return nil
	}
	says := slices.IndexFunc(sections, func(s section) bool {
		kind := sdk.KindOf(s.err)
		return kind != sdk.Timeout && kind != sdk.Unsupported
	})
	if says < 0 {
		return unread(sections[0].err)
	}
	return sections[says].err
}

// unread is the error of a node that told of no section for one of the reasons
// that an unreadable section has.
func unread(err error) error {
	u := unreadable("", err)
	return problem.New(problem.CodeHypervisorError, "%s", u.Detail).With("reason", u.Reason).WithCause(err)
}

// nodeHardwareOf makes what a plugin says fit for JSON.
func nodeHardwareOf(node string, health bool, sections []section) NodeHardware {
	out := NodeHardware{Node: node, HealthAsked: health, Unreadable: []Unreadable{}}
	for _, s := range sections {
		if s.err == nil && (s.name == hypervisor.HardwareSubscription && s.found.Subscription == nil ||
			s.name == hypervisor.HardwareSystem && s.found.System == nil) {
			s.err = sdk.Errorf(sdk.Protocol, "the plugin's answer lacks the section")
		}
		if s.err != nil {
			out.Unreadable = append(out.Unreadable, unreadable(s.name, s.err))
			continue
		}
		switch s.name {
		case hypervisor.HardwareDisks:
			out.Disks = each(s.found.Disks, func(d *hypervisor.NodeDisk) NodeDisk { return nodeDiskOf(d, health) })
		case hypervisor.HardwareInterfaces:
			out.Interfaces = each(s.found.Interfaces, nodeInterfaceOf)
		case hypervisor.HardwarePCI:
			out.PCI = each(s.found.PCI, pciDeviceOf)
		case hypervisor.HardwareServices:
			out.Services = each(s.found.Services, nodeServiceOf)
		case hypervisor.HardwareSubscription:
			out.Subscription = subscriptionOf(s.found.Subscription)
		case hypervisor.HardwareSystem:
			out.System = nodeSystemOf(s.found.System)
		}
	}
	return out
}

// unreadable is an error as a row.
func unreadable(name hypervisor.HardwareSection, err error) Unreadable {
	p := problem.From(plugin.Problem(err))
	u := Unreadable{Section: string(name), Missing: []string{}}
	u.Reason, u.Detail = Reason(err)
	if p.Code == problem.CodeUnsupported {
		u.Reason = "unsupported"
	}
	u.Detail = Clean(u.Detail)
	if missing, ok := p.Members["missing"].([]string); ok {
		u.Missing = cleanAll(missing)
	}
	if path, ok := p.Members["path"].(string); ok {
		u.Path = CleanOrNil(path)
	}
	if remedy, ok := p.Members["remedy"].(string); ok {
		u.Remedy = CleanOrNil(remedy)
	}
	return u
}

// each converts a list and is never nil.
func each[From, To any](rows []From, convert func(*From) To) []To {
	out := make([]To, 0, len(rows))
	for i := range rows {
		out = append(out, convert(&rows[i]))
	}
	return out
}

// oneOf is nil for a word that is none of those that there are.
func oneOf(word string, words ...string) *string {
	if slices.Contains(words, word) {
		return &word
	}
	return nil
}

// instant is nil for a time that was not told or that JSON has no form for.
func instant(t time.Time) *time.Time {
	t = t.UTC()
	if t.IsZero() || t.Year() < 0 || t.Year() > 9999 {
		return nil
	}
	return &t
}

func nodeDiskOf(d *hypervisor.NodeDisk, health bool) NodeDisk {
	out := NodeDisk{
		Path: Clean(d.Path), Kind: oneOf(d.Kind, hypervisor.DiskHDD, hypervisor.DiskSSD, hypervisor.DiskNVMe, hypervisor.DiskUSB),
		Model: CleanOrNil(d.Model), Vendor: CleanOrNil(d.Vendor), Serial: CleanOrNil(d.Serial), WWN: CleanOrNil(d.WWN),
		SizeBytes: d.Size, RPM: d.RPM, Use: CleanOrNil(d.Use), Wakes: d.Wakes,
	}
	if health {
		out.Health = oneOf(d.Health, hypervisor.HealthPassed, hypervisor.HealthFailed)
		if d.Wear != nil && *d.Wear >= 0 && *d.Wear <= 100 {
			out.WearPercent = d.Wear
		}
	}
	return out
}

func nodeInterfaceOf(i *hypervisor.NodeInterface) NodeInterface {
	return NodeInterface{Name: Clean(i.Name), Type: Clean(i.Type), Active: i.Active, Autostart: i.Autostart,
		Addresses: cleanAll(i.Addresses), Gateways: cleanAll(i.Gateways), Ports: cleanAll(i.Ports), Comment: CleanOrNil(i.Comment)}
}

func pciDeviceOf(d *hypervisor.PCIDevice) PCIDevice {
	return PCIDevice{Address: Clean(d.Address), Class: CleanOrNil(d.Class), Vendor: CleanOrNil(d.Vendor),
		VendorName: CleanOrNil(d.VendorName), Device: CleanOrNil(d.Device), DeviceName: CleanOrNil(d.DeviceName),
		IOMMUGroup: d.IOMMUGroup, Mediated: d.Mediated}
}

func nodeServiceOf(s *hypervisor.NodeService) NodeService {
	return NodeService{Name: Clean(s.Name), Description: CleanOrNil(s.Description), State: CleanOrNil(s.State),
		Active: CleanOrNil(s.Active), Enabled: CleanOrNil(s.Enabled)}
}

func subscriptionOf(s *hypervisor.Subscription) *NodeSubscription {
	return &NodeSubscription{Status: CleanOrNil(s.Status), Product: CleanOrNil(s.Product), Level: CleanOrNil(s.Level),
		Message: CleanOrNil(s.Message), Key: CleanOrNil(s.Key), Sockets: s.Sockets, Due: CleanOrNil(s.Due), CheckedAt: instant(s.Checked)}
}

func nodeSystemOf(s *hypervisor.NodeSystem) *NodeSystem {
	return &NodeSystem{Nameservers: cleanAll(s.Nameservers), SearchDomain: CleanOrNil(s.SearchDomain), Timezone: CleanOrNil(s.Timezone),
		Clock: instant(s.Clock)}
}
