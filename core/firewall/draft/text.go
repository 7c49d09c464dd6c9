package draft

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hostler/hostler/core/host"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// Text returns a state for people, with one line for each option, alias, set
// and rule.
func Text(s sdk.State) []string {
	lines := objectText(s)
	for i, r := range s.Rules {
		lines = append(lines, host.Clean(fmt.Sprintf("%d: %s", i, ruleText(r))))
	}
	return lines
}

// objectText returns the lines without those of rules. No two of them are
// equal.
func objectText(s sdk.State) []string {
	lines := []string{}
	add := func(format string, args ...any) { lines = append(lines, host.Clean(fmt.Sprintf(format, args...))) }
	if s.Absent {
		add("does not exist")
		return lines
	}
	if s.Comment != "" {
		add("comment %s", s.Comment)
	}
	for _, name := range slices.Concat(sdk.OptionFlags(), sdk.OptionTexts(), slices.Sorted(maps.Keys(s.Options.Other))) {
		if isSet(s.Options, name) {
			add("option %s %s", name, optionText(s.Options, name))
		}
	}
	for _, a := range slices.SortedFunc(slices.Values(s.Aliases), func(a, b sdk.Alias) int { return strings.Compare(a.Name, b.Name) }) {
		add("alias %s %s%s", a.Name, a.CIDR, remark(a.Comment))
	}
	for _, set := range slices.SortedFunc(slices.Values(s.IPSets), func(a, b sdk.IPSetState) int { return strings.Compare(a.Name, b.Name) }) {
		add("ipset %s%s", set.Name, remark(set.Comment))
		for _, m := range slices.SortedFunc(slices.Values(set.Members), func(a, b sdk.IPSetMember) int {
			return strings.Compare(a.CIDR, b.CIDR)
		}) {
			not := ""
			if m.NoMatch {
				not = "!"
			}
			add("ipset %s %s%s%s", set.Name, not, m.CIDR, remark(m.Comment))
		}
	}
	return lines
}

// optionText returns an option in the form of a change: empty if it is not set.
func optionText(o sdk.Options, name string) string {
	if flag := o.Flag(name); flag != nil {
		switch {
		case *flag == nil:
			return ""
		case **flag:
			return "1"
		}
		return "0"
	}
	if text := o.Text(name); text != nil {
		return *text
	}
	return o.Other[name]
}

// remark returns a comment in the notation of rule texts.
func remark(comment string) string {
	if comment == "" {
		return ""
	}
	return " # " + comment
}

// ruleText returns a rule on one line.
func ruleText(r sdk.Rule) string {
	parts := []string{r.Direction, r.Action}
	for _, f := range []struct{ name, value string }{
		{sdk.FieldMacro, r.Macro}, {sdk.FieldInterface, r.Interface}, {sdk.FieldSource, r.Source}, {sdk.FieldDestination, r.Destination},
		{sdk.FieldProtocol, r.Protocol}, {sdk.FieldSourcePort, r.SourcePort}, {sdk.FieldDestinationPort, r.DestinationPort},
		{sdk.FieldICMPType, r.ICMPType}, {sdk.FieldLog, r.Log},
	} {
		if f.value != "" {
			parts = append(parts, f.name, f.value)
		}
	}
	text := strings.Join(parts, " ") + remark(r.Comment)
	if !r.Enabled {
		text = "(off) " + text
	}
	return text
}

// differences returns the lines that only one of two states has, those of the
// first with "-" and those of the second with "+".
func differences(a, b sdk.State) []string {
	was, is := objectText(a), objectText(b)
	return slices.Concat(lacking("- ", was, is), lacking("+ ", is, was), ruleDifferences(a.Rules, b.Rules))
}

// lacking returns the lines of a list that another one lacks, with a mark.
func lacking(mark string, list, other []string) (lines []string) {
	has := make(map[string]bool, len(other))
	for _, line := range other {
		has[line] = true
	}
	for _, line := range list {
		if !has[line] {
			lines = append(lines, mark+line)
		}
	}
	return lines
}

// maxCompared limits the pairs of rules that are compared to find the shortest
// difference.
const maxCompared = 1 << 24

// ruleDifferences returns the rules that are deleted and inserted, in order. Of
// two long lists with many differences it returns everything between the first
// and the last one.
func ruleDifferences(a, b []sdk.Rule) (lines []string) {
	for len(a) > 0 && len(b) > 0 && alike(a[0], b[0]) {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && alike(a[len(a)-1], b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	was, is := ruleTexts(a), ruleTexts(b)
	var common []pair
	if len(was)*len(is) <= maxCompared {
		common = align(is, was) // what goes stands before what comes
	}
	i, j := 0, 0
	for _, p := range append(common, pair{len(is), len(was)}) {
		for ; i < p.to; i++ {
			lines = append(lines, "- "+was[i])
		}
		for ; j < p.from; j++ {
			lines = append(lines, "+ "+is[j])
		}
		i, j = i+1, j+1
	}
	return lines
}

// ruleTexts returns the texts of rules for an outcome. They come from the
// hypervisor and are cleaned.
func ruleTexts(rules []sdk.Rule) []string {
	lines := make([]string, len(rules))
	for i, r := range rules {
		lines[i] = host.Clean(ruleText(r))
	}
	return lines
}
