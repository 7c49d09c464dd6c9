package pve

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"io"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

var (
	_ firewall.RuleLister = (*Firewall)(nil)
	_ firewall.RuleEditor = (*Firewall)(nil)
	_ firewall.RuleMover  = (*Firewall)(nil)
)

// ruleRow is one row of a list of rules, with the names of Proxmox VE. Every
// row repeats the digest of the whole list.
type ruleRow map[string]pveapi.Text

// rule converts a row at a place of the list.
func (r ruleRow) rule(position int) firewall.Rule {
	text := func(name string) string { return string(r[name]) }
	return firewall.Rule{
		Position: position, Direction: text("type"), Action: text("action"), Enabled: isOn(text("enable")), Macro: text("macro"),
		Protocol: text("proto"), Source: text("source"), Destination: text("dest"), SourcePort: text("sport"), DestinationPort: text("dport"),
		Interface: text("iface"), Log: text("log"), ICMPType: text("icmp-type"), Comment: text("comment"),
	}
}

// isOn reads a boolean, which the hypervisor may write as a number above 1.
func isOn(text string) bool {
	number, err := strconv.ParseUint(text, 10, 64)
	return err == nil && number > 0 || slices.Contains([]string{"true", "on", "yes"}, text)
}

// rulesOf returns the place of a scope's rules. The list of a group is the
// group itself.
func rulesOf(scope firewall.Scope) (place, error) {
	if scope.Kind != firewall.GroupScope || !firewall.ValidScope(scope) {
		return placeOf(scope, "rules")
	}
	if firewall.CheckName(firewall.FieldName, scope.Group) != nil {
		return place{}, noGroup(scope.Group)
	}
	path, err := pveapi.Path("cluster", "firewall", "groups", scope.Group)
	return place{path: path}, err
}

// Rules implements firewall.RuleLister. Proxmox VE returns an empty list for
// guests that do not exist.
func (f *Firewall) Rules(ctx context.Context, scope firewall.Scope) ([]firewall.Rule, string, error) {
	at, err := rulesOf(scope)
	if err != nil {
		return nil, "", err
	}
	rows, err := f.ruleRows(ctx, at)
	if err != nil {
		return nil, "", err
	}
	rules := make([]firewall.Rule, len(rows))
	for i, row := range rows {
		rules[i] = row.rule(i)
	}
	return rules, ruleDigest(rows), nil
}

// ruleRows reads a list. Its order is that of the positions.
func (f *Firewall) ruleRows(ctx context.Context, at place) ([]ruleRow, error) {
	var rows []ruleRow
	if err := f.read(ctx, at, &rows); err != nil {
		return nil, err
	}
	for i, row := range rows {
		if position := string(row["pos"]); position != strconv.Itoa(i) {
			return nil, plugin.Errorf(plugin.Protocol, "the list has rule %.40q at position %d", position, i)
		}
	}
	return rows, nil
}

// ruleDigest returns the digest of a list of rules. Each row repeats it.
func ruleDigest(rows []ruleRow) string {
	return digestOf(len(rows), func(i int) pveapi.Text { return rows[i]["digest"] })
}

