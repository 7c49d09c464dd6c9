package hypervisor

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/hostler/hostler/sdk/endpoint"
)

// Info is what a driver says of itself. What it leaves empty is filled in by Describe.
type Info struct {
	// Name is the driver's short name, such as "pve": at most 63 lower-case letters, digits, "-" and "_". Version is its own release,
	// at most 63 letters, digits and ".+_-". Both are pinned with the program, and hosts are kept under the name: it never changes.
	Name    string
	Version string
	// Product is the hypervisor's name for people, such as "Proxmox VE".
	Product string
	// Abilities are the names of the optional interfaces that the driver satisfies, filled in by Serve. A driver leaves it nil.
	Abilities []string
	// DefaultPort is added to an address without one; empty is "8006".
	DefaultPort string
	// Forms are how people hand over access, the usual one first; nil is one API token with its id. At least one is not OneTime.
	Forms []CredentialForm
	// Capabilities are those that mean something at this hypervisor, Monitoring among them; nil is all. Nobody is asked for a
	// credential of another one.
	Capabilities []endpoint.Capability
	// Actions are what guests can do, by their kind; a kind that is not named has those of the function Actions. The service offers and
	// accepts no other. Without the ability Lifecycler they say nothing.
	Actions []KindActions
	// Scope is what rights can be narrowed to, as RoleScripter and Permissions have it; zero for nothing.
	Scope Scope
	// Usual is what most hosts have; zero for nothing. A new guest gets it where it is there and nobody asks for another one.
	Usual Usual
}

// Usual are names that most hosts of a hypervisor have in common; empty for none.
type Usual struct {
	// Storage is for the disks of guests, and Bridge is the network that they are attached to.
	Storage, Bridge string
}

// CredentialForm is how access is entered and kept. Labels are for people.
type CredentialForm struct {
	// Name is FormToken, FormClientCertificate, FormJoinToken, or a word of the driver's own in small letters.
	Name  string
	Label string
	// IDLabel is what the id is called, empty when none is entered: the driver finds it.
	IDLabel     string
	SecretLabel string
	// Multiline says that the secret has several lines, such as PEM.
	Multiline bool
	// OneTime says that it is a code, which an Enroller trades for a credential of another form before anything is stored.
	OneTime bool
}

// KindActions are what one kind of guest can do.
type KindActions struct {
	Kind    GuestKind
	Actions []Action
}

// Scope is what rights can be narrowed to.
type Scope struct {
	// Word is what people call it, such as "pool"; Holds what is in it, such as "guests and storages".
	Word, Holds string
	// Example is the path of one, such as "/pool/customers".
	Example string
}

// Describe asks a driver for its Info and completes it. An Info that makes no sense is an error.
func Describe(ctx context.Context, driver Driver) (Info, error) {
	info, err := driver.Info(ctx)
	if err != nil {
		return Info{}, fmt.Errorf("asking the driver for its info: %w", err)
	}
	if info.DefaultPort == "" {
		info.DefaultPort = "8006"
	}
	if len(info.Forms) == 0 {
		info.Forms = []CredentialForm{{Name: endpoint.FormToken, Label: "API token", IDLabel: "Token ID", SecretLabel: "Secret"}}
	}
	if len(info.Capabilities) == 0 {
		info.Capabilities = endpoint.Capabilities()
	}
	if err := info.check(); err != nil {
		return Info{}, fmt.Errorf("what the driver %.40q says of itself: %w", info.Name, err)
	}
	if _, enrols := As[Enroller](driver); !enrols && slices.ContainsFunc(info.Forms, func(f CredentialForm) bool { return f.OneTime }) {
		return Info{}, fmt.Errorf("what the driver %s says of itself: it takes one-time codes and is no Enroller", info.Name)
	}
	return info, nil
}

// Form is the form of that name, and the first one for an empty name.
func (info Info) Form(name string) (CredentialForm, bool) {
	for _, f := range info.Forms {
		if f.Name == name || name == "" {
			return f, true
		}
	}
	return CredentialForm{}, false
}

// Has reports whether a capability means something at the hypervisor.
func (info Info) Has(c endpoint.Capability) bool { return slices.Contains(info.Capabilities, c) }

// Knows reports whether guests of a kind can do an action.
func (info Info) Knows(kind GuestKind, action Action) bool {
	for _, of := range info.Actions {
		if of.Kind == kind {
			return slices.Contains(of.Actions, action)
		}
	}
	return slices.Contains(Actions(kind), action)
}

// Bounds of what a driver says of itself: it is shown to people and kept beside credentials.
const (
	maxForms = 8
	maxLabel = 200
)

var formName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

func (info Info) check() error {
	if port, err := strconv.ParseUint(info.DefaultPort, 10, 16); err != nil || port == 0 {
		return fmt.Errorf("the default port is %.20q", info.DefaultPort)
	}
	for _, text := range []string{info.Name, info.Version, info.Product, info.Scope.Word, info.Scope.Holds, info.Scope.Example,
		info.Usual.Storage, info.Usual.Bridge} {
		if !label(text) {
			return fmt.Errorf("%.40q is no short text", text)
		}
	}
	if err := checkForms(info.Forms); err != nil {
		return err
	}
	for i, c := range info.Capabilities {
		if !slices.Contains(endpoint.Capabilities(), c) || slices.Contains(info.Capabilities[:i], c) {
			return fmt.Errorf("%.40q is no capability, or named twice", c)
		}
	}
	if !info.Has(endpoint.Monitoring) {
		return fmt.Errorf("the capability %s is always needed", endpoint.Monitoring)
	}
	for _, of := range info.Actions {
		if of.Kind != VM && of.Kind != Container {
			return fmt.Errorf("%.40q is no kind of guest", of.Kind)
		}
		for _, action := range of.Actions {
			if !slices.Contains(Actions(VM), action) { // VMs know them all
				return fmt.Errorf("%.40q is no action", action)
			}
		}
	}
	return nil
}

func checkForms(forms []CredentialForm) error {
	if len(forms) > maxForms {
		return fmt.Errorf("there are %d forms of credentials", len(forms))
	}
	lasting := false
	for i, f := range forms {
		same := func(other CredentialForm) bool { return other.Name == f.Name }
		if !formName.MatchString(f.Name) || slices.ContainsFunc(forms[:i], same) {
			return fmt.Errorf("%.40q is no name of a form of credentials, or comes twice", f.Name)
		}
		if !label(f.Label) || !label(f.IDLabel) || !label(f.SecretLabel) || f.Label == "" || f.SecretLabel == "" {
			return fmt.Errorf("the form %s lacks a label, or one is no short text", f.Name)
		}
		lasting = lasting || !f.OneTime
	}
	if !lasting {
		return fmt.Errorf("no form of credentials can be kept")
	}
	return nil
}

// label holds for what can be shown on one line.
func label(text string) bool {
	if len(text) > maxLabel || !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
