package catalog

import (
	"github.com/hostler/hostler/sdk/plugin/wire"
	catalogv1 "github.com/hostler/hostler/sdk/proto/hostler/catalog/v1"
)

func infoToProto(i Info) *catalogv1.InfoResponse {
	return &catalogv1.InfoResponse{
		Title: wire.Text(i.Title), Trust: wire.Text(i.Trust), Options: wire.Each(i.Options, optionToProto),
	}
}

// infoFromProto leaves what a Description says to its caller.
func infoFromProto(i *catalogv1.InfoResponse) Info {
	return Info{Title: i.GetTitle(), Trust: i.GetTrust(), Options: wire.Each(i.GetOptions(), optionFromProto)}
}

func optionToProto(o Option) *catalogv1.Option {
	return &catalogv1.Option{
		Key: wire.Text(o.Key), Type: wire.Text(string(o.Type)), Values: wire.Texts(o.Values), Default: wire.Text(o.Default),
		Description: wire.Text(o.Description), Required: o.Required, Secret: o.Secret, Min: o.Min, Max: o.Max,
	}
}

func optionFromProto(o *catalogv1.Option) Option {
	return Option{
		Key: o.GetKey(), Type: OptionType(o.GetType()), Values: o.GetValues(), Default: o.GetDefault(),
		Description: o.GetDescription(), Required: o.GetRequired(), Secret: o.GetSecret(), Min: o.GetMin(), Max: o.GetMax(),
	}
}

func configToProto(c Config) *catalogv1.Config {
	return &catalogv1.Config{
		Options: textMap(c.Options), Cache: wire.Text(c.Cache), AllowPrivate: c.AllowPrivate, AllowLoopback: c.AllowLoopback,
	}
}

func configFromProto(c *catalogv1.Config) Config {
	return Config{
		Options: c.GetOptions(), Cache: c.GetCache(), AllowPrivate: c.GetAllowPrivate(), AllowLoopback: c.GetAllowLoopback(),
	}
}

func textMap(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[wire.Text(k)] = wire.Text(v)
	}
	return out
}

func pinToProto(p Pin) []*catalogv1.PinPart { return wire.Each(p, pinPartToProto) }

func pinFromProto(p []*catalogv1.PinPart) Pin { return wire.Each(p, pinPartFromProto) }

func pinPartToProto(p PinPart) *catalogv1.PinPart {
	return &catalogv1.PinPart{Repository: wire.Text(p.Repository), Commit: wire.Text(p.Commit)}
}

func pinPartFromProto(p *catalogv1.PinPart) PinPart {
	return PinPart{Repository: p.GetRepository(), Commit: p.GetCommit()}
}

func entryToProto(e Entry) *catalogv1.Entry {
	return &catalogv1.Entry{
		Slug: wire.Text(e.Slug), Digest: wire.Text(e.Digest), Type: wire.Text(string(e.Type)), Name: wire.Text(e.Name),
		Description: wire.Text(e.Description), Categories: wire.Texts(e.Categories), Tags: wire.Texts(e.Tags),
		Authors: wire.Texts(e.Authors), Licence: wire.Text(e.Licence), Website: wire.Text(e.Website), Docs: wire.Text(e.Docs),
		Sources: wire.Texts(e.Sources), Web: webToProto(e.Web), Defaults: defaultsToProto(e.Defaults),
		ConfigPath: wire.Text(e.ConfigPath), Credentials: wire.Text(e.Credentials), Notes: wire.Each(e.Notes, noteToProto),
		Created: wire.Timestamp(e.Created), Updated: wire.Timestamp(e.Updated), Updatable: e.Updatable,
		Disabled: wire.Text(e.Disabled), Removed: wire.Text(e.Removed), Successor: wire.Text(e.Successor),
		VariantOf: wire.Text(e.VariantOf), Architectures: wire.Texts(e.Architectures), Prompts: int64(e.Prompts), NeedsYes: e.NeedsYes,
		Icon: wire.Text(e.Icon), App: pinToProto(e.App), Privileges: wire.Each(e.Privileges, privilegeToProto),
		Overrides: wire.Each(e.Overrides, optionToProto),
	}
}

func entryFromProto(e *catalogv1.Entry) Entry {
	return Entry{
		Slug: e.GetSlug(), Digest: e.GetDigest(), Type: EntryType(e.GetType()), Name: e.GetName(), Description: e.GetDescription(),
		Categories: e.GetCategories(), Tags: e.GetTags(), Authors: e.GetAuthors(), Licence: e.GetLicence(), Website: e.GetWebsite(),
		Docs: e.GetDocs(), Sources: e.GetSources(), Web: webFromProto(e.GetWeb()), Defaults: defaultsFromProto(e.GetDefaults()),
		ConfigPath: e.GetConfigPath(), Credentials: e.GetCredentials(), Notes: wire.Each(e.GetNotes(), noteFromProto),
		Created: wire.Time(e.GetCreated()), Updated: wire.Time(e.GetUpdated()), Updatable: e.GetUpdatable(), Disabled: e.GetDisabled(),
		Removed: e.GetRemoved(), Successor: e.GetSuccessor(), VariantOf: e.GetVariantOf(), Architectures: e.GetArchitectures(),
		Prompts: int(e.GetPrompts()), NeedsYes: e.GetNeedsYes(), Icon: e.GetIcon(), App: pinFromProto(e.GetApp()),
		Privileges: wire.Each(e.GetPrivileges(), privilegeFromProto), Overrides: wire.Each(e.GetOverrides(), optionFromProto),
	}
}

func webToProto(w *Web) *catalogv1.Web {
	if w == nil {
		return nil
	}
	return &catalogv1.Web{Protocol: wire.Text(w.Protocol), Port: int64(w.Port), Path: wire.Text(w.Path)}
}

func webFromProto(w *catalogv1.Web) *Web {
	if w == nil {
		return nil
	}
	return &Web{Protocol: w.GetProtocol(), Port: int(w.GetPort()), Path: w.GetPath()}
}

func defaultsToProto(d Defaults) *catalogv1.Defaults {
	return &catalogv1.Defaults{
		Cores: int64(d.Cores), MemoryMb: int64(d.MemoryMB), DiskGb: int64(d.DiskGB), Os: wire.Text(d.OS),
		OsVersion: wire.Text(d.OSVersion), Privileged: d.Privileged,
	}
}

func defaultsFromProto(d *catalogv1.Defaults) Defaults {
	return Defaults{
		Cores: int(d.GetCores()), MemoryMB: int(d.GetMemoryMb()), DiskGB: int(d.GetDiskGb()), OS: d.GetOs(), OSVersion: d.GetOsVersion(),
		Privileged: d.GetPrivileged(),
	}
}

func noteToProto(n Note) *catalogv1.Note {
	return &catalogv1.Note{Level: wire.Text(string(n.Level)), Text: wire.Text(n.Text)}
}

func noteFromProto(n *catalogv1.Note) Note {
	return Note{Level: NoteLevel(n.GetLevel()), Text: n.GetText()}
}

func privilegeToProto(p Privilege) *catalogv1.Privilege {
	return &catalogv1.Privilege{Key: wire.Text(p.Key), Text: wire.Text(p.Text)}
}

func privilegeFromProto(p *catalogv1.Privilege) Privilege {
	return Privilege{Key: p.GetKey(), Text: p.GetText()}
}
