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
		"Seconds after its last refresh from which the catalog counts as stale, 60 to 31536000")
	PollInterval = whole("poll.interval_s", 30, 5, 3600,
		"Seconds from one poll of a cluster to the next, 5 to 3600; a shorter one holds within a second")
	MetricsRetentionRaw = whole("metrics.retention_raw_days", 2, 1, 90,
		"Days that metric samples are kept as polled, 1 to 90; whole days in UTC go, and none that is not averaged yet")
	MetricsRetention5m = whole("metrics.retention_5m_days", 30, 1, 730,
		"Days that averages over five minutes are kept, 1 to 730; whole days in UTC go")
	MetricsRetention1h = whole("metrics.retention_1h_days", 730, 7, 3650,
		"Days that averages over one hour are kept, 7 to 3650; whole months in UTC go")
	AuditRetention = whole("audit.retention_days", 0, 0, 36500,
		"Days that the audit trail is kept, 0 to 36500; 0 keeps it for ever")
	AuditAddressDays = whole("audit.address_days", 0, 0, 36500,
		"Days after which the addresses that requests came from are taken out of the audit trail's rows, 0 to 36500; 0 keeps them as long as "+
			"the rows. It cannot be undone, and the trail still verifies")
	JobsKeep = whole("jobs.keep_days", 90, 1, 36500,
		"Days that ended jobs and their transcripts are kept, 1 to 36500")
	DetailsPerMinute = whole("poll.details_per_minute", 20, 0, 600,
		"Configurations of guests that are read in the background, per cluster and minute at most, 0 to 600: they tell what is attached to "+
			"which bridge and on which storage. In the place of one, the tasks of the cluster are read every three minutes while an alert rule "+
			"is about failed ones. 0 reads none")
	BackupMaxAge = whole("backup.max_age_days", 7, 1, 3650,
		"Days after which the newest backup of a guest counts as too old, 1 to 3650; a tag backup-<n>d of the guest says otherwise")
	BackupReportAt = Key[string]{"backup.report_at",
		"When people are told each day what was backed up, what failed and what is older than promised: a time and a zone of the IANA " +
			"database, such as 07:00 Europe/Berlin; empty for never",
		func() string { return "07:00 UTC" }, checkClock, nil}
	UploadLimit = whole("upload.limit_mib", 16384, 1, 16_777_216,
		"The largest file that may be uploaded, in MiB, 1 to 16777216")
	UploadFree = whole("upload.keep_free_mib", 1024, 0, 16_777_216,
		"What an upload leaves free on the file system of the service's folder for uploads, in MiB, 0 to 16777216")
	ConsoleIdle = whole("console.idle_s", 1800, 60, 86400,
		"Seconds after which a console through which nothing went is closed, 60 to 86400; for those that are opened from then on")
	ConsoleRecordApps   = off("console.record_apps", "Whether what terminals of apps show is recorded, for admins; the person is told")
	ConsoleRecordVMs    = off("console.record_vms", "Whether what text consoles of VMs show is recorded, for admins; the person is told")
	ConsoleRecordShells = off("console.record_shells", "Whether what shells of nodes show is recorded, for admins; the person is told")
	ConsoleKeep         = whole("console.recording_days", 30, 1, 3650,
		"Days that recordings of consoles are kept, 1 to 3650")
	ConsoleLimit = whole("console.recording_limit_mib", 64, 1, 4096,
		"How much of the database one recording takes at most, compressed, in MiB, 1 to 4096; what is longer is cut, and the console goes on")
	ConsoleTotal = whole("console.recordings_total_mib", 10240, 1, 16777216,
		"Maximum size of all recordings in the database together, compressed, in MiB, 1 to 16777216. The oldest are deleted "+
			"to make room for new ones")
	SSHFrom = Key[[]string]{"ssh.from_addresses",
		"Addresses and networks that the service comes from when it logs in to machines: keys that are made from then on are good from there " +
			"only. At most 20; empty for anywhere",
		func() []string { return []string{} }, checkSSHFrom, nil}
	OnboardingComplete = off("onboarding.complete", "Whether the guided first steps are done")
	SelfHost           = Key[*int64]{"self.host_id", "The host that the service itself runs on; null when it is none of them",
		func() *int64 { return nil }, checkSelfHost, nil}
	EntitlementsDisabled = Key[[]string]{"entitlements.disabled",
		"Features that are switched off, by name; at most 100. Names that this release does not know are kept and do nothing",
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
		return errors.New("must be the id of a host or null")
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
			return errors.New("must be names of small letters, digits, dots and underscores")
		}
	}
	return nil
}
