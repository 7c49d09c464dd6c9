package pve

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

var _ firewall.Optioner = (*Firewall)(nil)

// optionsRow is the options of a guest's firewall. What is absent is not set.
type optionsRow struct {
	Digest    pveapi.Text  `json:"digest"`
	Enable    *pveapi.Flag `json:"enable"`
	DHCP      *pveapi.Flag `json:"dhcp"`
	NDP       *pveapi.Flag `json:"ndp"`
	RADV      *pveapi.Flag `json:"radv"`
	MACFilter *pveapi.Flag `json:"macfilter"`
	IPFilter  *pveapi.Flag `json:"ipfilter"`
	PolicyIn  pveapi.Text  `json:"policy_in"`
	PolicyOut pveapi.Text  `json:"policy_out"`
}

// Options implements firewall.Optioner. The hypervisor has options for guests that do not exist, too: none.
func (f *Firewall) Options(ctx context.Context, scope firewall.Scope) (firewall.Options, error) {
	path, node, err := firewallPath(scope, "options")
	if err != nil {
		return firewall.Options{}, err
	}
	var row optionsRow
	if _, err := f.host.api.Get(ctx, path, nil, &row); err != nil {
		return firewall.Options{}, f.host.explainAway(ctx, node, err)
	}
	return firewall.Options{
		Digest: string(row.Digest), Enable: (*bool)(row.Enable), DHCP: (*bool)(row.DHCP), NDP: (*bool)(row.NDP), RADV: (*bool)(row.RADV),
		MACFilter: (*bool)(row.MACFilter), IPFilter: (*bool)(row.IPFilter), PolicyIn: string(row.PolicyIn), PolicyOut: string(row.PolicyOut),
	}, nil
}

// guestOptionNames are the options that a change can name, as the hypervisor names them too.
var guestOptionNames = []string{firewall.OptionEnable, firewall.OptionDHCP, firewall.OptionNDP, firewall.OptionRADV,
	firewall.OptionMACFilter, firewall.OptionIPFilter, firewall.OptionPolicyIn, firewall.OptionPolicyOut}

// ChangeOptions implements firewall.Optioner. The hypervisor takes a change of a guest that does not exist, too.
func (f *Firewall) ChangeOptions(ctx context.Context, scope firewall.Scope, change firewall.OptionsChange) error {
	path, node, err := firewallPath(scope, "options")
	if err != nil {
		return err
	}
	form, set := url.Values{}, change.Set
	for name, flag := range map[string]*bool{
		firewall.OptionEnable: set.Enable, firewall.OptionDHCP: set.DHCP, firewall.OptionNDP: set.NDP, firewall.OptionRADV: set.RADV,
		firewall.OptionMACFilter: set.MACFilter, firewall.OptionIPFilter: set.IPFilter,
	} {
		if flag != nil {
			form.Set(name, map[bool]string{true: "1", false: "0"}[*flag])
		}
	}
	for name, policy := range map[string]string{firewall.OptionPolicyIn: set.PolicyIn, firewall.OptionPolicyOut: set.PolicyOut} {
		switch {
		case policy == "":
		case !slices.Contains(firewall.Policies(), policy):
			return invalidOption(name, "must be one of "+strings.Join(firewall.Policies(), ", "))
		default:
			form.Set(name, policy)
		}
	}
	for _, name := range change.Clear {
		if !slices.Contains(guestOptionNames, name) {
			return invalidOption(name, "there is no such option")
		}
	}
	if len(change.Clear) > 0 {
		form.Set("delete", strings.Join(change.Clear, ","))
	}
	if set.Digest != "" {
		form.Set("digest", set.Digest)
	}
	if _, err := f.host.api.Put(ctx, path, form, nil); err != nil {
		return staleOptions(f.host.explainAway(ctx, node, err))
	}
	return nil
}

func invalidOption(name, text string) error {
	e := plugin.Errorf(plugin.Invalid, "%s", text)
	e.Field = name
	return e
}

// staleOptions names the digest in the refusal of one that is another by now.
func staleOptions(err error) error {
	if e, is := err.(*plugin.Error); is && e.Kind == plugin.Conflict && strings.Contains(e.Message, "detected modified configuration") {
		stale := *e
		stale.Field = "digest"
		return &stale
	}
	return err
}
