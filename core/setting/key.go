package setting

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
)

// The settings. Times are in the unit that the name ends in.
var (
	CatalogStaleAfter = whole("catalog_stale_after_s", 172800, 60, 31_536_000,
		"Seconds after the last refresh until the catalog counts as stale, 60 to 31536000")
	PollInterval = whole("poll.interval_s", 30, 5, 3600,
		"Seconds from one poll of a cluster to the next, 5 to 3600. A shorter interval takes effect within a second")
	MetricsRetentionRaw = whole("metrics.retention_raw_days", 2, 1, 90,
		"Days to keep metric samples as polled, 1 to 90. Whole UTC days are deleted, once their averages exist")
	MetricsRetention5m = whole("metrics.retention_5m_days", 30, 1, 730,
		"Days to keep five-minute averages, 1 to 730. Whole UTC days are deleted")
	MetricsRetention1h = whole("metrics.retention_1h_days", 730, 7, 3650,
		"Days to keep one-hour averages, 7 to 3650. Whole UTC months are deleted")
	AuditRetention = whole("audit.retention_days", 0, 0, 36500,
		"Days to keep entries of the audit log, 0 to 36500; 0 keeps them forever")
	AuditAddressDays = whole("audit.address_days", 0, 0, 36500,
		"Days after which client addresses are removed from entries of the audit log, 0 to 36500; 0 keeps them as long "+
			"as the rows. Removed addresses cannot be restored. The log can still be verified")
	JobsKeep = whole("jobs.keep_days", 90, 1, 36500,
		"Days to keep finished jobs and their transcripts, 1 to 36500")
	DetailsPerMinute = whole("poll.details_per_minute", 20, 0, 600,
		"Maximum number of guest configurations to read in the background per cluster and minute, 0 to 600. They "+
			"show which guests use a bridge or a storage. While an alert rule watches failed tasks, Hostler reads "+
			"the cluster's tasks every three minutes, each time instead of one configuration. 0 reads neither")
	BackupMaxAge = whole("backup.max_age_days", 7, 1, 3650,
		"Days after which the newest backup of a guest is too old, 1 to 3650. A guest's tag backup-<n>d overrides it")
	BackupReportAt = Key[string]{"backup.report_at",
		"Time of the daily report on backups that ran, failed or are too old: a time and an IANA time zone, such as " +
			"07:00 Europe/Berlin; empty for no report",
		func() string { return "07:00 UTC" }, checkClock, nil}
	UploadLimit = whole("upload.limit_mib", 16384, 1, 16_777_216,
		"Maximum size of an uploaded file in MiB, 1 to 16777216")
	UploadFree = whole("upload.keep_free_mib", 1024, 0, 16_777_216,
		"Space in MiB that uploads leave free on the file system of the upload folder, 0 to 16777216")
	ConsoleIdle = whole("console.idle_s", 1800, 60, 86400,
		"Seconds after which an idle console is closed, 60 to 86400. Applies to consoles that are opened afterwards")
	ConsoleRecordApps = off("console.record_apps",
		"Record the consoles of apps. Admins can play recordings. The user of the console is informed")
	ConsoleRecordVMs = off("console.record_vms",
		"Record the text consoles of VMs. Admins can play recordings. The user of the console is informed")
	ConsoleRecordShells = off("console.record_shells",
		"Record the shells of nodes. Admins can play recordings. The user of the shell is informed")
	ConsoleKeep = whole("console.recording_days", 30, 1, 3650,
		"Days to keep recordings of consoles, 1 to 3650")
	ConsoleLimit = whole("console.recording_limit_mib", 64, 1, 4096,
		"Maximum size of one recording in the database, compressed, in MiB, 1 to 4096. A longer recording is cut; the console continues")
	ConsoleTotal = whole("console.recordings_total_mib", 10240, 1, 16777216,
		"Maximum size of all recordings in the database together, compressed, in MiB, 1 to 16777216. The oldest are deleted "+
			"to make room for new ones")
	SSHFrom = Key[[]string]{"ssh.from_addresses",
		"Addresses and networks from which the service logs in to nodes by SSH, at most 20. New SSH keys work only from these; empty " +
			"for any address",
		func() []string { return []string{} }, checkSSHFrom, nil}
	OnboardingComplete = off("onboarding.complete", "Whether the guided first steps are complete")
	SelfHost           = Key[*int64]{"self.host_id", "ID of the host that the service runs on; null if it runs on none of them",
		func() *int64 { return nil }, checkSelfHost, nil}
	EntitlementsDisabled = Key[[]string]{"entitlements.disabled",
		"Names of disabled features, at most 100. Names that this release does not know have no effect",
		func() []string { return []string{} }, checkEntitlements, nil}
)

// all is every setting in the order in which they are listed.
var all = []untyped{
	CatalogStaleAfter, PollInterval, MetricsRetentionRaw, MetricsRetention5m, MetricsRetention1h, AuditRetention,
	AuditAddressDays, JobsKeep, BackupMaxAge, BackupReportAt,
	DetailsPerMinute, UploadLimit, UploadFree, ConsoleIdle, ConsoleRecordApps, ConsoleRecordVMs, ConsoleRecordShells, ConsoleKeep,
	ConsoleLimit, ConsoleTotal, SSHFrom, SelfHost, EntitlementsDisabled, OnboardingComplete,
}

func whole(name string, fallback, least, most int, doc string) Key[int] {
	return Key[int]{name, doc, func() int { return fallback }, func(n int) error {
		if n < least || n > most {
			return fmt.Errorf("must be from %d to %d", least, most)
		}
		return nil
	}, &Bounds{least, most}}
}

// off is a setting that is true or false, and false by default.
func off(name, doc string) Key[bool] {
	return Key[bool]{name, doc, func() bool { return false }, func(bool) error { return nil }, nil}
}

func checkSelfHost(id *int64) error {
	if id != nil && *id < 1 {
		return errors.New("must be the ID of a host or null")
	}
	return nil
}

// checkSSHFrom takes what stands in a from= of authorized_keys and is no pattern of names: nobody's answer to a question for a name
// counts.
func checkSSHFrom(from []string) error {
	if from == nil {
		return errors.New("must be a list of addresses and networks")
	}
	if len(from) > 20 {
		return errors.New("must have at most 20 addresses and networks")
	}
	for _, text := range from {
		address, err := netip.ParseAddr(text)
		network, bad := netip.ParsePrefix(text)
		if err != nil && (bad != nil || network != network.Masked()) || err == nil && address.Zone() != "" {
			return errors.New("must be addresses such as 192.0.2.7 and networks such as 192.0.2.0/24")
		}
	}
	return nil
}

var entitlementName = regexp.MustCompile(`^[a-z][a-z0-9_.]{0,63}$`)

func checkEntitlements(names []string) error {
	if names == nil {
		return errors.New("must be a list of names")
	}
	if len(names) > 100 {
		return errors.New("must have at most 100 names")
	}
	for _, name := range names {
		if !entitlementName.MatchString(name) {
			return errors.New("must be names of lowercase letters, digits, dots and underscores")
		}
	}
	return nil
}
