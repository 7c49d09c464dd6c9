package catalog_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
	"github.com/hostler/hostler/sdk/plugin"
)

// saying is a source that says something else of itself.
type saying struct {
	sdk.Source
	trust   string
	options []sdk.Option
	opened  func(sdk.Config) error
}

func (s *saying) Info(ctx context.Context) (sdk.Info, error) {
	info, err := s.Source.Info(ctx)
	info.Trust, info.Options = s.trust, s.options
	return info, err
}

func (s *saying) Open(ctx context.Context, c sdk.Config) (sdk.Catalog, error) {
	if err := s.opened(c); err != nil {
		return nil, err
	}
	c.Options = nil
	return s.Source.Open(ctx, c)
}

// A source is on when somebody has read what it says of trust, and off again in effect when it says something else.
func TestTrust(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	said := &saying{Source: &catalogtest.Memory{Name: "other"}, trust: "Someone", opened: func(sdk.Config) error { return nil }}
	f.sources["other"] = said
	if s := f.source("other"); s.Enabled || !s.Installed || s.TrustAccepted || *s.Trust != "Someone" || s.Namespace != "other/" {
		t.Errorf("%+v", s)
	}
	for _, digest := range []*string{nil, new(strings.Repeat("0", 64))} {
		_, err := f.Update(t.Context(), "other", catalog.SourceChange{Enabled: new(true), TrustDigest: digest})
		if p := isProblem(t, err, problem.CodeConsentRequired); p.Members["trust"] != "Someone" ||
			p.Members["trust_digest"] != *f.source("other").TrustDigest {
			t.Errorf("%+v", p)
		}
	}
	f.on("other")
	f.mem.Add(catalogtest.State{Entries: entries("a", "b")})
	said.Source.(*catalogtest.Memory).Add(catalogtest.State{Entries: entries("c", "d")})
	f.refreshed()
	said.trust = "Someone else"
	f.hosts()
	_, err := f.Plan(as(t, identity.Admin), "other/c", 1, sdk.Install)
	if p := isProblem(t, err, problem.CodeCatalogSourceError); p.Members["reason"] != "trust" {
		t.Errorf("%+v", p)
	}
	status, transcript := f.refresh()
	if s := f.source("other"); status != "failed" || s.TrustAccepted || s.Failure.Reason != "trust" || !strings.Contains(transcript,
		"owner has to read it") {
		t.Errorf("%s: %s: %+v", status, transcript, s)
	}
	_, err = f.Update(t.Context(), "other", catalog.SourceChange{Popularity: new(true)})
	isProblem(t, err, problem.CodeConsentRequired)
	f.on("other")
	f.refreshed()
	delete(f.sources, "other")
	if s := f.source("other"); s.Installed || !s.Enabled || s.Title == "" || s.Entries != 2 {
		t.Errorf("%+v", s)
	}
	if status, _ := f.refresh(); status != "failed" || f.source("other").Failure.Reason != "not_installed" {
		t.Error(status)
	}
	if _, err := f.Update(t.Context(), "other", catalog.SourceChange{Enabled: new(false)}); err != nil {
		t.Error("a source whose plugin is gone cannot be switched off:", err)
	}
	_, err = f.Update(t.Context(), "nobody", catalog.SourceChange{Enabled: new(false)})
	isProblem(t, err, problem.CodeNotFound)
}

// Options are of their types, secrets are never told, and the source gets what was set.
func TestOptions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var got sdk.Config
	said := &saying{Source: f.mem, trust: "Whoever has started it.", options: []sdk.Option{
		{Key: "token", Type: sdk.Line, Secret: true}, {Key: "url", Type: sdk.URL}, {Key: "size", Type: sdk.Integer, Min: 1, Max: 9},
		{Key: "kind", Type: sdk.Choice, Values: []string{"one", "two"}},
	}, opened: func(c sdk.Config) error {
		got = c
		if c.Options["kind"] == "two" {
			e := plugin.Errorf(plugin.Invalid, "two is not now, and the token %s neither", c.Options["token"])
			e.Field = "kind"
			return e
		}
		return nil
	}}
	f.sources["scripts"] = said
	options := func(pairs ...string) map[string]*secret.String {
		all := map[string]*secret.String{}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i]] = new(secret.New(pairs[i+1]))
		}
		return all
	}
	const canary = "zq-secret-canary"
	for name, c := range map[string]struct {
		set  map[string]*secret.String
		want string
	}{
		"unknown": {options("nothing", canary), "key"}, "type": {options("size", canary), "size"}, "bounds": {options("size", "10"), "size"},
		"private": {options("url", "http://10.0.0.5/"+canary), "url"}, "loopback": {options("url", "http://127.0.0.1/"+canary), "url"},
		"metadata": {options("url", "http://169.254.169.254/"+canary), "url"}, "userinfo": {options("url",
			"https://u:"+canary+"@example.com"), "url"},
		"choice": {options("kind", "three"), "kind"}, "the source's word": {options("kind", "two", "token", canary), "kind"},
		"lines": {options("token", canary+"\n"), "token"},
	} {
		_, err := f.Update(t.Context(), "scripts", catalog.SourceChange{Options: c.set})
		p := isProblem(t, err, problem.CodeInvalid)
		if len(p.Faults) != 1 || p.Faults[0].Loc[2] != c.want || strings.Contains(marshal(t, p.Faults), canary) {
			t.Errorf("%s: %+v", name, p.Faults)
		}
	}
	now, err := f.Update(t.Context(), "scripts", catalog.SourceChange{Options: options("token", canary, "url", "https://example.com/a",
		"size", "3")})
	if err != nil || strings.Contains(marshal(t, now), canary) || got.Options["token"] != canary || got.Cache == "" {
		t.Fatalf("%s, %+v, %v", marshal(t, now), got, err)
	}
	if o := now.Options; !o[0].Set || o[0].Value != nil || *o[1].Value != "https://example.com/a" || *o[2].Value != "3" || o[3].Set {
		t.Error(marshal(t, o))
	}
	if sealed := f.Value("SELECT encode(options, 'escape') FROM catalog_sources"); strings.Contains(sealed, canary) {
		t.Error("the options are not sealed")
	}
	if now, err = f.Update(t.Context(), "scripts", catalog.SourceChange{Options: map[string]*secret.String{"token": nil}}); err != nil ||
		now.Options[0].Set {
		t.Errorf("%s, %v", marshal(t, now), err)
	}
}
