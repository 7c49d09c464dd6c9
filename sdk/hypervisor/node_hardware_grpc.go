package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func (h *remoteHost) NodeHardware(ctx context.Context, query HardwareQuery) (NodeHardware, error) {
	req := hardwareQueryToProto(query)
	req.Target = h.target
	answer, err := wire.Call(ctx, hypervisorv1.NewHardwareReadServiceClient(h.client.conn).NodeHardware, req)
	if err != nil {
		return NodeHardware{}, err
	}
	return nodeHardwareFromProto(answer), nil
}

type hardwareReadServer struct {
	hypervisorv1.UnimplementedHardwareReadServiceServer
	*server
}

func (s *hardwareReadServer) NodeHardware(ctx context.Context, req *hypervisorv1.NodeHardwareRequest) (
	*hypervisorv1.NodeHardwareResponse, error) {
	return serve(ctx, s.server, req, func(host HardwareReader) (*hypervisorv1.NodeHardwareResponse, error) {
		hardware, err := host.NodeHardware(ctx, hardwareQueryFromProto(req))
		return nodeHardwareToProto(&hardware), err
	})
}

func hardwareQueryToProto(q HardwareQuery) *hypervisorv1.NodeHardwareRequest {
	return &hypervisorv1.NodeHardwareRequest{Node: wire.Text(q.Node), Section: wire.Text(string(q.Section)), Health: q.Health}
}

func hardwareQueryFromProto(q *hypervisorv1.NodeHardwareRequest) HardwareQuery {
	return HardwareQuery{Node: q.GetNode(), Section: HardwareSection(q.GetSection()), Health: q.GetHealth()}
}

func nodeHardwareToProto(h *NodeHardware) *hypervisorv1.NodeHardwareResponse {
	out := &hypervisorv1.NodeHardwareResponse{
		Disks: wire.Each(h.Disks, nodeDiskToProto), Interfaces: wire.Each(h.Interfaces, nodeInterfaceToProto),
		Pci: wire.Each(h.PCI, pciDeviceToProto), Services: wire.Each(h.Services, nodeServiceToProto),
	}
	out.Subscription = subscriptionToProto(h.Subscription)
	if s := h.System; s != nil {
		out.System = &hypervisorv1.NodeSystem{Nameservers: wire.Texts(s.Nameservers), SearchDomain: wire.Text(s.SearchDomain),
			Timezone: wire.Text(s.Timezone), Clock: wire.Timestamp(s.Clock)}
	}
	return out
}

func nodeHardwareFromProto(h *hypervisorv1.NodeHardwareResponse) NodeHardware {
	out := NodeHardware{
		Disks: wire.Each(h.GetDisks(), nodeDiskFromProto), Interfaces: wire.Each(h.GetInterfaces(), nodeInterfaceFromProto),
		PCI: wire.Each(h.GetPci(), pciDeviceFromProto), Services: wire.Each(h.GetServices(), nodeServiceFromProto),
	}
	out.Subscription = subscriptionFromProto(h.GetSubscription())
	if s := h.GetSystem(); s != nil {
		out.System = &NodeSystem{Nameservers: s.GetNameservers(), SearchDomain: s.GetSearchDomain(), Timezone: s.GetTimezone(),
			Clock: wire.Time(s.GetClock())}
	}
	return out
}

// subscriptionToProto and subscriptionFromProto keep nil.
func subscriptionToProto(s *Subscription) *hypervisorv1.Subscription {
	if s == nil {
		return nil
	}
	return &hypervisorv1.Subscription{
		Status: wire.Text(s.Status), Product: wire.Text(s.Product), Level: wire.Text(s.Level), Message: wire.Text(s.Message),
		Key: wire.Text(s.Key), Sockets: s.Sockets, Due: wire.Text(s.Due), Checked: wire.Timestamp(s.Checked),
	}
}

func subscriptionFromProto(s *hypervisorv1.Subscription) *Subscription {
	if s == nil {
		return nil
	}
	return &Subscription{
		Status: s.GetStatus(), Product: s.GetProduct(), Level: s.GetLevel(), Message: s.GetMessage(), Key: s.GetKey(),
		Sockets: s.Sockets, Due: s.GetDue(), Checked: wire.Time(s.GetChecked()),
	}
}

func nodeDiskToProto(d NodeDisk) *hypervisorv1.NodeDisk {
	return &hypervisorv1.NodeDisk{
		Path: wire.Text(d.Path), Kind: wire.Text(d.Kind), Model: wire.Text(d.Model), Vendor: wire.Text(d.Vendor), Serial: wire.Text(d.Serial),
		Wwn: wire.Text(d.WWN), Size: d.Size, Rpm: d.RPM, Use: wire.Text(d.Use), Health: wire.Text(d.Health), Wear: d.Wear, Wakes: d.Wakes,
	}
}

func nodeDiskFromProto(d *hypervisorv1.NodeDisk) NodeDisk {
	return NodeDisk{
		Path: d.GetPath(), Kind: d.GetKind(), Model: d.GetModel(), Vendor: d.GetVendor(), Serial: d.GetSerial(),
		WWN: d.GetWwn(), Size: d.Size, RPM: d.Rpm, Use: d.GetUse(), Health: d.GetHealth(), Wear: d.Wear, Wakes: d.GetWakes(),
	}
}

func nodeInterfaceToProto(i NodeInterface) *hypervisorv1.NodeInterface {
	return &hypervisorv1.NodeInterface{
		Name: wire.Text(i.Name), Type: wire.Text(i.Type), Active: i.Active, Autostart: i.Autostart, Addresses: wire.Texts(i.Addresses),
		Gateways: wire.Texts(i.Gateways), Ports: wire.Texts(i.Ports), Comment: wire.Text(i.Comment),
	}
}

func nodeInterfaceFromProto(i *hypervisorv1.NodeInterface) NodeInterface {
	return NodeInterface{
		Name: i.GetName(), Type: i.GetType(), Active: i.Active, Autostart: i.Autostart, Addresses: i.GetAddresses(),
		Gateways: i.GetGateways(), Ports: i.GetPorts(), Comment: i.GetComment(),
	}
}

func pciDeviceToProto(d PCIDevice) *hypervisorv1.PCIDevice {
	return &hypervisorv1.PCIDevice{
		Address: wire.Text(d.Address), Class: wire.Text(d.Class), Vendor: wire.Text(d.Vendor), VendorName: wire.Text(d.VendorName),
		Device: wire.Text(d.Device), DeviceName: wire.Text(d.DeviceName), IommuGroup: d.IOMMUGroup, Mediated: d.Mediated,
	}
}

func pciDeviceFromProto(d *hypervisorv1.PCIDevice) PCIDevice {
	return PCIDevice{
		Address: d.GetAddress(), Class: d.GetClass(), Vendor: d.GetVendor(), VendorName: d.GetVendorName(),
		Device: d.GetDevice(), DeviceName: d.GetDeviceName(), IOMMUGroup: d.IommuGroup, Mediated: d.GetMediated(),
	}
}

func nodeServiceToProto(s NodeService) *hypervisorv1.NodeService {
	return &hypervisorv1.NodeService{Name: wire.Text(s.Name), Description: wire.Text(s.Description), State: wire.Text(s.State),
		Active: wire.Text(s.Active), Enabled: wire.Text(s.Enabled)}
}

func nodeServiceFromProto(s *hypervisorv1.NodeService) NodeService {
	return NodeService{Name: s.GetName(), Description: s.GetDescription(), State: s.GetState(), Active: s.GetActive(),
		Enabled: s.GetEnabled()}
}
