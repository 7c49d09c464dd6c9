package firewall

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/firewall"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

func (h handlers) registerIPSets(a *op.API, d declared) {
	const things, one, members, member = "/ipsets", "/ipsets/:name", "/ipsets/:name/members", "/ipsets/:name/members/*cidr"
	op.Get(a, d.path+things, h.ipSets, d.read("list_%_ipsets", "List the IP sets", things,
		"Lists named sets of addresses and networks that rules can use. Reads from the hypervisor. "+lacking))
	op.Post(a, d.path+things, h.createIPSet, d.write("create_%_ipset", "Create an IP set", things, "ipset_create",
		"Creates a set without members. A name that is taken is 409 `conflict`. "+lacking+stale))
	op.Delete(a, d.path+one, h.deleteIPSet, d.write("delete_%_ipset", "Delete an IP set", one, "ipset_delete",
		inUse+
			"The same applies to a set that has `members`, which are deleted with it. "+lacking+stale))
	op.Get(a, d.path+members, h.members, d.read("list_%_ipset_members", "List the members of an IP set", members,
		"Reads from the hypervisor. "+lacking))
	op.Post(a, d.path+members, h.addMember, d.write("add_%_ipset_member", "Add a member to an IP set", members,
		"ipset_member_add", "A member that exists is 409 `conflict`. "+lacking+stale))
	op.Put(a, d.path+member, h.changeMember, d.write("change_%_ipset_member", "Change a member of an IP set", member,
		"ipset_member_change", "Absent fields are kept; null clears the comment, and sets `nomatch` to 0. "+lacking+stale))
	op.Delete(a, d.path+member, h.removeMember, d.write("remove_%_ipset_member", "Remove a member of an IP set", member,
		"ipset_member_remove", "The response is the removed member. "+lacking+stale))
}

func (h handlers) ipSets(ctx context.Context, _ *struct{}) (*listing[firewall.IPSet], error) {
	return listed(ctx, h, h.Firewalls.IPSets)
}

// ipSetIn is the body of a new IP set.
type ipSetIn struct {
	Name    string  `json:"name" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9][A-Za-z0-9_.-]*$" example:"management"`
	Comment *string `json:"comment,omitempty" nullable:"true" maxLength:"1024" example:"networks of the administrators"`
	Digest  *string `json:"digest,omitempty" nullable:"true" maxLength:"200" doc:"Digest of the list that you read"`
}

type createIPSetInput struct{ Body ipSetIn }

func (h handlers) createIPSet(ctx context.Context, in *createIPSetInput) (*op.Body[firewall.IPSet], error) {
	b := &in.Body
	return done(ctx, h, func(on firewall.Scope) (firewall.IPSet, error) {
		return h.Firewalls.CreateIPSet(ctx, on, sdk.IPSet{Name: b.Name, Comment: deref(b.Comment)}, deref(b.Digest))
	})
}

func (h handlers) deleteIPSet(ctx context.Context, in *deleteNamedInput) (*op.Body[firewall.IPSet], error) {
	return done(ctx, h, func(on firewall.Scope) (firewall.IPSet, error) {
		return h.Firewalls.DeleteIPSet(ctx, on, in.Name, in.Digest, in.Confirm)
	})
}

func (h handlers) members(ctx context.Context, in *struct{ NamePath }) (*listing[firewall.IPSetMember], error) {
	return listed(ctx, h, func(ctx context.Context, on firewall.Scope) ([]firewall.IPSetMember, *string, error) {
		return h.Firewalls.IPSetMembers(ctx, on, in.Name)
	})
}

// memberIn is the body of a new member of an IP set.
type memberIn struct {
	CIDR    string  `json:"cidr" minLength:"1" maxLength:"512" example:"192.0.2.0/24" doc:"An address, a network, or another value that the hypervisor accepts, such as an alias"`
	NoMatch *int    `json:"nomatch,omitempty" nullable:"true" minimum:"0" maximum:"1" doc:"1 excludes these addresses from a larger member of the set"`
	Comment *string `json:"comment,omitempty" nullable:"true" maxLength:"1024" example:"the office"`
	Digest  *string `json:"digest,omitempty" nullable:"true" maxLength:"200" doc:"Digest of the members that you read"`
}

type addMemberInput struct {
	NamePath
	Body memberIn
}

func (h handlers) addMember(ctx context.Context, in *addMemberInput) (*op.Body[firewall.IPSetMember], error) {
	b := &in.Body
	member := sdk.IPSetMember{CIDR: b.CIDR, NoMatch: b.NoMatch != nil && *b.NoMatch == 1, Comment: deref(b.Comment)}
	return done(ctx, h, func(on firewall.Scope) (firewall.IPSetMember, error) {
		return h.Firewalls.AddIPSetMember(ctx, on, in.Name, member, deref(b.Digest))
	})
}

// MemberPath has the path parameters of a member of an IP set.
type MemberPath struct {
	NamePath
	CIDR string `path:"cidr" maxLength:"512" example:"192.0.2.0/24" doc:"Same as cidr in the list; its slash need not be encoded"`
}

// memberPatch is the body of a change of a member.
type memberPatch struct {
	NoMatch op.Optional[int]    `json:"nomatch,omitzero" minimum:"0" maximum:"1" example:"1"`
	Comment op.Optional[string] `json:"comment,omitzero" maxLength:"1024" example:"the office"`
	Digest  *string             `json:"digest,omitempty" nullable:"true" maxLength:"200" doc:"Digest of the members that you read"`
}

type changeMemberInput struct {
	MemberPath
	Body memberPatch
}

func (h handlers) changeMember(ctx context.Context, in *changeMemberInput) (*op.Body[firewall.IPSetMember], error) {
	b := &in.Body
	change := sdk.IPSetMemberChange{Comment: clearing(b.Comment), Digest: deref(b.Digest)}
	if b.NoMatch.Set {
		on := b.NoMatch.Value == 1
		change.NoMatch = &on
	}
	return done(ctx, h, func(on firewall.Scope) (firewall.IPSetMember, error) {
		return h.Firewalls.ChangeIPSetMember(ctx, on, in.Name, in.CIDR, change)
	})
}

type removeMemberInput struct {
	MemberPath
	DigestParam
}

func (h handlers) removeMember(ctx context.Context, in *removeMemberInput) (*op.Body[firewall.IPSetMember], error) {
	return done(ctx, h, func(on firewall.Scope) (firewall.IPSetMember, error) {
		return h.Firewalls.RemoveIPSetMember(ctx, on, in.Name, in.CIDR, in.Digest)
	})
}
