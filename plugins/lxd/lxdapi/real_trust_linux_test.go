package lxdapi_test

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
	"github.com/hostler/hostler/sdk/plugin"
)

// A stranger gets in by a join token, whose fingerprint pins the server, and the token is good for one.
func TestRealTrustByToken(t *testing.T) {
	t.Parallel()
	server := lxdtest.Shared(t)
	project := server.Project(t, "trust")
	token, err := lxdapi.ParseJoinToken(server.JoinToken(t, "service-monitoring", project))
	if err != nil {
		t.Fatal(err)
	}
	if token.Fingerprint != server.Fingerprint || token.ClientName != "service-monitoring" || len(token.Addresses) != 1 ||
		token.Addresses[0] != server.Address {
		t.Fatalf("%+v of %s, %s", token, server.Address, server.Fingerprint)
	}
	target := server.Stranger(t)
	target.Address, target.Fingerprint = token.Addresses[0], token.Fingerprint
	client := connect(t, target, patience)
	about, _, err := client.Server(t.Context())
	if err != nil || about.Trusted() || about.Environment.Version != "" {
		t.Fatalf("%+v, %v", about, err)
	}
	_, _, err = client.Instances(t.Context(), lxdapi.Scope{Project: project})
	wantKind(t, err, plugin.TokenRejected)

	if err := client.Join(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	if _, _, err := client.Instances(t.Context(), lxdapi.Scope{Project: project}); err != nil {
		t.Error(err)
	}
	about, meta, err := client.Server(t.Context())
	if err != nil || !about.Trusted() || about.Environment.Server != "lxd" || about.Environment.Clustered ||
		meta.Fingerprint != server.Fingerprint || meta.Date.IsZero() {
		t.Errorf("%+v, %+v, %v", about, meta, err)
	}
	own, err := client.OwnCertificate(t.Context())
	if err != nil || own.Name != "service-monitoring" || own.Type != "client" || !own.Restricted || len(own.Projects) != 1 ||
		own.Projects[0] != project {
		t.Errorf("%+v, %v", own, err)
	}
	wantKind(t, connect(t, server.Stranger(t), patience).Join(t.Context(), token), plugin.TokenRejected)
	// Another server than the one that the token was made by is not even asked.
	wrong := server.Stranger(t)
	wrong.Fingerprint = strings.Repeat("AB:", 31) + "AB"
	wantKind(t, connect(t, wrong, patience).Join(t.Context(), token), plugin.Untrusted)
}

// A restricted certificate acts in its project, and is told apart from one that the server does not know.
func TestRealRestrictedCertificate(t *testing.T) {
	t.Parallel()
	server := lxdtest.Shared(t)
	own, other := server.Project(t, "restricted-own"), server.Project(t, "restricted-other")
	web := server.Container(t, own, "web1", lxdtest.Tiny)
	foreign := server.Container(t, other, "web1", lxdtest.Tiny)
	client := connect(t, server.Trusted(t, own), patience)
	ctx := t.Context()

	if all, _, err := client.Instances(ctx, lxdapi.Scope{Project: own}); err != nil || len(all) != 1 || all[0].Project != own {
		t.Errorf("%+v, %v", all, err)
	}
	if err := act(t, client, web, lxdapi.Start, lxdapi.ActOptions{}); err != nil {
		t.Error(err)
	}
	force(t, client, web)
	if metrics, err := client.Metrics(ctx, own); err != nil || len(metrics) != 1 || metrics[0].Name != "web1" {
		t.Errorf("%+v, %v", metrics, err)
	}
	if projects, err := client.Projects(ctx); err != nil || len(projects) != 1 || projects[0].Name != own {
		t.Errorf("%+v, %v", projects, err)
	}
	for name, call := range map[string]func() error{
		"all projects":    func() error { _, _, err := client.Instances(ctx, lxdapi.Scope{All: true}); return err },
		"the default one": func() error { _, _, err := client.Instances(ctx, lxdapi.Scope{}); return err },
		"another project": func() error { _, _, err := client.Instance(ctx, foreign); return err },
		"acting there":    func() error { _, err := client.Act(ctx, foreign, lxdapi.Start, lxdapi.ActOptions{}); return err },
		"metrics of all":  func() error { _, err := client.Metrics(ctx, ""); return err },
		"a snapshot there": func() error {
			_, err := client.CreateSnapshot(ctx, foreign, lxdapi.SnapshotSpec{Name: "s"})
			return err
		},
		"metrics of another": func() error { _, err := client.Metrics(ctx, other); return err },
	} {
		if err := call(); plugin.KindOf(err) != plugin.Denied {
			t.Errorf("%s: %v", name, err)
		}
	}

	metricsOnly := connect(t, server.MetricsOnly(t), patience)
	if _, err := metricsOnly.Metrics(ctx, ""); err != nil {
		t.Error(err)
	}
	_, _, err := metricsOnly.Instances(ctx, lxdapi.Scope{})
	wantKind(t, err, plugin.TokenRejected)
}
