package host

import (
	"math"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Certificate is the information in an endpoint's certificate. None of it is
// proven unless an authority or a pin vouches for it.
type Certificate struct {
	Fingerprint *string    `json:"fingerprint" example:"3F:9A:0C:51:7B:E2:44:D8:96:1E:A7:30:CB:5D:82:F6:19:60:BE:4C:D3:07:8A:F1:2E:95:6B:C8:54:A0:ED:73" doc:"SHA-256 fingerprint; compare it with the one on the node's own screen before you pin it"`
	Subject     *string    `json:"subject" example:"pve1.example.com" doc:"Common name; for people only, because names lists what the certificate is valid for. Null if it has none or the driver does not report it"`
	Names       []string   `json:"names" example:"[\"pve1.example.com\", \"192.0.2.10\"]" doc:"DNS names and addresses that it is valid for, at most 64"`
	Issuer      *string    `json:"issuer" example:"CN=Proxmox Virtual Environment" doc:"Name of the issuer"`
	NotBefore   *time.Time `json:"not_before" example:"2026-01-31T12:00:00Z"`
	NotAfter    time.Time  `json:"not_after" example:"2028-01-31T12:00:00Z"`
	DaysLeft    int        `json:"days_left" example:"412" doc:"Whole days until it expires; negative if it has expired"`
	SelfSigned  *bool      `json:"self_signed" example:"false" doc:"true if it is self-signed. Null outside a probe"`
	Trusted     *bool      `json:"trusted" example:"false" doc:"true if the system's certificate authorities trust it for the name in the address. Null outside a probe"`
	Distrust    *string    `json:"distrust" example:"signed by an unknown authority" doc:"Why it is not trusted; null if it is"`
}

// certificateOf returns the certificate that a driver reported with the
// version.
func certificateOf(v hypervisor.Version, now time.Time) *Certificate {
	c := &Certificate{Fingerprint: CleanOrNil(v.Fingerprint), Names: cleanAll(v.CertificateNames), Issuer: CleanOrNil(v.CertificateIssuer)}
	c.setValidity(v.NotBefore, v.NotAfter, now)
	return c
}

// shownCertificate returns a certificate that was read without a credential.
func shownCertificate(shown endpoint.Certificate, now time.Time) *Certificate {
	trusted := shown.Distrust == ""
	c := &Certificate{
		Fingerprint: CleanOrNil(shown.Fingerprint), Subject: CleanOrNil(shown.Subject), Names: cleanAll(shown.Names),
		Issuer: CleanOrNil(shown.Issuer), SelfSigned: &shown.SelfSigned, Trusted: &trusted, Distrust: CleanOrNil(shown.Distrust),
	}
	c.setValidity(shown.NotBefore, shown.NotAfter, now)
	return c
}

// setValidity sets the validity and the days that are left, rounded down: a
// certificate that expires today has 0 days left.
func (c *Certificate) setValidity(begin, end, now time.Time) {
	c.NotAfter, c.DaysLeft = end.UTC(), int(math.Floor(end.Sub(now).Hours()/24))
	if !begin.IsZero() {
		begin = begin.UTC()
		c.NotBefore = &begin
	}
}
