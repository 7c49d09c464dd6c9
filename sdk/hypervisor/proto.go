package hypervisor

import (
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func infoToProto(info Info) *hypervisorv1.InfoResponse {
	out := &hypervisorv1.InfoResponse{Name: wire.Text(info.Name), Version: wire.Text(info.Version), Product: wire.Text(info.Product)}
	for _, a := range info.Abilities {
		out.Abilities = append(out.Abilities, string(a))
	}
	return out
}

func infoFromProto(in *hypervisorv1.InfoResponse) Info {
	info := Info{Name: in.GetName(), Version: in.GetVersion(), Product: in.GetProduct()}
	for _, a := range in.GetAbilities() {
		info.Abilities = append(info.Abilities, Ability(a))
	}
	return info
}

func versionToProto(v Version) *hypervisorv1.VersionResponse {
	return &hypervisorv1.VersionResponse{
		Version: wire.Text(v.Version), Release: wire.Text(v.Release), Fingerprint: wire.Text(v.Fingerprint),
		NotAfter: wire.Timestamp(v.NotAfter), Node: wire.Text(v.Node),
	}
}

func tasksToProto(tasks []Task) []*hypervisorv1.Task {
	out := make([]*hypervisorv1.Task, len(tasks))
	for i := range tasks {
		t := &tasks[i]
		out[i] = &hypervisorv1.Task{
			Id: wire.Text(t.ID), Node: wire.Text(t.Node), Type: wire.Text(t.Type), Action: wire.Text(string(t.Action)), GuestId: t.GuestID,
			User: wire.Text(t.User), TokenId: wire.Text(t.TokenID), Status: wire.Text(t.Status), Error: wire.Text(t.Error),
			Started: wire.Timestamp(t.Started), Ended: wire.Timestamp(t.Ended),
		}
	}
	return out
}

func taskFromProto(t *hypervisorv1.Task) Task {
	return Task{
		ID: t.GetId(), Node: t.GetNode(), Type: t.GetType(), Action: Action(t.GetAction()), GuestID: t.GetGuestId(),
		User: t.GetUser(), TokenID: t.GetTokenId(), Status: t.GetStatus(), Error: t.GetError(),
		Started: wire.Time(t.GetStarted()), Ended: wire.Time(t.GetEnded()),
	}
}
