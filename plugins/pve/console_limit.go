package pve

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// consoleNeed is the release of a package that a console with a token needs.
// Every token may read only the version of pve-manager, from which the versions
// of the other packages follow.
type consoleNeed struct {
	of      string
	what    string // for people
	needs   string
	manager [3]int
	besides string
}

// What terminals need. Screens of VMs take tokens in all releases.
var (
	nodeTerminal = consoleNeed{of: "node", what: "shells of nodes", manager: [3]int{9, 0, 13},
		needs: "pve-manager 9.0.13 with access-control 9.0.4 (Proxmox VE 9.1)"}
	guestTerminal = map[hypervisor.GuestKind]consoleNeed{
		hypervisor.VM: {of: string(hypervisor.VM), what: "terminals of VMs", manager: [3]int{9, 1, 9},
			needs: "qemu-server 9.1.7, which was released with pve-manager 9.1.9", besides: "; graphical consoles work"},
		hypervisor.Container: {of: string(hypervisor.Container), what: "terminals of containers", manager: [3]int{9, 1, 9},
			needs: "pve-container 6.1.3, which was released with pve-manager 9.1.9"},
	}
)

// limitOf returns what is missing, and the present version if it is known.
func limitOf(need consoleNeed, version string) hypervisor.ConsoleLimit {
	there := "the installed version is older"
	if version != "" {
		there = "the host has pve-manager " + version
	}
	return hypervisor.ConsoleLimit{Of: need.of, Kind: hypervisor.ConsoleTerminal,
		Reason: fmt.Sprintf("With API tokens, %s require %s: %s%s", need.what, need.needs, there, need.besides)}
}

// ConsoleLimits implements hypervisor.ConsoleOpener. It asks the called node for the
// version of pve-manager, with one request.
func (h *Host) ConsoleLimits(ctx context.Context) ([]hypervisor.ConsoleLimit, error) {
	version, err := h.Version(ctx)
	if err != nil {
		return nil, err
	}
	at, ok := threeParts(version.Version)
	if !ok {
		return nil, nil
	}
	var limits []hypervisor.ConsoleLimit
	for _, need := range []consoleNeed{guestTerminal[hypervisor.VM], guestTerminal[hypervisor.Container], nodeTerminal} {
		if slices.Compare(at[:], need.manager[:]) < 0 {
			limits = append(limits, limitOf(need, version.Version))
		}
	}
	return limits, nil
}

// managerVersion returns the version of pve-manager of a node.
func (o *consoleOpener) managerVersion(ctx context.Context) (string, error) {
	var about struct {
		Version pveapi.Text `json:"version"`
		Release pveapi.Text `json:"release"`
	}
	if _, err := o.askNode(ctx, &about, nil, o.node, "version"); err != nil {
		return "", err
	}
	version, _ := versionOf(string(about.Version), string(about.Release))
	return saidOf(version), nil
}

// threeParts reads "9.1.9" and "7.4-16".
func threeParts(version string) (parts [3]int, ok bool) {
	for i, text := range strings.FieldsFunc(version, func(r rune) bool { return r == '.' || r == '-' || r == '~' }) {
		if i == len(parts) {
			break
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return parts, i > 1
		}
		parts[i] = n
	}
	return parts, version != ""
}
