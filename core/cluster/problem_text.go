package cluster

import (
	"fmt"
	"strings"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plugin"
)

// Fault is what the text of a problem is made of, beside what the problem itself has.
type Fault struct {
	Word, Detail string
	N            int64
}

// Tell writes the problem's text and remedy, as of now. Problems of a kind that this package does not find get none.
func (p *Problem) Tell(f Fault, now time.Time) { p.Text, p.Remedy = f.text(p, now), f.remedy(p) }

// text says what is wrong.
func (f Fault) text(p *Problem, now time.Time) string {
	switch p.Kind {
	case "host_away":
		return sentence("The host does not answer", f.Detail)
	case "quorum_lost":
		return "The cluster has no quorum: nothing in it can be started or changed."
	case "node_away":
		return "The node is off, or the others miss it."
	case "token_ending":
		return fmt.Sprintf("The token for %s, %s, %s.", f.Word, f.Detail, ending(*p.EndsAt, now))
	case "certificate_ending":
		return fmt.Sprintf("The certificate %s.", ending(*p.EndsAt, now))
	case "token_privileges":
		if f.N == 0 {
			return sentence("The token for "+f.Word+" does not see everything", f.Detail)
		}
		more := ""
		if shown := int64(strings.Count(f.Detail, ", ") + 1); f.N > shown {
			more = fmt.Sprintf(" and %d more", f.N-shown)
		}
		return fmt.Sprintf("The token for %s lacks %s%s, as it was last verified.", f.Word, f.Detail, more)
	case "versions_differ":
		return fmt.Sprintf("Its nodes run %d releases: %s.", f.N, f.Detail)
	case "cluster_twice":
		who := plural(f.N, "other team")
		if f.Word != "" {
			who = "the team " + f.Word
		}
		return fmt.Sprintf("It is also enrolled by %s. Its guests are listed once per team, and limits, schedules and reports count them once "+
			"per team.", who)
	case "subscription_ended":
		due := ""
		if f.Detail != "" {
			due = ", due on " + f.Detail
		}
		return fmt.Sprintf("The node's subscription is %s%s.", strings.ToLower(f.Word), due)
	case "job_failed":
		return sentence("The job "+f.Word+" failed", f.Detail)
	case "backup_never":
		return fmt.Sprintf("It has no backup, and is to have one of the last %s.", plural(f.N, "day"))
	case "backup_old":
		return fmt.Sprintf("Its newest backup is from %s, and is to be at most %s old.", p.Since.Format(time.DateOnly), plural(f.N, "day"))
	case "backup_unlisted":
		at := ""
		if f.Word != "" {
			at = " on " + f.Word
		}
		return sentence("The backups"+at+" could not be listed", f.Detail)
	case "app_missing":
		return "The app's container is not there any more."
	case "schedule_empty":
		if f.Word == "" {
			return "The schedule selects no guest: its host has none."
		}
		return fmt.Sprintf("The schedule selects no guest: none has the tag %s.", f.Word)
	case "detail_unknown":
		return fmt.Sprintf("The configuration of %s was never read: which networks and storages they use is not known.", plural(f.N, "guest"))
	}
	return ""
}

// remedy says how to mend it.
func (f Fault) remedy(p *Problem) string {
	at := "/api/v1/hosts/{host_id}"
	if p.HostID != nil {
		at = fmt.Sprintf("/api/v1/hosts/%d", *p.HostID)
	}
	switch p.Kind {
	case "host_away":
		return away(f.Word, at)
	case "quorum_lost":
		return "Bring nodes back until more than half of the votes are there."
	case "node_away":
		return "See at its console, or at its power supply, whether it runs and reaches the network of the cluster."
	case "token_ending":
		return "Make a new token at the hypervisor, or give this one a later end, and store it with POST " + at + "/credentials."
	case "certificate_ending":
		return "Renew the certificate at the hypervisor; where it is pinned, accept the new one with PATCH " + at + ` {"tls_fingerprint": …}.`
	case "token_privileges":
		return "Run the script of POST /api/v1/hosts/token-script on the host, and verify with POST " + at + "/test."
	case "versions_differ":
		return "Bring all nodes to one release."
	case "cluster_twice":
		return "Enrol the cluster in one team only, and give members of the other teams roles in that team."
	case "subscription_ended":
		return "Renew the subscription, or remove its key."
	case "job_failed":
		return fmt.Sprintf("Read its transcript, GET /api/v1/jobs/%d/events, and ask again with POST /api/v1/jobs/%d/retry.", *p.JobID, *p.JobID)
	case "backup_never", "backup_old":
		return "Back it up with POST /api/v1/backups/run or by a schedule, or tag it backup-<n>d or backup-none."
	case "backup_unlisted":
		return "See that the storage is there, and that the host's token for backup may read it: POST " + at + "/test."
	case "app_missing":
		return fmt.Sprintf(`Restore the container from a backup, or forget the app: DELETE /api/v1/apps/%d with keep_ct.`, *p.Target.ID)
	case "schedule_empty":
		return fmt.Sprintf("Tag guests, or change what it selects with PATCH /api/v1/schedules/%d.", *p.Target.ID)
	case "detail_unknown":
		return "Wait, or raise the setting poll.details_per_minute: 0 reads none."
	}
	return ""
}

// away is how to mend a host that does not answer, for a reason.
func away(reason, at string) string {
	switch reason {
	case plugin.ReasonFingerprint:
		return "When its certificate was renewed, compare the fingerprint at its console and accept it with PATCH " + at +
			` {"tls_fingerprint": …}.`
	case plugin.ReasonAuth:
		return "The token was revoked or has ended: store a new one with POST " + at + "/credentials."
	case plugin.ReasonPermission:
		return "Run the script of POST /api/v1/hosts/token-script on the host, and verify with POST " + at + "/test."
	case host.ReasonPlugin:
		return "See with GET /api/v1/plugins why its plugin does not run."
	case plugin.ReasonUnreachable, host.ReasonTimeout:
		return "See that it is on, and that the service reaches its address; POST " + at + "/test asks it now."
	}
	return "POST " + at + "/test asks it now and says what it answers."
}

// ending says when something ends or has ended.
func ending(end, now time.Time) string {
	date := end.UTC().Format(time.DateOnly)
	switch days := int64(end.Sub(now).Hours() / 24); {
	case !end.After(now):
		return "has ended on " + date
	case days == 0:
		return "ends on " + date + ", within a day"
	default:
		return "ends on " + date + ", in " + plural(days, "day")
	}
}

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// maxDetail bounds what is told of an error, in bytes.
const maxDetail = 500

// sentence is what happened with why, where that is known.
func sentence(what, why string) string {
	why = strings.TrimSuffix(strings.TrimSpace(host.CleanTo(why, maxDetail)), ".")
	if why == "" {
		return what + "."
	}
	return what + ": " + why + "."
}
