package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

type configReadServer struct {
	hypervisorv1.UnimplementedConfigReadServiceServer
	*server
}

func (h *remoteHost) Config(ctx context.Context, guest GuestRef) (Config, error) {
	req := &hypervisorv1.ConfigRequest{Target: h.target, Guest: refToProto(guest)}
	answer, err := wire.Call(ctx, hypervisorv1.NewConfigReadServiceClient(h.client.conn).Config, req)
	switch {
	case err != nil:
		return Config{}, err
	case answer.GetConfig() == nil:
		return Config{}, wire.MissingPart("configuration")
	}
	return configFromProto(answer.GetConfig()), nil
}

func (s *configReadServer) Config(ctx context.Context, req *hypervisorv1.ConfigRequest) (*hypervisorv1.ConfigResponse, error) {
	return serve(ctx, s.server, req, func(host ConfigReader) (*hypervisorv1.ConfigResponse, error) {
		config, err := host.Config(ctx, refFromProto(req.GetGuest()))
		return &hypervisorv1.ConfigResponse{Config: configToProto(config)}, err
	})
}

func configToProto(c Config) *hypervisorv1.Config {
	return &hypervisorv1.Config{
		Digest: wire.Text(c.Digest), Name: wire.Text(c.Name), Description: wire.Text(c.Description), Tags: wire.Texts(c.Tags),
		Protected: c.Protected, Mark: wire.Text(c.Mark), OsType: wire.Text(c.OSType), CpuType: wire.Text(c.CPUType),
		Cores: c.Cores, Sockets: c.Sockets, MemoryMb: c.MemoryMB, BalloonMb: c.BalloonMB, SwapMb: c.SwapMB,
		Disks: wire.Each(c.Disks, diskToProto), Nics: wire.Each(c.NICs, nicToProto), Options: textsToProto(c.Options),
		Pending: optionalsToProto(c.Pending), Files: wire.Each(c.Files, fileToProto),
	}
}

func configFromProto(c *hypervisorv1.Config) Config {
	return Config{
		Digest: c.GetDigest(), Name: c.GetName(), Description: c.GetDescription(), Tags: c.GetTags(), Protected: c.GetProtected(),
		Mark: c.GetMark(), OSType: c.GetOsType(), CPUType: c.GetCpuType(), Cores: c.Cores, Sockets: c.Sockets, MemoryMB: c.MemoryMb,
		BalloonMB: c.BalloonMb, SwapMB: c.SwapMb, Disks: wire.Each(c.GetDisks(), diskFromProto), NICs: wire.Each(c.GetNics(), nicFromProto),
		Options: c.GetOptions(), Pending: optionalsFromProto(c.GetPending()), Files: wire.Each(c.GetFiles(), fileFromProto),
	}
}

func diskToProto(d Disk) *hypervisorv1.Disk {
	return &hypervisorv1.Disk{
		Key: wire.Text(d.Key), Storage: wire.Text(d.Storage), Volume: wire.Text(d.Volume), SizeGb: d.SizeGB, Removable: d.Removable,
		Local: d.Local, Path: wire.Text(d.Path), Unused: d.Unused, Pending: d.Pending, Owner: wire.Text(string(d.Owner)), Kept: d.Kept,
		LeftOut: d.LeftOut, Shared: d.Shared, LeftOutReason: wire.Text(d.LeftOutReason), Raw: wire.Text(d.Raw),
	}
}

func diskFromProto(d *hypervisorv1.Disk) Disk {
	return Disk{
		Key: d.GetKey(), Storage: d.GetStorage(), Volume: d.GetVolume(), SizeGB: d.SizeGb, Removable: d.GetRemovable(), Local: d.GetLocal(),
		Path: d.GetPath(), Unused: d.GetUnused(), Pending: d.GetPending(), Owner: GuestID(d.GetOwner()), Kept: d.GetKept(),
		LeftOut: d.GetLeftOut(), Shared: d.GetShared(), LeftOutReason: d.GetLeftOutReason(), Raw: d.GetRaw(),
	}
}

func fileToProto(f File) *hypervisorv1.File {
	return &hypervisorv1.File{Key: wire.Text(f.Key), Storage: wire.Text(f.Storage), Volume: wire.Text(f.Volume)}
}

func fileFromProto(f *hypervisorv1.File) File {
	return File{Key: f.GetKey(), Storage: f.GetStorage(), Volume: f.GetVolume()}
}

func textsToProto(texts map[string]string) map[string]string {
	if len(texts) == 0 {
		return nil
	}
	out := make(map[string]string, len(texts))
	for key, text := range texts {
		out[wire.Text(key)] = wire.Text(text)
	}
	return out
}

// optionalsToProto and optionalsFromProto are for texts of which nil means that a key is removed.
func optionalsToProto(texts map[string]*string) map[string]*hypervisorv1.OptionalText {
	if len(texts) == 0 {
		return nil
	}
	out := make(map[string]*hypervisorv1.OptionalText, len(texts))
	for key, text := range texts {
		out[wire.Text(key)] = &hypervisorv1.OptionalText{Text: optionalText(text)}
	}
	return out
}

func optionalsFromProto(texts map[string]*hypervisorv1.OptionalText) map[string]*string {
	if len(texts) == 0 {
		return nil
	}
	out := make(map[string]*string, len(texts))
	for key, text := range texts {
		if text == nil {
			out[key] = nil
			continue
		}
		out[key] = text.Text
	}
	return out
}

func optionalText(text *string) *string {
	if text == nil {
		return nil
	}
	fit := wire.Text(*text)
	return &fit
}
