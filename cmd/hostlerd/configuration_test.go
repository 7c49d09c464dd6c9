package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/hostler/hostler/core/setting"
)

//go:generate go test . -count=1 -run TestConfigurationPage -update

var update = flag.Bool("update", false, "write docs/configuration.md")

// defaultsOfMachine describes the defaults that differ from machine to machine.
var defaultsOfMachine = map[string]string{
	"state-dir":  "`/var/lib/hostler` for root, else `~/.local/state/hostler`",
	"plugin-dir": "`plugins` beside the program",
}

// TestConfigurationPage compares docs/configuration.md with the flags and settings: go generate ./cmd/hostlerd writes it.
func TestConfigurationPage(t *testing.T) {
	t.Parallel()
	const path = "../../docs/configuration.md"
	page := configurationPage(t)
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(path); err != nil || string(have) != page {
		t.Errorf("%s is not that of the flags and settings (%v): run go generate ./cmd/hostlerd", path, err)
	}
}

func configurationPage(t *testing.T) string {
	t.Helper()
	var page strings.Builder
	page.WriteString(configurationIntroduction)
	cfg := DefaultConfig()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg.bind(flags)
	page.WriteString("| Variable | Flag | Default | Meaning |\n|---|---|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		meaning, fallback, hasDefault := strings.Cut(f.Usage, " (default: ")
		if hasDefault {
			fallback = strings.TrimSuffix(fallback, ")")
		}
		switch {
		case defaultsOfMachine[f.Name] != "":
			fallback = defaultsOfMachine[f.Name]
		case f.DefValue == "false":
			fallback = "off"
		case f.DefValue != "":
			fallback = "`" + f.DefValue + "`"
		case fallback == "":
			fallback = "none"
		}
		fmt.Fprintf(&page, "| `%s` | `--%s` | %s | %s |\n", variable(f.Name), f.Name, fallback, meaning)
	})
	page.WriteString(settingsIntroduction)
	page.WriteString("| Setting | Default | Meaning |\n|---|---|---|\n")
	for _, s := range setting.Defaults() {
		fallback, err := json.Marshal(s.Default)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&page, "| `%s` | `%s` | %s |\n", s.Key, fallback, strings.ReplaceAll(s.Doc, "backup-<n>d", "`backup-<n>d`"))
	}
	return page.String()
}

const configurationIntroduction = `# Configuration

This page lists the variables and flags that configure the service on its machine, and the settings that an admin changes while it
runs. It is generated from the code.

## Variables and flags

The service reads its configuration once, when it starts. Each flag of ` + "`hostlerd`" + ` has a variable of the same name. A flag
overrides its variable. The Debian package reads variables from ` + "`/etc/hostler/hostlerd.env`" + `. Run
` + "`systemctl restart hostler`" + ` after a change. ` + "`man hostlerd.env`" + ` has more about each one.
To turn on a switch that is off by default, set it to ` + "`1`" + `.

`

const settingsIntroduction = `
See also [Certificates](certificates.md) for TLS and ACME, and [Reverse proxies](proxy.md) for trusted proxies and the base URL.

The updater has its own file, ` + "`/etc/hostler/updater.json`" + `; see ` + "`man hostler-updater.json`" + `.

## Settings

Settings are in the database. A change takes effect at once on every instance. On the page, choose **Settings**. With the API, and the
variables of [the tour](api.md#log-in):

` + "```console" + `
$ curl -s -b jar $H/settings | jq -c '.[] | {key,value,default}'
$ curl -s -b jar $J -X PATCH $H/settings -d '{"poll.interval_s":60}'
$ curl -s -b jar $J -X PATCH $H/settings -d '{"poll.interval_s":null}'
` + "```" + `

` + "`null`" + ` restores the default.

`
