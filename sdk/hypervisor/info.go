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

// Info is the description of a driver. Describe fills in defaults for empty fields.
type Info struct {
	// Name is the short name of the driver, such as "pve": at most 63 lower-case
	// letters, digits, "-" and "_". Version is the release of the driver, at most
	// 63 letters, digits and ".+_-". Both are pinned together with the program
	// file. Hosts are stored under the name, so it must never change.
	Name    string
	Version string
	// Product is the name of the hypervisor for people.
	Product string
	// Abilities are the names of the optional interfaces that the driver
	// implements. Serve fills them in; a driver leaves the field nil.
	Abilities []string
	// DefaultPort is added to an address without a port. An empty value means
	// "8006".
	DefaultPort string
	// Forms are the ways in which people enter credentials, the usual one first.
	// Nil means one form: an API token with its ID. At least one form must not be
	// OneTime.
	Forms []CredentialForm
	// Capabilities are those that exist at this hypervisor. Monitoring must be one
	// of them. Nil means all. The service does not ask for credentials of other
	// capabilities.
	Capabilities []endpoint.Capability
	// Actions are the power actions of guests by kind. A kind without entry has
	// those of the function Actions. The service neither offers nor accepts others.
	// The field has no effect without the ability LifecycleManager.
	Actions []KindActions
	// Scope describes what rights can be limited to, for RoleScriptWriter and
	// Permissions. It is zero if rights cannot be limited.
	Scope Scope
	// Usual contains the names that most hosts have. A new guest uses them if they
	// exist on the node and the request names no others. It is zero if there are
	// none.
	Usual DefaultNames
}

// DefaultNames contains names that most hosts of a hypervisor have in common. An empty
// field means that there is none.
type DefaultNames struct {
	// Storage is the storage for the disks of guests. Bridge is the network that
	// guests are attached to.
	Storage, Bridge string
}

// CredentialForm describes one way to enter and store credentials. Labels are shown
// to people.
type CredentialForm struct {
	// Name is endpoint.FormToken, another Form constant of package endpoint, or a
	// word of the driver in lower case.
	Name string
	// Label is the name of the form for people.
	Label string
	// IDLabel is the label of the ID field. It is empty if no ID is entered because
	// the driver derives it.
	IDLabel string
	// SecretLabel is the label of the secret field.
	SecretLabel string
	// Multiline is true if the secret has several lines, such as PEM.
	Multiline bool
	// OneTime is true for a code that an Enroller exchanges for a credential of
	// another form before anything is stored.
	OneTime bool
}

// KindActions are the actions of one kind of guest.
type KindActions struct {
	Kind    GuestKind
	Actions []Action
}

// Scope describes what rights can be limited to.
type Scope struct {
	// Word is the hypervisor's term, such as "pool". Holds says what a scope
	// contains, such as "guests and storages".
	Word, Holds string
	// Example is the path of a scope, such as "/pool/customers".
	Example string
}

// Describe reads the Info of a driver, fills in defaults and validates it. It
// returns an error for an Info that breaks the rules of its fields.
func Describe(ctx context.Context, driver Driver) (Info, error) {
	info, err := driver.Info(ctx)
	if err != nil {
		return Info{}, fmt.Errorf("cannot get the info of the driver: %w", err)
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
		return Info{}, fmt.Errorf("the info of the driver %.40q is invalid: %w", info.Name, err)
	}
	if _, enrols := As[Enroller](driver); !enrols && slices.ContainsFunc(info.Forms, func(f CredentialForm) bool { return f.OneTime }) {
		return Info{}, fmt.Errorf("the info of the driver %s is invalid: it has a form for one-time codes, but does not implement "+
			"Enroller", info.Name)
	}
	return info, nil
}

// Form returns the form with that name, or the first form if the name is empty. It
// returns false if the form does not exist.
func (info Info) Form(name string) (CredentialForm, bool) {
	for _, f := range info.Forms {
		if f.Name == name || name == "" {
			return f, true
		}
	}
	return CredentialForm{}, false
}

// Has reports whether the hypervisor has the capability.
func (info Info) Has(c endpoint.Capability) bool { return slices.Contains(info.Capabilities, c) }

// HasAction reports whether guests of a kind have the action.
func (info Info) HasAction(kind GuestKind, action Action) bool {
	for _, of := range info.Actions {
		if of.Kind == kind {
			return slices.Contains(of.Actions, action)
		}
	}
	return slices.Contains(Actions(kind), action)
}

// Limits of an Info: the number of forms, and the bytes of a text. The texts are
// shown to people and stored beside credentials.
const (
	maxForms = 8
	maxLabel = 200
)

// formName is the shape of CredentialForm.Name, which is stored and part of the
// API.
var formName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// check validates a completed Info.
func (info Info) check() error {
	if port, err := strconv.ParseUint(info.DefaultPort, 10, 16); err != nil || port == 0 {
		return fmt.Errorf("the default port %.20q is invalid", info.DefaultPort)
	}
	for _, text := range []string{info.Name, info.Version, info.Product, info.Scope.Word, info.Scope.Holds, info.Scope.Example,
		info.Usual.Storage, info.Usual.Bridge} {
		if !label(text) {
			return fmt.Errorf("%.40q is not a short text", text)
		}
	}
	if err := checkForms(info.Forms); err != nil {
		return err
	}
	for i, c := range info.Capabilities {
		if !slices.Contains(endpoint.Capabilities(), c) || slices.Contains(info.Capabilities[:i], c) {
			return fmt.Errorf("%.40q is not a capability, or occurs twice", c)
		}
	}
	if !info.Has(endpoint.Monitoring) {
		return fmt.Errorf("the capability %s is required", endpoint.Monitoring)
	}
	for _, of := range info.Actions {
		if of.Kind != VM && of.Kind != Container {
			return fmt.Errorf("%.40q is not a kind of guest", of.Kind)
		}
		for _, action := range of.Actions {
			if !slices.Contains(Actions(VM), action) { // VMs know them all
				return fmt.Errorf("%.40q is not an action", action)
			}
		}
	}
	return nil
}

// checkForms validates the credential forms. At least one must be storable, or no
// host could be added.
func checkForms(forms []CredentialForm) error {
	if len(forms) > maxForms {
		return fmt.Errorf("too many credential forms: %d", len(forms))
	}
	lasting := false
	for i, f := range forms {
		same := func(other CredentialForm) bool { return other.Name == f.Name }
		if !formName.MatchString(f.Name) || slices.ContainsFunc(forms[:i], same) {
			return fmt.Errorf("%.40q is not a valid name of a credential form, or occurs twice", f.Name)
		}
		if !label(f.Label) || !label(f.IDLabel) || !label(f.SecretLabel) || f.Label == "" || f.SecretLabel == "" {
			return fmt.Errorf("the form %s lacks a label, or a label is not a short text", f.Name)
		}
		lasting = lasting || !f.OneTime
	}
	if !lasting {
		return fmt.Errorf("at least one credential form must not be one-time")
	}
	return nil
}

// label reports whether text can be shown on one line: at most maxLabel bytes of
// printable UTF-8.
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
