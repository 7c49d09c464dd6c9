package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// hypervisorWord is a word of one hypervisor; vmid is the specification's own, everywhere.
	hypervisorWord = regexp.MustCompile(`(?i)proxmox|\bpve|\bupid|qemu|\bkvm\b|vzdump|\blxc\b|\blxd\b|incus|8006|8443`)
	// exampleTag is a value that documents show: it has to be somebody's.
	exampleTag = regexp.MustCompile(`example:"(?:[^"\\]|\\.)*"`)
)

// Why a file may use such a word.
const (
	specified = "the specification fixes the word, the default or the path"
	fact      = "it names the outside rule that the code follows"
	instance  = "it shows what a value looks like"
	test      = "it is for tests"
)

// wordsOfHypervisors are the files of core and sdk that use words of one hypervisor. All others have to make sense for every one.
var wordsOfHypervisors = map[string]string{
	"core/api/hosts/call.go":          specified,
	"core/api/hosts/enrol.go":         specified,
	"core/api/hosts/hosts.go":         specified,
	"core/api/hosts/token.go":         specified,
	"core/api/op/binding.go":          instance,
	"core/api/op/openapi.go":          instance,
	"core/api/apitest/garbage.go":     test,
	"core/api/hosts/hoststest":        test,
	"core/api/requesttest/fixture.go": test,
	"core/audit/redact.go":            fact,
	"core/db/inventorytest":           test,
	"core/guest/self.go":              fact,
	"core/guest/snapshot.go":          fact,
	"core/host/duplicate.go":          fact,
	"core/host/host.go":               specified,
	"core/host/task.go":               specified,
	"core/plugin/testdata":            test,
	"core/poll/membership.go":         fact,
	"core/selfupdate/shape.go":        fact,
	"sdk/firewall/backend.go":         instance,
	"sdk/hypervisor/drivertest":       test,
	"sdk/hypervisor/info.go":          specified,
	"sdk/hypervisor/inventory.go":     instance,
	"sdk/hypervisor/memdriver":        test,
	"sdk/hypervisor/node_status.go":   instance,
	"sdk/hypervisor/service.go":       instance,
	"sdk/hypervisor/task.go":          instance,
	"sdk/plugin/plugin.go":            instance,
	"sdk/proto/hostler/hypervisor/v1": specified,
	"sdk/proto/hostler/plugin/v1":     instance,
}

// What knows one hypervisor stands in its driver.
func TestCoreAndSDKKnowNoHypervisor(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	read := 0
	// Most files have none of the words, and an expression looks long at each line.
	words := strings.Split(strings.NewReplacer("(?i)", "", `\b`, "").Replace(hypervisorWord.String()), "|")
	for _, dir := range []string{"core", "sdk"} {
		err := filepath.WalkDir("../../"+dir, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".pb.go"):
				return err
			case !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".proto"):
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			read++
			lower := strings.ToLower(string(text))
			if !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(lower, word) }) {
				return nil
			}
			file := filepath.ToSlash(strings.TrimPrefix(path, "../../"))
			for n, line := range strings.Split(string(text), "\n") {
				word := hypervisorWord.FindString(exampleTag.ReplaceAllString(line, ""))
				if word == "" {
					continue
				}
				at := allowed(file)
				if at == "" {
					t.Errorf("%s:%d: %q is a word of one hypervisor", file, n+1, word)
				}
				used[at] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for file := range wordsOfHypervisors {
		if !used[file] {
			t.Errorf("%s has no such word and is listed", file)
		}
	}
	if read < 300 {
		t.Errorf("only %d files were read", read)
	}
}

// allowed is the entry that a file falls under; empty for none.
func allowed(file string) string {
	for entry := range wordsOfHypervisors {
		if file == entry || strings.HasPrefix(file, entry+"/") {
			return entry
		}
	}
	return ""
}
