package storage

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Volume is one object on a storage: a disk, an image, a template or a backup.
type Volume struct {
	ID        string     `json:"volid" example:"local:iso/debian.iso" doc:"ID, used as {volid} in other operations"`
	Name      string     `json:"name" example:"debian.iso" doc:"Name; the value that confirms its deletion"`
	Node      string     `json:"node" example:"pve1" doc:"Node through which the storage was listed"`
	Kind      string     `json:"kind" enum:"disk,image,template,backup,other"`
	Content   string     `json:"content" example:"iso" doc:"Content type, as the hypervisor names it"`
	Format    string     `json:"format" example:"iso"`
	SizeBytes *int64     `json:"size_bytes" doc:"Size in bytes; null if the hypervisor does not report it"`
	UsedBytes *int64     `json:"used_bytes"`
	CreatedAt *time.Time `json:"created_at" doc:"When it was created; null if the hypervisor does not report it"`
	GuestRef  *string    `json:"guest_ref" example:"101" doc:"ID on the hypervisor of the guest that owns it, according to its name; that guest may not exist. Null if no guest owns it"`
	Parent    *string    `json:"parent" doc:"Volume of which it is a linked clone"`
	Notes     string     `json:"notes"`
	Protected bool       `json:"protected"`
	Encrypted bool       `json:"encrypted"`
	Verified  *string    `json:"verified" enum:"ok,failed" doc:"Result of the last verification of a backup; null if there was none"`
}

// show converts a volume for the API. All texts come from the hypervisor and
// are cleaned.
func show(v hypervisor.Volume) Volume {
	out := Volume{
		ID: host.Clean(v.ID), Name: host.Clean(v.Name), Node: v.Node, Kind: string(v.Kind), Content: host.Clean(v.Content),
		Format: host.Clean(v.Format), SizeBytes: v.SizeBytes, UsedBytes: v.UsedBytes, Parent: host.CleanOrNil(v.Parent),
		Notes: host.Clean(v.Notes), Protected: v.Protected, Encrypted: v.Encrypted,
	}
	if !slices.Contains([]hypervisor.VolumeKind{hypervisor.VolumeDisk, hypervisor.VolumeImage, hypervisor.VolumeTemplate,
		hypervisor.VolumeBackup}, v.Kind) {
		out.Kind = string(hypervisor.VolumeOther)
	}
	if !v.CreatedAt.IsZero() {
		at := v.CreatedAt.UTC()
		out.CreatedAt = &at
	}
	if v.Guest != "" {
		ref := host.Clean(string(v.Guest))
		out.GuestRef = &ref
	}
	if v.Verified == hypervisor.BackupVerified || v.Verified == hypervisor.BackupDamaged {
		out.Verified = &v.Verified
	}
	return out
}

// ContentFilter narrows Content. A zero field does not filter. Search is a part
// of the ID in any case.
type ContentFilter struct {
	Node, Content, Kind, Search, GuestRef string
}

// ContentPage is one page of the content of a storage.
type ContentPage struct {
	Volumes []Volume
	// Total is the number of volumes on all pages.
	Total int
	// Hidden lists the types of content that the host's tokens cannot see
	// completely.
	Hidden []string
}

// Content lists the content of a storage by kind and name. It asks the
// hypervisor each time, and cuts the page afterwards. It uses the token for
// lifecycle, which can see more, or the one for monitoring if the host has no
// other. Problems: not_found, unsupported, and those of host.Call.
func (s *Store) Content(ctx context.Context, hostID int64, name string, f ContentFilter, offset, limit int) (ContentPage, error) {
	p, err := s.find(ctx, hostID, name)
	if err == nil {
		err = p.require()
	}
	if err != nil {
		return ContentPage{}, err
	}
	node, err := p.on(f.Node)
	if err != nil {
		return ContentPage{}, err
	}
	list, err := s.list(ctx, &p, hypervisor.ContentQuery{Node: node, Content: f.Content, Kind: hypervisor.VolumeKind(f.Kind)})
	if err != nil {
		return ContentPage{}, err
	}
	page := ContentPage{Volumes: []Volume{}, Hidden: []string{}}
	for _, content := range list.Hidden {
		if len(p.known.Content) == 0 || slices.Contains(p.known.Content, content) {
			page.Hidden = append(page.Hidden, host.Clean(content))
		}
	}
	all := slices.DeleteFunc(list.Volumes, func(v hypervisor.Volume) bool {
		return f.Kind != "" && string(v.Kind) != f.Kind || f.GuestRef != "" && string(v.Guest) != f.GuestRef ||
			f.Search != "" && !strings.Contains(strings.ToLower(v.ID), strings.ToLower(f.Search))
	})
	slices.SortFunc(all, func(a, b hypervisor.Volume) int {
		return strings.Compare(string(a.Kind)+"\x00"+a.ID, string(b.Kind)+"\x00"+b.ID)
	})
	page.Total = len(all)
	from := min(offset, len(all))
	for _, v := range all[from:min(from+limit, len(all))] {
		page.Volumes = append(page.Volumes, show(v))
	}
	return page, nil
}

// reads returns the capability whose token can see most of a host's storages.
func (s *Store) reads(ctx context.Context, hostID int64) (endpoint.Capability, error) {
	has, err := s.Hosts.Has(ctx, hostID, endpoint.Lifecycle)
	switch {
	case has:
		return endpoint.Lifecycle, nil
	case err != nil && problem.CodeOf(err) != problem.CodeUnsupported:
		return "", err
	}
	return endpoint.Monitoring, nil
}

// list asks for the content of a storage as a node sees it. It sets the query's
// Storage.
func (s *Store) list(ctx context.Context, p *place, query hypervisor.ContentQuery) (hypervisor.ContentList, error) {
	query.Storage = p.name
	token, err := s.reads(ctx, p.hostID)
	if err != nil {
		return hypervisor.ContentList{}, err
	}
	list, err := host.Call(ctx, s.Hosts, p.hostID, token, func(ctx context.Context,
		l hypervisor.ContentLister) (hypervisor.ContentList, error) {
		return l.Content(ctx, query)
	})
	return list, host.UnknownNode(err)
}
