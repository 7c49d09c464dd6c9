package pve_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestPermissions(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Guests: 3})
	w.AddPool("a", "")
	w.AddPool("b", "")
	monitoring, lifecycle := pve.Privileges(endpoint.Monitoring), pve.Privileges(endpoint.Lifecycle)
	restoring := []string{"SDN.Use", "VM.Allocate", "VM.Config.Network", "VM.Config.Options"}
	without := func(list []string, gone string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(p string) bool { return p == gone })
	}
	sorted := func(list []string) []string { slices.Sort(list); return list }
	// also gives the token another role, at another place.
	also := func(token pvesim.Token, path string, privileges ...string) pvesim.Token {
		role := "Also" + token.Secret[:8]
		w.SetRole(role, privileges...)
		user, _, _ := strings.Cut(token.ID, "!")
		w.Grant(path, user, role, true)
		w.Grant(path, token.ID, role, true)
		return token
	}
	for name, c := range map[string]struct {
		capability endpoint.Capability
		token      pvesim.Token
		want       hypervisor.Permissions
	}{
		"too much on one guest only": {endpoint.NodePower,
			also(w.token("/", true, "Sys.PowerMgmt"), "/vms/101", "VM.Console", "Sys.PowerMgmt"), hypervisor.Permissions{
				Paths: []string{"/"}, Extra: []string{"VM.Console"},
			}},
		"system rights on the nodes alone": {endpoint.NodePower, w.token("/nodes", true, "Sys.PowerMgmt"),
			hypervisor.Permissions{Missing: []string{"Sys.PowerMgmt"}}},
		"system rights on the root alone": {endpoint.NodePower, w.token("/", false, "Sys.PowerMgmt"),
			hypervisor.Permissions{Missing: []string{"Sys.PowerMgmt"}}},
		"system rights on both": {endpoint.NodePower, also(w.token("/", false, "Sys.PowerMgmt"), "/nodes", "Sys.PowerMgmt"),
			hypervisor.Permissions{
				Paths: []string{"/"},
			}},
		"proper": {endpoint.Monitoring, w.token("/", true, monitoring...), hypervisor.Permissions{
			Paths: []string{"/"}, Recommended: []string{"Sys.Syslog", "VM.GuestAgent.Audit"},
		}},
		"nothing missing, nothing to recommend": {endpoint.Lifecycle,
			w.token("/", true, append(lifecycle, "SDN.Use", "VM.Config.HWType", "VM.Config.CDROM",
				"Datastore.AllocateTemplate", "Sys.AccessNetwork", "VM.Audit", "Sys.Audit")...),
			hypervisor.Permissions{
				Paths: []string{"/"},
			}},
		"nothing at all": {endpoint.NodePower, w.token("/", true), hypervisor.Permissions{Missing: []string{"Sys.PowerMgmt"}}},
		"one missing, one too much": {endpoint.Monitoring,
			w.token("/", true, append(without(monitoring, "SDN.Audit"), "Sys.Modify", "VM.GuestAgent.Audit",
				"Sys.Syslog")...), hypervisor.Permissions{
				Missing: []string{"SDN.Audit"}, Extra: []string{"Sys.Modify"},
			}},
		"does not go on below": {endpoint.Monitoring, w.token("/", false, monitoring...), hypervisor.Permissions{
			Missing: sorted(slices.Clone(monitoring)), Recommended: []string{"Sys.Syslog", "VM.GuestAgent.Audit"},
		}},
		"a pool": {endpoint.Backup, w.token("/pool/a", true, pve.Privileges(endpoint.Backup)...),
			hypervisor.Permissions{Paths: []string{"/pool/a"}, Recommended: restoring}},
		"a pool, not going on": {endpoint.Backup, w.token("/pool/a", false, pve.Privileges(endpoint.Backup)...), hypervisor.Permissions{
			Paths: []string{"/pool/a"}, Recommended: restoring,
		}},
		"one guest only": {endpoint.Console, w.token("/vms/100", true, "VM.Console"),
			hypervisor.Permissions{Missing: []string{"VM.Console"}}},
		"all guests": {endpoint.Console, w.token("/vms", true, "VM.Console"), hypervisor.Permissions{Paths: []string{"/"}}},
		"node shell": {endpoint.Console, w.token("/", true, "VM.Console", "Sys.Console"),
			hypervisor.Permissions{Paths: []string{"/"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := w.open(t, w.target(c.capability, c.token)).Permissions(t.Context())
			must(t, "asking for permissions", err)
			if got.Version == nil {
				t.Error("the release that was asked for is not told")
			}
			if wrong := len(got.Missing)+len(got.Extra)+len(got.Recommended) > 0; wrong != (got.Remedy != "") {
				t.Errorf("the command is %q", got.Remedy)
			}
			got.Version, got.Ends, got.Remedy = nil, nil, "" // of TestEndsOfTokens and TestRemedyOfRights
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
	_, err := w.open(t, w.target("nonsense", w.AdminToken())).Permissions(t.Context())
	wantKind(t, err, plugin.Invalid)
}

// TestRemedyOfRights: the command names the role, all that it needs at this release and what it may have, and the place.
func TestRemedyOfRights(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Version: "7.4-16"})
	token := w.token("/pool/a", true, "VM.Audit", "Sys.Modify", "VM.Console")
	got, err := w.open(t, w.target(endpoint.Monitoring, token)).Permissions(t.Context())
	user, _, _ := strings.Cut(token.ID, "!")
	want := "pveum role add ServiceAudit 2>/dev/null; pveum role modify ServiceAudit --privs Datastore.Audit,Pool.Audit,SDN.Audit," +
		"Sys.Audit,Sys.Syslog,VM.Audit,VM.Console && pveum acl modify '/pool/a' --users '" + user + "' --roles ServiceAudit && " +
		"pveum acl modify '/pool/a' --tokens '" + token.ID + "' --roles ServiceAudit"
	if err != nil || got.Remedy != want {
		t.Errorf("got %q, %v\nwant %q", got.Remedy, err, want)
	}
}

// TestRemedyOfRecommendedPrivileges: a token that only lacks what is recommended gets the command, too, and has everything after it.
func TestRemedyOfRecommendedPrivileges(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{})
	token := w.token("/", true, pve.Privileges(endpoint.Monitoring)...)
	got, err := w.open(t, w.target(endpoint.Monitoring, token)).Permissions(t.Context())
	must(t, "asking for permissions", err)
	_, privileges, _ := strings.Cut(got.Remedy, "role modify ServiceAudit --privs ")
	privileges, _, found := strings.Cut(privileges, " ")
	if len(got.Missing) > 0 || len(got.Recommended) == 0 || !found {
		t.Fatalf("got %+v", got)
	}
	user, _, _ := strings.Cut(token.ID, "!")
	w.SetRole("ServiceAudit", strings.Split(privileges, ",")...)
	w.Grant("/", user, "ServiceAudit", true)
	w.Grant("/", token.ID, "ServiceAudit", true)
	got, err = w.open(t, w.target(endpoint.Monitoring, token)).Permissions(t.Context())
	must(t, "asking again", err)
	if len(got.Missing)+len(got.Extra)+len(got.Recommended) > 0 || got.Remedy != "" {
		t.Errorf("after the command: %+v", got)
	}
}

