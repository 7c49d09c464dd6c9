package alert

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/core/problem"
)

// RuleInput is a rule as people write it.
type RuleInput struct {
	Name, Description string
	Kind              Kind
	On                Scope
	// Threshold and ClearLevel are nil for kinds without; a clear level that is
	// nil is the threshold.
	Threshold, ClearLevel *float64
	ForS, ClearForS       int64
	Severity              Severity
	Labels                map[string]string
	Enabled               bool
}

// Limits of rules and windows.
const (
	maxName = 200
	maxText = 1000
	// maxScope is the maximum total size in bytes of the kinds, tags and
	// targets of a rule or a window, because lists show them.
	maxScope  = 64 << 10
	maxLabels = 20
	maxWord   = 400
	// maxSeconds is a week.
	maxSeconds = 7 * 24 * 3600
)

// labelName is the form of a label's name.
var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]{0,62}$`)

// faults collects what is wrong with a draft.
type faults []problem.Fault

// add records a fault of the body.
func (f *faults) add(msg string, loc ...any) {
	*f = append(*f, problem.Fault{Loc: append([]any{"body"}, loc...), Msg: msg, Type: "value_error"})
}

// name checks the name of a rule or window.
func (f *faults) name(name string) {
	if name = strings.TrimSpace(name); name == "" || utf8.RuneCountInString(name) > maxName || strings.ContainsFunc(name, unicode.IsControl) {
		f.add("must be 1 to 200 characters without control characters", "name")
	}
}

// tags checks the tags that a rule selects.
func (f *faults) tags(tags []string) {
	for i, tag := range tags {
		if !sound(tag) {
			f.add("must be 1 to 400 characters without control characters", "on", "tags", i)
		}
	}
}

// scope limits the size of a scope. A scope that does not change may be longer,
// for example if an older release stored it.
func (f *faults) scope(was, is []string) {
	size := 0
	for _, word := range is {
		size += len(word) + len(`"",`)
	}
	if size > maxScope && !slices.Equal(was, is) {
		f.add("must be at most "+problem.Size(maxScope), "on")
	}
}

// sound reports whether a text can be a tag or a name from the hypervisor.
func sound(text string) bool {
	return text != "" && len(text) <= maxWord && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// words returns all entries of the scope.
func (s *Scope) words() []string { return slices.Concat(s.Kinds, s.Tags, s.Targets) }

// Faults returns everything that is wrong with the draft itself, except the size of its scope.
func (d *RuleInput) Faults() []problem.Fault {
	var f faults
	f.name(d.Name)
	if utf8.RuneCountInString(d.Description) > maxText || strings.ContainsRune(d.Description, 0) {
		f.add("must be at most 1000 characters", "description")
	}
	for name, value := range d.Labels {
		if !labelName.MatchString(name) || value != "" && !sound(value) {
			f.add("must be names of letters, digits and _.- with values of at most 400 characters", "labels")
			break
		}
	}
	if len(d.Labels) > maxLabels {
		f.add("must have at most 20 entries", "labels")
	}
	if d.ForS < 0 || d.ForS > maxSeconds {
		f.add("must be from 0 to 604800", "for_s")
	}
	if d.ClearForS < 0 || d.ClearForS > maxSeconds {
		f.add("must be from 0 to 604800", "clear_for_s")
	}
	f.tags(d.On.Tags)
	for i, target := range d.On.Targets {
		if !goodTarget(target) {
			f.add("must be like host:1, vm:3, app:2, container:5, cluster:1, node:1/alpha, storage:1/nas or storage:1/local/alpha", "on",
				"targets", i)
		}
	}
	k := kindOf(d.Kind)
	if k == nil {
		f.add("must be one of "+kindNames(), "kind")
		return f
	}
	if len(k.Targets) > 0 {
		for i, kind := range d.On.Kinds {
			if !slices.Contains(k.Targets, kind) {
				f.add("must be one of "+strings.Join(k.Targets, ", "), "on", "kinds", i)
			}
		}
	}
	d.levels(&f, k)
	return f
}

// levels checks the threshold and the clear level.
func (d *RuleInput) levels(f *faults, k *KindInfo) {
	if k.Unit == nil {
		if d.Threshold != nil {
			f.add("this kind is either true or false, so it has no threshold", "threshold")
		}
		if d.ClearLevel != nil {
			f.add("this kind is either true or false, so it has no clear level", "clear_level")
		}
		return
	}
	good := func(level float64) bool { return !math.IsNaN(level) && level > 0 && level <= *k.Most }
	bounds := fmt.Sprintf("must be greater than 0 and at most %g %s", *k.Most, strings.ReplaceAll(string(*k.Unit), "_", " "))
	switch {
	case d.Threshold == nil:
		f.add("this kind requires a threshold", "threshold")
		return
	case !good(*d.Threshold):
		f.add(bounds, "threshold")
		return
	case d.ClearLevel == nil:
	case !good(*d.ClearLevel):
		f.add(bounds, "clear_level")
	case k.Below && *d.ClearLevel < *d.Threshold:
		f.add("must not be below the threshold, because higher values are better", "clear_level")
	case !k.Below && *d.ClearLevel > *d.Threshold:
		f.add("must not be above the threshold, because lower values are better", "clear_level")
	}
}

// plainTarget is the form of targets that only alerts have.
var plainTarget = regexp.MustCompile(`^(container|cluster):[1-9][0-9]{0,17}$`)

// goodTarget reports whether a text names a target.
func goodTarget(text string) bool {
	if plainTarget.MatchString(text) {
		return true
	}
	t, err := metric.ParseTarget(text)
	return err == nil && t.String() == text && sound(text)
}

// tidied returns a draft without faults in its stored form.
func (d RuleInput) tidied() RuleInput {
	d.Name = strings.TrimSpace(d.Name)
	if d.Threshold != nil && d.ClearLevel == nil {
		d.ClearLevel = d.Threshold
	}
	d.On.Kinds, d.On.Tags, d.On.Targets = distinct(d.On.Kinds), distinct(d.On.Tags), distinct(d.On.Targets)
	return d
}

// distinct returns each word once; never nil.
func distinct(words []string) []string {
	all := []string{}
	for _, word := range words {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}

// draft returns the draft from which the rule would be made.
func (r *Rule) draft() (RuleInput, error) {
	d := RuleInput{Name: r.Name, Description: r.Description, Kind: r.Kind, On: r.On, Threshold: r.Threshold, ClearLevel: r.ClearLevel,
		ForS: r.ForS, ClearForS: r.ClearForS, Severity: r.Severity, Labels: map[string]string{}, Enabled: r.Enabled}
	if err := json.Unmarshal(r.Labels, &d.Labels); err != nil {
		return d, fmt.Errorf("reading the labels of a rule: %w", err)
	}
	return d, nil
}

// labels returns the draft's labels in their stored form.
func (d *RuleInput) labels() map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, d.Labels)
	return labels
}
