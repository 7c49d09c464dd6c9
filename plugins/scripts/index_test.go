package scripts_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// indexed is one row of the index of the real tree.
type indexed struct {
	Slug, Type, Script, App, Author, License string
	Install                                  string `json:"install_script"`
	Prompts                                  int
	Consent                                  bool `json:"consent_prompt"`
	Defaults                                 map[string]string
	Web                                      *struct {
		Protocol, Path string
		Port           int
	}
	Update    bool   `json:"update_script"`
	VariantOf string `json:"variant_of"`
	Source    []string
	Metadata  string
}

func readIndex(t *testing.T, reference string) []indexed {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(reference, "scripts-index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index struct{ Entries []indexed }
	if err := json.Unmarshal(raw, &index); err != nil {
		t.Fatal(err)
	}
	return index.Entries
}

// script is a script of ours that says what the row says.
func (e indexed) script() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#!/usr/bin/env bash\n# Author: %s\n# License: %s\n# Source: %s\n", e.Author, e.License, strings.Join(e.Source, " | "))
	if e.App != "" {
		fmt.Fprintf(&b, "APP=%q\n", e.App)
	}
	for _, key := range slices.Sorted(maps.Keys(e.Defaults)) {
		fmt.Fprintf(&b, "%s=\"${%s:-%s}\"\n", key, key, e.Defaults[key])
	}
	if e.Update {
		b.WriteString("function update_script() {\n  exit\n}\n")
	}
	b.WriteString("start\nbuild_container\ndescription\n")
	if e.Web != nil {
		fmt.Fprintf(&b, "echo -e \"${BGN}%s://${IP}:%d%s${CL}\"\n", e.Web.Protocol, e.Web.Port, e.Web.Path)
	}
	return b.String()
}

// install is an install script of ours that asks what the row says.
func (e indexed) install() string {
	var b strings.Builder
	b.WriteString("#!/usr/bin/env bash\n")
	for i := range e.Prompts {
		if i == 0 && e.Consent {
			b.WriteString("read -r -p \"${TAB3}Do you want to continue? [y/N]: \" CONFIRM\n")
			continue
		}
		fmt.Fprintf(&b, "read -rp \"Question %d: \" answer\n", i)
	}
	return b.String()
}
