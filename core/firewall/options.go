package firewall

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// Options are the options of a scope's firewall, as the API shows them. null
// means unset: the hypervisor's default applies.
type Options struct {
	Enable        *int              `json:"enable" minimum:"0" maximum:"1" example:"1" doc:"1 enables the firewall of the scope. Most hypervisors ignore it unless the firewall of the cluster is enabled"`
	DHCP          *int              `json:"dhcp" minimum:"0" maximum:"1"`
	NDP           *int              `json:"ndp" minimum:"0" maximum:"1"`
	RADV          *int              `json:"radv" minimum:"0" maximum:"1"`
	MACFilter     *int              `json:"macfilter" minimum:"0" maximum:"1"`
	IPFilter      *int              `json:"ipfilter" minimum:"0" maximum:"1"`
	PolicyIn      *string           `json:"policy_in" example:"DROP" doc:"Action for traffic that no rule matches"`
	PolicyOut     *string           `json:"policy_out" example:"ACCEPT"`
	PolicyForward *string           `json:"policy_forward" example:"ACCEPT"`
	LogIn         *string           `json:"log_level_in" example:"info"`
	LogOut        *string           `json:"log_level_out" example:"nolog"`
	LogForward    *string           `json:"log_level_forward"`
	Other         map[string]string `json:"other" doc:"Other options that are set, by the hypervisor's names"`
	Digest        *string           `json:"digest" example:"da39a3ee5e6b4b0d3255bfef95601890afd80709" doc:"Digest of the options; it changes when any of them changes. Null if the hypervisor has none, and in the response to a change if another user has changed them since"`
}

// OptionsPatch is a change of options.
type OptionsPatch struct {
	// Flags and Texts are new values by name; nil takes an option away. Other
	// are those of the hypervisor's further options.
	Flags map[string]*bool
	Texts map[string]*string
	Other map[string]*string
	// Delete names options that are not to be set any more, with commas between them.
	Delete string
	// Digest is that of the options; empty is not checked.
	Digest string
}

// options returns the listing of a scope's options. It has one row.
func (s *Store) options(on Scope) *listing[sdk.Options] {
	return &listing[sdk.Options]{
		things: "the options", ordered: true,
		read: func(ctx context.Context) ([]sdk.Options, string, error) {
			found, err := ask(ctx, s, on, func(ctx context.Context, able sdk.OptionsManager, scope sdk.Scope) (sdk.Options, error) {
				return able.Options(ctx, scope)
			})
			digest := found.Digest
			if found.Digest = ""; len(found.Other) == 0 {
				found.Other = nil
			}
			return []sdk.Options{found}, digest, err
		},
		show: func(rows []sdk.Options, digest *string) any { return showOptions(rows[0], digest) },
		tell: tellOptions,
	}
}

// ShowOptions returns options in the API's form, without a digest.
func ShowOptions(o sdk.Options) Options { return showOptions(o, nil) }

// showOptions converts options for the API.
func showOptions(o sdk.Options, digest *string) Options {
	number := func(flag *bool) *int {
		if flag == nil {
			return nil
		}
		n := 0
		if *flag {
			n = 1
		}
		return &n
	}
	shown := Options{
		Enable: number(o.Enable), DHCP: number(o.DHCP), NDP: number(o.NDP), RADV: number(o.RADV), MACFilter: number(o.MACFilter),
		IPFilter: number(o.IPFilter), PolicyIn: host.CleanOrNil(o.PolicyIn), PolicyOut: host.CleanOrNil(o.PolicyOut),
		PolicyForward: host.CleanOrNil(o.PolicyForward), LogIn: host.CleanOrNil(o.LogLevelIn), LogOut: host.CleanOrNil(o.LogLevelOut),
		LogForward: host.CleanOrNil(o.LogLevelForward), Other: map[string]string{}, Digest: digest,
	}
	for name, value := range o.Other {
		shown.Other[host.Clean(name)] = host.Clean(value)
	}
	return shown
}

// tellOptions returns the options that are set, for the audit entry.
func tellOptions(o sdk.Options) map[string]any {
	told := map[string]any{}
	for _, name := range sdk.OptionFlags() {
		if flag := *o.Flag(name); flag != nil {
			told[name] = *flag
		}
	}
	for _, name := range sdk.OptionTexts() {
		if text := *o.Text(name); text != "" {
			told[name] = text
		}
	}
	for name, value := range o.Other {
		told[name] = value
	}
	return told
}

// Options reads the options of a scope's firewall. Problems: those of Rules.
func (s *Store) Options(ctx context.Context, on Scope) (Options, error) {
	l := s.options(on)
	rows, digest, err := l.read(ctx)
	if err != nil {
		return Options{}, err
	}
	return showOptions(rows[0], host.CleanOrNil(digest)), nil
}