// digestOfRules computes the digest that Proxmox VE gives a list with these
// rows: a checksum of all fields except the position (PVE::Firewall,
// copy_list_with_digest).
func digestOfRules(rows []ruleRow) string {
	sum := sha1.New()
	for _, row := range rows {
		for _, name := range slices.Sorted(maps.Keys(row)) {
			if name != "pos" && name != "digest" && name != "errors" {
				_, _ = io.WriteString(sum, name+":"+string(row[name])+"\n")
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// CreateRule implements firewall.RuleEditor. Proxmox VE inserts every new rule
// at the first place and ignores a digest. The rule is read back, because
// macros and comments are stored in another spelling; a token that may not read
// gets no position.
func (f *Firewall) CreateRule(ctx context.Context, scope firewall.Scope, rule firewall.Rule, digest string) (int, string, error) {
	at, err := rulesOf(scope)
	if err != nil {
		return 0, "", err
	}
	form, err := ruleForm(rule)
	if err != nil {
		return 0, "", err
	}
	err = f.change(ctx, at, func() error {
		if err := f.freshRules(ctx, at, digest); err != nil {
			return err
		}
		_, err := f.host.api.Post(ctx, at.path, form, nil)
		return err
	})
	if err != nil {
		return 0, "", err
	}
	rows, err := f.ruleRows(ctx, at)
	if err != nil || len(rows) == 0 || !sameRule(rows[0].rule(0), rule) || digest != "" && digestOfRules(rows[1:]) != digest {
		f.host.log.Debug("rule created at an unknown position", "path", at.path, "error", err)
		return -1, "", nil
	}
	return 0, ruleDigest(rows), nil
}

// sameRule reports whether a rule that was read is the one that was sent.
func sameRule(read, sent firewall.Rule) bool {
	if !strings.EqualFold(read.Macro, sent.Macro) || read.Comment != strings.TrimSpace(sent.Comment) {
		return false
	}
	sent.Position, sent.Macro, sent.Comment = read.Position, read.Macro, read.Comment
	return read == sent
}

// freshRules compares a digest with that of a list of rules without the right
// to read it. It asks to remove a required field of the first rule, as look
// does.
func (f *Firewall) freshRules(ctx context.Context, at place, digest string) error {
	if digest == "" {
		return nil
	}
	one, err := at.below("0")
	if err != nil {
		return err
	}
	_, err = f.host.api.Put(ctx, one.path, url.Values{"delete": {"type"}, "digest": {digest}}, nil)
	return freshAfter(err, "removed the type of the first rule")
}

// look reports whether a list has a rule at a position, and whether the digest
// is that of the list; an empty digest is not compared. It asks to remove a
// field that a rule must have: Proxmox VE compares the digest and looks for the
// rule first and then refuses, so that nothing changes. A token that may change
// rules need not be allowed to read them.
func (f *Firewall) look(ctx context.Context, at place, position int, digest string) (there bool, err error) {
	one, err := at.below(strconv.Itoa(position))
	if err != nil {
		return false, err
	}
	form := url.Values{"delete": {"type"}}
	if digest != "" {
		form.Set("digest", digest)
	}
	_, err = f.host.api.Put(ctx, one.path, form, nil)
	e, refused := asError(firewallError(err))
	switch {
	case err == nil:
		return false, plugin.Errorf(plugin.Protocol, "the hypervisor accepted a trial change that it should refuse; check rule %d", position)
	case refused && e.Kind == plugin.Invalid && e.Field == "delete":
		return true, nil
	case refused && e.Kind == plugin.NotFound && e.Field == firewall.FieldPosition:
		return false, nil
	}
	return false, err
}

// isPosition reports whether a number can be a position in a list.
func isPosition(position int) bool { return position >= 0 && position <= math.MaxInt32 }

// noRule returns the NotFound error for a position without rule.
func noRule(position int) error {
	e := plugin.Errorf(plugin.NotFound, "rule %d not found", position)
	e.Field = firewall.FieldPosition
	return e
}

// oneRule returns the place of a rule.
func oneRule(scope firewall.Scope, position int) (place, error) {
	at, err := rulesOf(scope)
	if err != nil {
		return place{}, err
	}
	if !isPosition(position) {
		return place{}, noRule(position)
	}
	return at.below(strconv.Itoa(position))
}

// ChangeRule implements firewall.RuleEditor.
func (f *Firewall) ChangeRule(ctx context.Context, scope firewall.Scope, position int, change firewall.RuleChange) error {
	at, err := oneRule(scope, position)
	if err != nil {
		return err
	}
	form, err := ruleChangeForm(change)
	if err != nil {
		return err
	}
	return f.change(ctx, at, func() error {
		_, err := f.host.api.Put(ctx, at.path, form, nil)
		return err
	})
}

// DeleteRule implements firewall.RuleEditor.
func (f *Firewall) DeleteRule(ctx context.Context, scope firewall.Scope, position int, digest string) error {
	at, err := oneRule(scope, position)
	if err != nil {
		return err
	}
	return f.change(ctx, at, func() error {
		_, err := f.host.api.Delete(ctx, at.path, withDigest(url.Values{}, digest), nil)
		return err
	})
}

// MoveRule implements firewall.RuleMover. Proxmox VE counts the destination
// before the rule is removed, and takes every number beyond the list for its
// end. So when a rule moves down, the destination is checked first.
func (f *Firewall) MoveRule(ctx context.Context, scope firewall.Scope, from, to int, digest string) error {
	list, err := rulesOf(scope)
	if err != nil {
		return err
	}
	at, err := oneRule(scope, from)
	if err != nil {
		return err
	}
	if !isPosition(to) {
		return noPlace(to)
	}
	return f.change(ctx, at, func() error {
		before := to
		if to >= from {
			there, err := f.look(ctx, list, to, digest)
			if err == nil && !there {
				err = f.lacks(ctx, list, from, to)
			}
			if err != nil || to == from {
				return err
			}
			before = to + 1
		}
		_, err := f.host.api.Put(ctx, at.path, withDigest(url.Values{"moveto": {strconv.Itoa(before)}}, digest), nil)
		return err
	})
}

// lacks returns which of two positions does not exist.
func (f *Firewall) lacks(ctx context.Context, list place, from, to int) error {
	there := false
	if from != to {
		var err error
		if there, err = f.look(ctx, list, from, ""); err != nil {
			return err
		}
	}
	if there {
		return noPlace(to)
	}
	return noRule(from)
}

// noPlace returns the Invalid error for a destination outside of the list.
func noPlace(to int) error {
	return firewall.Invalid(firewall.FieldTo, "the list has no position %d", to)
}

// withDigest adds a digest to a form unless it is empty.
func withDigest(form url.Values, digest string) url.Values {
	if digest != "" {
		form.Set("digest", digest)
	}
	return form
}

// ruleTexts returns the fields of a rule that are texts and may be empty, by
// the SDK's names.
func ruleTexts(r *firewall.Rule) map[string]ruleText {
	return map[string]ruleText{
		firewall.FieldMacro: {"macro", r.Macro}, firewall.FieldProtocol: {"proto", r.Protocol}, firewall.FieldSource: {"source", r.Source},
		firewall.FieldDestination: {"dest", r.Destination}, firewall.FieldSourcePort: {"sport", r.SourcePort},
		firewall.FieldDestinationPort: {"dport", r.DestinationPort}, firewall.FieldInterface: {"iface", r.Interface},
		firewall.FieldLog: {"log", r.Log}, firewall.FieldICMPType: {"icmp-type", r.ICMPType}, firewall.FieldComment: {"comment", r.Comment},
	}
}

// ruleText is a parameter of a rule with its value.
type ruleText struct{ key, value string }

// ruleForm returns the parameters of a new rule.
func ruleForm(rule firewall.Rule) (url.Values, error) {
	if err := firewall.CheckRule(rule); err != nil {
		return nil, err
	}
	form := url.Values{"type": {rule.Direction}, "action": {rule.Action}, "enable": {oneOrZero(rule.Enabled)}}
	for field, text := range ruleTexts(&rule) {
		switch {
		case strings.TrimSpace(text.value) == "-": // which the hypervisor takes for nothing
			return nil, firewall.Invalid(field, "a dash alone means an empty value; omit the field instead")
		case text.value != "":
			form.Set(text.key, text.value)
		}
	}
	return form, nil
}

// ruleChangeForm returns the parameters of a change of a rule. Fields that
// become empty are listed in "delete". The request only contains what changes,
// so a change that somebody else made to other fields of the rule in between is
// kept.
func ruleChangeForm(change firewall.RuleChange) (url.Values, error) {
	// The fields are checked by applying the change to a minimal rule.
	changed, err := change.Apply(firewall.Rule{Direction: firewall.DirectionIn, Action: "ACCEPT"})
	if err != nil {
		return nil, err
	}
	form, err := ruleForm(changed)
	if err != nil {
		return nil, err
	}
	set := change.Set
	for key, given := range map[string]bool{"type": set.Direction != nil, "action": set.Action != nil, "enable": set.Enabled != nil} {
		if !given {
			form.Del(key)
		}
	}
	gone := map[string]bool{}
	for field, value := range map[string]*string{
		firewall.FieldMacro: set.Macro, firewall.FieldProtocol: set.Protocol, firewall.FieldSource: set.Source,
		firewall.FieldDestination: set.Destination, firewall.FieldSourcePort: set.SourcePort,
		firewall.FieldDestinationPort: set.DestinationPort, firewall.FieldInterface: set.Interface, firewall.FieldLog: set.Log,
		firewall.FieldICMPType: set.ICMPType, firewall.FieldComment: set.Comment,
	} {
		if value != nil && *value == "" || slices.Contains(change.Clear, field) {
			gone[ruleTexts(&changed)[field].key] = true
		}
	}
	if len(gone) > 0 {
		form.Set("delete", strings.Join(slices.Sorted(maps.Keys(gone)), ","))
	}
	return withDigest(form, change.Digest), nil
}