// TestPermissionsOnOldReleases: what a release does not know is not missing there.
func TestPermissionsOnOldReleases(t *testing.T) {
	t.Parallel()
	for version, c := range map[string]struct{ missing, recommended []string }{
		"6.4-13": {[]string{"Datastore.Audit"}, []string{"Sys.Syslog"}},
		"7.4-16": {[]string{"Datastore.Audit", "Pool.Audit"}, []string{"Sys.Syslog"}},
		"9.2.11": {[]string{"Datastore.Audit", "Pool.Audit"}, []string{"Sys.Syslog", "VM.GuestAgent.Audit"}},
	} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, pvesim.Options{Version: version})
			token := w.token("/", true, "VM.Audit", "Sys.Audit", "SDN.Audit")
			got, err := w.open(t, w.target(endpoint.Monitoring, token)).Permissions(t.Context())
			if err != nil || !slices.Equal(got.Missing, c.missing) || !slices.Equal(got.Recommended, c.recommended) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for version, release := range map[string]string{"9.2.11": "9.2", "8.4.1": "8.4", "7.4-16": "7.4", "6.2-4": "6.2"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, pvesim.Options{Version: version})
			v, err := w.host(t, endpoint.Monitoring).Version(t.Context())
			if err != nil || v.Version != version || v.Release != release || v.Fingerprint != w.Fingerprint("") || v.NotAfter.IsZero() {
				t.Errorf("got %+v, %v", v, err)
			}
			if !slices.Contains(v.CertificateNames, "127.0.0.1") || !strings.Contains(v.CertificateIssuer, "O=Proxmox Virtual Environment") ||
				v.NotBefore.IsZero() || !v.NotBefore.Before(v.NotAfter) {
				t.Errorf("of the certificate it tells %q, issued by %q, from %s to %s",
					v.CertificateNames, v.CertificateIssuer, v.NotBefore, v.NotAfter)
			}
		})
	}
}
