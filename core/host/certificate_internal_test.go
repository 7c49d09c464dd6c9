package host

import (
	"slices"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

func TestCertificateOf(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for left, days := range map[time.Duration]int{
		48 * time.Hour: 2, 47 * time.Hour: 1, time.Hour: 0, -time.Hour: -1, -24 * time.Hour: -1, -25 * time.Hour: -2,
	} {
		if c := certificateOf(hypervisor.Version{NotAfter: now.Add(left)}, now); c.DaysLeft != days {
			t.Errorf("with %s left there are %d days, want %d", left, c.DaysLeft, days)
		}
	}
	silent := certificateOf(hypervisor.Version{NotAfter: now}, now)
	if silent.Names == nil || silent.Issuer != nil || silent.NotBefore != nil {
		t.Errorf("a driver that tells only the end gives %+v", silent)
	}
	told := certificateOf(hypervisor.Version{NotAfter: now, NotBefore: now.AddDate(-1, 0, 0),
		CertificateNames: []string{"a\x00b", "192.0.2.1"}, CertificateIssuer: "CN=x\xff"}, now)
	if !slices.Equal(told.Names, []string{"ab", "192.0.2.1"}) || *told.Issuer != "CN=x\uFFFD" ||
		!told.NotBefore.Equal(now.AddDate(-1, 0, 0)) {
		t.Errorf("what was told gives %+v", told)
	}
}