// ChangeOptions changes options with one request, and returns all options
// afterwards. Problems: invalid, digest_conflict with current and digest,
// guest_busy during another change of the scope, outcome_unknown,
// capability_missing, and those of Options.
func (s *Store) ChangeOptions(ctx context.Context, on Scope, patch OptionsPatch) (Options, error) {
	c, changed, err := patch.change()
	if err != nil {
		return Options{}, err
	}
	audit.Describe(ctx, func(e *audit.Entry) { e.Detail("changed", changed) })
	return editList[sdk.OptionsManager](ctx, s, on, s.options(on), showOptions, patch.Digest, nil,
		func(was []sdk.Options) (edit[sdk.Options], error) {
			return edit[sdk.Options]{before: 0, at: 0, want: []sdk.Options{optionsAfter(was[0], c)},
				send: requestOf(s, on, func(ctx context.Context, able sdk.OptionsManager, scope sdk.Scope, digest string) error {
					c.Set.Digest = digest
					err := able.ChangeOptions(ctx, scope, c)
					var of *plugin.Error
					if errors.As(err, &of) && slices.Contains(c.Clear, of.Field) { // the body has its name as a value there
						return &plugin.Error{Kind: of.Kind, Message: of.Message, Field: "delete"}
					}
					return err
				})}, nil
		})
}

// optionName is the form of option names of all hypervisors.
var optionName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// change returns the change of a patch, with the names of its options. All
// faults are one problem invalid.
func (p *OptionsPatch) change() (c sdk.OptionsChange, names []string, err error) {
	var faults []problem.Fault
	note := func(name string, cleared bool) {
		if names = append(names, name); cleared {
			c.Clear = append(c.Clear, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Flags)) {
		*c.Set.Flag(name) = p.Flags[name]
		note(name, p.Flags[name] == nil)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Texts)) {
		note(name, p.Texts[name] == nil)
		if text := p.Texts[name]; text != nil {
			*c.Set.Text(name) = *text
			if *text == "" {
				faults = append(faults, bodyFault(name, "must not be empty; send null to remove it")...)
			}
			if strings.HasPrefix(name, "policy_") && *text != "" && !slices.Contains(sdk.Policies(), *text) {
				faults = append(faults, bodyFault(name, "must be one of "+strings.Join(sdk.Policies(), ", "))...)
			}
			faults = append(faults, fault(sdk.CheckText(name, *text, sdk.MaxText))...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Other)) {
		if !further(name) {
			faults = append(faults, problem.Fault{Loc: []any{"body", "other"}, Type: "value_error",
				Msg: "must not contain options that have their own field outside of other"})
			continue
		}
		note(name, p.Other[name] == nil)
		if text := p.Other[name]; text != nil {
			if c.Set.Other == nil {
				c.Set.Other = map[string]string{}
			}
			c.Set.Other[name] = *text
			faults = append(faults, fault(sdk.CheckText("other", *text, sdk.MaxText))...)
		}
	}
	for _, name := range listed(p.Delete) {
		switch {
		case slices.Contains(c.Clear, name):
		case slices.Contains(names, name):
			faults = append(faults, bodyFault("delete", "contains an option that the body also sets")...)
		case !optionName.MatchString(name):
			faults = append(faults, bodyFault("delete", "contains an unknown option")...)
		default:
			note(name, true)
		}
	}
	if len(names) == 0 && len(faults) == 0 {
		return c, nil, guest.NothingToChange()
	}
	return c, names, invalid(faults)
}

// further reports whether a name can be that of an option that the SDK does not
// know.
func further(name string) bool {
	var o sdk.Options
	return optionName.MatchString(name) && o.Flag(name) == nil && o.Text(name) == nil && name != sdk.FieldDigest && name != "delete"
}

// optionsAfter returns options after a change.
func optionsAfter(o sdk.Options, c sdk.OptionsChange) sdk.Options {
	o.Other = maps.Clone(o.Other)
	for _, name := range c.Clear {
		if flag := o.Flag(name); flag != nil {
			*flag = nil
		} else if text := o.Text(name); text != nil {
			*text = ""
		} else {
			delete(o.Other, name)
		}
	}
	for _, name := range sdk.OptionFlags() {
		if flag := *c.Set.Flag(name); flag != nil {
			*o.Flag(name) = flag
		}
	}
	for _, name := range sdk.OptionTexts() {
		if text := *c.Set.Text(name); text != "" {
			*o.Text(name) = text
		}
	}
	for name, value := range c.Set.Other {
		if o.Other == nil {
			o.Other = map[string]string{}
		}
		o.Other[name] = value
	}
	if len(o.Other) == 0 {
		o.Other = nil
	}
	return o
}
