package cluster

import (
	"fmt"
	"strings"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plugin"
)

// ProblemDetail has the parts of a problem's text that Problem does not have.
// Their meaning depends on the kind: for token_ending, for example, Word is the
// capability and Detail the token ID.
type ProblemDetail struct {
	Word, Detail string
	N            int64
}

// Describe sets the text and the remedy of a problem. now is used for "in 12
// days". A kind that this package does not find gets empty texts.
func (p *Problem) Describe(f ProblemDetail, now time.Time) {
	p.Text, p.Remedy = f.text(p, now), f.remedy(p)
}

// text returns a sentence that says what is wrong.
func (f ProblemDetail) text(p *Problem, now time.Time) string {
	switch p.Kind {
	case "host_away":
		return sentence("The host does not answer", f.Detail)
	case "quorum_lost":
		return "The cluster has no quorum: nothing in it can be started or changed."
	case "node_away":
		return "The node is off or has lost contact with the other nodes."
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
		return fmt.Sprintf("The token for %s lacked %s%s when it was last verified.", f.Word, f.Detail, more)
	case "versions_differ":
		return fmt.Sprintf("The nodes of the cluster run %d different releases: %s.", f.N, f.Detail)
	case "cluster_twice":
		who := plural(f.N, "other team")
		if f.Word != "" {
			who = "the team " + f.Word
		}
		return fmt.Sprintf("The cluster is also enrolled by %s. Its guests are listed once per team, and limits, schedules and reports "+
			"count them once per team.", who)
	case "subscription_ended":
		due := ""
		if f.Detail != "" {
			due = ", due on " + f.Detail
		}
		return fmt.Sprintf("The node's subscription is %s%s.", strings.ToLower(f.Word), due)
	case "job_failed":
		return sentence("The job "+f.Word+" failed", f.Detail)
	case "backup_never":
		return fmt.Sprintf("The guest has no backup, but requires one from the last %s.", plural(f.N, "day"))
	case "backup_old":
		return fmt.Sprintf("The guest's newest backup is from %s, but must be at most %s old.",
			p.Since.Format(time.DateOnly), plural(f.N, "day"))
	case "backup_unlisted":
		at := ""
		if f.Word != "" {
			at = " on " + f.Word
		}
		return sentence("The backups"+at+" could not be listed", f.Detail)
	case "app_missing":
		return "The app's container no longer exists."
	case "schedule_empty":
		if f.Word == "" {
			return "The schedule selects no guest: its host has no guests."
		}
		return fmt.Sprintf("The schedule selects no guest: none has the tag %s.", f.Word)
	case "detail_unknown":
		return fmt.Sprintf("The configuration of %s has not been read: the networks and storages that the guests use are unknown.",
			plural(f.N, "guest"))
	}
	return ""
}

// remedy returns a sentence that says how to fix it, with the operation of the
// API to call.
func (f ProblemDetail) remedy(p *Problem) string {
	at := "/api/v1/hosts/{host_id}"
	if p.HostID != nil {
		at = fmt.Sprintf("/api/v1/hosts/%d", *p.HostID)
	}
	switch p.Kind {
	case "host_away":
		return away(f.Word, at)
	case "quorum_lost":
		return "Bring nodes back until the cluster has more than half of its votes."
	case "node_away":
		return "Check at its console or its power supply whether it is running and can reach the network of the cluster."
	case "token_ending":
		return "Create a new token on the hypervisor, or extend this one, and store it with POST " + at + "/credentials."
	case "certificate_ending":
		return "Renew the certificate on the hypervisor. If it is pinned, accept the new one with PATCH " + at + ` {"tls_fingerprint": …}.`
	case "token_privileges":
		return "Run the script of POST /api/v1/hosts/token-script on the host, and verify the token with POST " + at + "/test."
	case "versions_differ":
		return "Update all nodes to the same release."
	case "cluster_twice":
		return "Enrol the cluster in one team only, and give members of the other teams roles in that team."
	case "subscription_ended":
		return "Renew the subscription, or remove its key."
	case "job_failed":
		return fmt.Sprintf("Read the transcript with GET /api/v1/jobs/%d/events, and retry the job with POST /api/v1/jobs/%d/retry.",
			*p.JobID, *p.JobID)
	case "backup_never", "backup_old":
		return "Back up the guest with POST /api/v1/backups/run or a schedule, or tag it backup-<n>d or backup-none."
	case "backup_unlisted":
		return "Check that the storage is available and that the host's token for backups may read it: POST " + at + "/test."
	case "app_missing":
		return fmt.Sprintf("Restore the container from a backup, or remove the app from Hostler: DELETE /api/v1/apps/%d with keep_ct.",
			*p.Target.ID)
	case "schedule_empty":
		return fmt.Sprintf("Tag guests, or change the schedule's selection with PATCH /api/v1/schedules/%d.", *p.Target.ID)
	case "detail_unknown":
		return "Wait, or raise the setting poll.details_per_minute; 0 disables reading."
	}
	return ""
}

// away returns the remedy for a host that does not respond. reason is one of
// the reasons of packages plugin and host; at is the path of the host in the
// API.
func away(reason, at string) string {
	switch reason {
	case plugin.ReasonFingerprint:
		return "If its certificate was renewed, compare the fingerprint at its console and accept it with PATCH " + at +
			` {"tls_fingerprint": …}.`
	case plugin.ReasonAuth:
		return "The token was revoked or has expired: store a new one with POST " + at + "/credentials."
	case plugin.ReasonPermission:
		return "Run the script of POST /api/v1/hosts/token-script on the host, and verify the token with POST " + at + "/test."
	case host.ReasonPlugin:
		return "GET /api/v1/plugins shows why its plugin is not running."
	case plugin.ReasonUnreachable, host.ReasonTimeout:
		return "Check that it is on and that the service can reach its address; POST " + at + "/test tries it now."
	}
	return "POST " + at + "/test tries it now and shows the answer."
}

// ending says when something expires or expired. Days are rounded down.
func ending(end, now time.Time) string {
	date := end.UTC().Format(time.DateOnly)
	switch days := int64(end.Sub(now).Hours() / 24); {
	case !end.After(now):
		return "expired on " + date
	case days == 0:
		return "expires on " + date + ", within a day"
	default:
		return "expires on " + date + ", in " + plural(days, "day")
	}
}

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// maxDetail bounds the part of an error that a text repeats, in bytes.
const maxDetail = 500

// sentence joins what happened and why. It cleans why, which may come from a
// hypervisor.
func sentence(what, why string) string {
	why = strings.TrimSuffix(strings.TrimSpace(host.CleanTo(why, maxDetail)), ".")
	if why == "" {
		return what + "."
	}
	return what + ": " + why + "."
}
