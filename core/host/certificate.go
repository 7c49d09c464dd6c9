package host

import (
	"math"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// Certificate is what the certificate of an endpoint says of itself. Nothing of it is proven unless an authority or a pin says so.
type Certificate struct {
	Names     []string   `json:"names" example:"[\"pve1.example.com\", \"192.0.2.10\"]" doc:"DNS names and addresses that it is for, at most 64"`
	Issuer    *string    `json:"issuer" example:"CN=Proxmox Virtual Environment" doc:"Who has signed it, as it says"`
	NotBefore *time.Time `json:"not_before" example:"2026-01-31T12:00:00Z"`
	NotAfter  time.Time  `json:"not_after" example:"2028-01-31T12:00:00Z"`
	DaysLeft  int        `json:"days_left" example:"412" doc:"Whole days until it ends; below zero when it has ended"`
}

// certificateOf reads what a driver tells of the certificate that was shown, which has an end.
func certificateOf(v hypervisor.Version, now time.Time) *Certificate {
	c := &Certificate{Names: cleanAll(v.CertificateNames), Issuer: CleanOrNil(v.CertificateIssuer), NotAfter: v.NotAfter.UTC(),
		DaysLeft: int(math.Floor(v.NotAfter.Sub(now).Hours() / 24))}
	if !v.NotBefore.IsZero() {
		begin := v.NotBefore.UTC()
		c.NotBefore = &begin
	}
	return c
}
