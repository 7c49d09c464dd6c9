package hypervisor

import (
	"strings"
	"time"
	"unicode/utf8"

	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// text makes s fit for protobuf, which refuses a whole message for one byte that is not UTF-8. Hypervisors pass on what
// somebody typed long ago in some other encoding.
func text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// texts is text for a list; a clean list is returned as it is.
func texts(list []string) []string {
	for i, s := range list {
		if !utf8.ValidString(s) {
			out := append([]string(nil), list...)
			for j := i; j < len(out); j++ {
				out[j] = text(out[j])
			}
			return out
		}
	}
	return list
}

// timeToProto makes the zero time an absent one.
func timeToProto(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func timeFromProto(t *timestamppb.Timestamp) time.Time {
	if !t.IsValid() {
		return time.Time{}
	}
	return t.AsTime()
}

func targetToProto(t Target) *hypervisorv1.Target {
	return &hypervisorv1.Target{
		Address: text(t.Address), Fingerprint: text(t.Fingerprint), VerifyTls: t.VerifyTLS, AllowLocal: t.AllowLocal,
		Credential: &hypervisorv1.Credential{
			Capability: text(string(t.Credential.Capability)),
			TokenId:    text(t.Credential.TokenID),
			Secret:     text(string(t.Credential.Secret)),
		},
	}
}

func targetFromProto(t *hypervisorv1.Target) Target {
	return Target{
		Address: t.GetAddress(), Fingerprint: t.GetFingerprint(), VerifyTLS: t.GetVerifyTls(), AllowLocal: t.GetAllowLocal(),
		Credential: Credential{
			Capability: Capability(t.GetCredential().GetCapability()),
			TokenID:    t.GetCredential().GetTokenId(),
			Secret:     Secret(t.GetCredential().GetSecret()),
		},
	}
}

func infoToProto(info Info) *hypervisorv1.InfoResponse {
	out := &hypervisorv1.InfoResponse{Name: text(info.Name), Version: text(info.Version), Product: text(info.Product)}
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
		Version: text(v.Version), Release: text(v.Release), Fingerprint: text(v.Fingerprint),
		NotAfter: timeToProto(v.NotAfter), Node: text(v.Node),
	}
}

func tasksToProto(tasks []Task) []*hypervisorv1.Task {
	out := make([]*hypervisorv1.Task, len(tasks))
	for i := range tasks {
		t := &tasks[i]
		out[i] = &hypervisorv1.Task{
			Id: text(t.ID), Node: text(t.Node), Type: text(t.Type), Action: text(string(t.Action)), GuestId: t.GuestID,
			User: text(t.User), TokenId: text(t.TokenID), Status: text(t.Status), Error: text(t.Error),
			Started: timeToProto(t.Started), Ended: timeToProto(t.Ended),
		}
	}
	return out
}

func taskFromProto(t *hypervisorv1.Task) Task {
	return Task{
		ID: t.GetId(), Node: t.GetNode(), Type: t.GetType(), Action: Action(t.GetAction()), GuestID: t.GetGuestId(),
		User: t.GetUser(), TokenID: t.GetTokenId(), Status: t.GetStatus(), Error: t.GetError(),
		Started: timeFromProto(t.GetStarted()), Ended: timeFromProto(t.GetEnded()),
	}
}
