package scripts_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/scripts/scriptstest"
	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

func environment(l catalog.Launch) map[string]string {
	values := map[string]string{}
	for _, v := range l.Environment {
		values[v.Name] = v.Value
	}
	return values
}

func TestLaunch(t *testing.T) {
	t.Parallel()
	server := scriptstest.NewServer(t)
	pin := pinOf(server.Push(scriptstest.Small()))
	c := open(t, server.Config())
	request := catalog.LaunchRequest{Slug: "second", Pin: pin, Purpose: catalog.Install, Place: strings.Repeat("a", 64), Name: "my-app",
		Container: "123", Tags: []string{"svc-job-7"}, RootStorage: "local-lvm", TemplateStorage: "local", Bridge: "vmbr0",
		Architecture: "amd64",
		Overrides: map[string]string{"cpu": "4", "ssh": "true", "net": "10.0.0.5/24", "github_token": "ghp_0123456789abcdefghij",
			"ssh_authorized_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA me@here", "tun": "false"}}
	l, err := c.Launch(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	got := environment(l)
	for name, want := range map[string]string{"mode": "generated", "PHS_SILENT": "1", "var_unattended": "yes", "TERM": "xterm",
		"var_ctid":     "123",
		"var_hostname": "my-app", "var_tags": "community-script;test;small;svc-job-7", "var_container_storage": "local-lvm",
		"var_template_storage": "local", "var_brg": "vmbr0", "var_cpu": "4", "var_ssh": "yes", "var_net": "10.0.0.5/24", "var_gpu": "no",
		"var_tun": "no", "GITHUB_TOKEN": "ghp_0123456789abcdefghij"} {
		if got[name] != want {
			t.Errorf("%s is %q and not %q", name, got[name], want)
		}
	}
	for _, v := range l.Environment {
		if v.Secret != (v.Name == "GITHUB_TOKEN") {
			t.Errorf("%s is secret: %v", v.Name, v.Secret)
		}
	}
	if !l.Push || l.Sentinel != "asked" || l.Succeeded != "Completed successfully!" || l.VersionFile != "/root/.second" ||
		l.Program != "ct/second.sh" ||
		len(l.Prepare) != 1 || l.Prepare[0].Content != "DIAGNOSTICS=no\n" || l.Input != "" || l.Limit.Hours() != 1 || len(l.Exits) < 30 {
		t.Errorf("the launch is %+v", l)
	}
	request.Purpose, request.Overrides = catalog.Update, nil
	l, err = c.Launch(t.Context(), request)
	if got := environment(l); err != nil || l.Push || got["mode"] != "" || got["PHS_SILENT"] != "1" || l.Succeeded != "" {
		t.Errorf("the update is %+v, %v", l, err)
	}
}

// The answers are as many lines as there are questions, the consent first, and it must be given.
func TestAnswers(t *testing.T) {
	t.Parallel()
	server := scriptstest.NewServer(t)
	pin := pinOf(server.Push(scriptstest.Small()))
	c := open(t, server.Config())
	for _, a := range []struct {
		answers []string
		yes     bool
		want    string
		refused string
	}{
		{nil, true, "y\n\n", ""}, {[]string{"me"}, true, "y\nme\n", ""}, {[]string{"y", "me"}, true, "y\nme\n", ""}, {nil, false, "", "yes"},
		{[]string{"a", "b", "c"}, true, "", "answers"}, {[]string{"a\nb"}, true, "", "answers"}, {[]string{"a\x00"}, true, "", "answers"},
	} {
		l, err := c.Launch(t.Context(), catalog.LaunchRequest{Slug: "asks", Pin: pin, Purpose: catalog.Install, Place: strings.Repeat("a", 64),
			Name: "x", RootStorage: "local", TemplateStorage: "local", Bridge: "vmbr0", Answers: a.answers, Yes: a.yes})
		refused(t, strings.Join(a.answers, ","), err, a.refused)
		if l.Input != a.want {
			t.Errorf("the input of %q is %q", a.answers, l.Input)
		}
	}
}

func refused(t *testing.T, what string, err error, field string) {
	t.Helper()
	known, _ := err.(*plugin.Error) //nolint:errorlint // it is that itself
	if (err == nil) != (field == "") || err != nil && (known == nil || known.Kind != plugin.Invalid || known.Field != field) {
		t.Errorf("%q: %v", what, err)
	}
}

// What is no value of its kind never comes to a script: they put values into arguments without quotes.
func TestHostileValues(t *testing.T) {
	t.Parallel()
	server := scriptstest.NewServer(t)
	pin := pinOf(server.Push(scriptstest.Small()))
	c := open(t, server.Config())
	good := catalog.LaunchRequest{Slug: "first", Pin: pin, Purpose: catalog.Install, Place: strings.Repeat("a", 64), Name: "x",
		RootStorage: "local", TemplateStorage: "local", Bridge: "vmbr0", Tags: []string{"x"}}
	hostile := []string{"", " ", "a b", "a'b", `a"b`, "a\nb", "$(id)", "`id`", "a;b", "a\x00b", "--help", "ü", "../x", "a,b=c",
		strings.Repeat("a", 500)}
	for field, set := range map[string]func(*catalog.LaunchRequest, string){
		"name":             func(r *catalog.LaunchRequest, v string) { r.Name = v },
		"root_storage":     func(r *catalog.LaunchRequest, v string) { r.RootStorage = v },
		"template_storage": func(r *catalog.LaunchRequest, v string) { r.TemplateStorage = v },
		"bridge":           func(r *catalog.LaunchRequest, v string) { r.Bridge = v },
		"tags":             func(r *catalog.LaunchRequest, v string) { r.Tags = []string{v} },
		"place":            func(r *catalog.LaunchRequest, v string) { r.Place = v },
	} {
		for _, value := range hostile {
			request := good
			set(&request, value)
			_, err := c.Launch(t.Context(), request)
			refused(t, field+"="+value, err, field)
		}
	}
	values := map[string][]string{}
	for _, o := range sync(t, c).entries["first"].Overrides {
		values[o.Key] = hostile
	}
	if len(values) < 25 {
		t.Fatalf("%d overrides", len(values))
	}
	for key, bad := range map[string][]string{"cpu": {"0", "01", "-1", "1e3", "513"}, "vlan": {"4095"}, "net": {"dhcp,ip6=auto", "10.0.0.1",
		"10.0.0.0/33"},
		"gateway": {"fe80::1%eth0"}, "ipv6_method": {"static"}, "ssh": {"yes"}, "http_proxy": {"http://u:p@x:1"}, "github_token": {"short"}} {
		values[key] = append(slices.Clone(values[key]), bad...)
	}
	for key, list := range values {
		for _, value := range list {
			request := good
			request.Overrides = map[string]string{key: value}
			_, err := c.Launch(t.Context(), request)
			refused(t, key+"="+value, err, key)
		}
	}
	for _, key := range []string{"post_install", "var_post_install", "mode", "FUNCTIONS_FILE_PATH", "PATH", "BASH_ENV", "LD_PRELOAD", "pw",
		"ctid",
		"COMMUNITY_SCRIPTS_URL", "TELEMETRY_URL", "ignore_disable", "ignore_os_mismatch", "unprivileged"} {
		request := good
		request.Overrides = map[string]string{key: "1", "cpu": "1"}
		_, err := c.Launch(t.Context(), request)
		refused(t, key, err, key)
		if names := slices.Collect(maps.Keys(values)); slices.Contains(names, key) {
			t.Errorf("%s can be set", key)
		}
	}
}
