package storage

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Config has the keys of a definition as a request sends them: a value sets a
// key, and null clears it. The driver of the host decides which keys exist.
type Config map[string]json.RawMessage

// Key describes a key of the definitions of a type. Min, Max and MaxLength are
// null if there is no limit.
type Key struct {
	Name      string   `json:"name" example:"server"`
	Type      string   `json:"type" enum:"string,boolean,integer,list" doc:"Type of the value; a list is given as a list or as words separated by commas"`
	Values    []string `json:"values" nullable:"true" doc:"Allowed values, or allowed items of a list; null if any value of the type is allowed"`
	Min       *int64   `json:"min"`
	Max       *int64   `json:"max"`
	MaxLength *int64   `json:"max_length"`
	Required  bool     `json:"required" doc:"true if it is required to attach a storage of this type"`
	Fixed     bool     `json:"fixed" doc:"true if it cannot be changed later"`
	Secret    bool     `json:"secret" doc:"true if its value is never returned"`
}

// Type is a type of storage that can be attached.
type Type struct {
	Name string `json:"name" example:"nfs"`
	Keys []Key  `json:"keys"`
}

// showTypes converts storage types for the API. A kind of value that this
// release does not know becomes a string.
func showTypes(all []hypervisor.StorageType) []Type {
	out := []Type{}
	for _, t := range all {
		shown := Type{Name: t.Name, Keys: []Key{}}
		for _, k := range t.Keys {
			key := Key{Name: k.Name, Type: k.Type, Values: k.Values, Min: k.Min, Max: k.Max, Required: k.Required, Fixed: k.Fixed,
				Secret: k.Secret}
			if !slices.Contains([]string{hypervisor.StorageText, hypervisor.StorageFlag, hypervisor.StorageInteger, hypervisor.StorageWords},
				k.Type) {
				key.Type = hypervisor.StorageText
			}
			if k.MaxLength > 0 {
				key.MaxLength = &k.MaxLength
			}
			shown.Keys = append(shown.Keys, key)
		}
		out = append(out, shown)
	}
	return out
}

// typeNamed returns a type by name; nil if the hypervisor does not have it.
func typeNamed(all []hypervisor.StorageType, name string) *hypervisor.StorageType {
	if i := slices.IndexFunc(all, func(t hypervisor.StorageType) bool { return t.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// keyNamed returns a key of a type; nil if it does not exist.
func keyNamed(t *hypervisor.StorageType, name string) *hypervisor.StorageKey {
	if t == nil {
		return nil
	}
	if i := slices.IndexFunc(t.Keys, func(k hypervisor.StorageKey) bool { return k.Name == name }); i >= 0 {
		return &t.Keys[i]
	}
	return nil
}

// order is the result of checking a Config.
type order struct {
	set    []hypervisor.StorageSetting
	clear  []string
	faults []problem.Fault
}

// names returns the keys that the order changes, sorted.
func (o *order) names() []string {
	names := slices.Clone(o.clear)
	for _, s := range o.set {
		names = append(names, s.Key)
	}
	slices.Sort(names)
	return names
}

// fault notes what is wrong with a key. All faults are collected, so that a
// form shows them at once.
func (o *order) fault(key, kind, msg string) {
	o.faults = append(o.faults, problem.Fault{Loc: []any{"body", "config", key}, Msg: msg, Type: kind})
}

// maxKey is the length of a key's name.
const maxKey = 128

// read checks a config against a type. create is true for a new definition,
// where required keys must be set and nothing can be cleared. Faults never
// contain a value, because it may be a secret.
func read(t *hypervisor.StorageType, config Config, create bool) *order {
	o := &order{}
	for _, name := range slices.Sorted(maps.Keys(config)) {
		key := keyNamed(t, name)
		raw := bytes.TrimSpace(config[name])
		switch {
		case key == nil:
			o.fault(cutName(name), "extra_forbidden", "storages of the type "+t.Name+" do not have this key; available keys: "+
				strings.Join(keysOf(t), ", "))
		case string(raw) == "null" && create:
			o.fault(name, "type", "a new definition has nothing to clear")
		case key.Fixed && !create:
			o.fault(name, "fixed", "cannot be changed after the storage was attached")
		case string(raw) == "null" && key.Required:
			o.fault(name, "required", "is required and cannot be cleared")
		case string(raw) == "null":
			o.clear = append(o.clear, name)
		default:
			value, why := valueOf(key, raw)
			if why != "" {
				o.fault(name, "value_error", why)
				continue
			}
			o.set = append(o.set, hypervisor.StorageSetting{Key: name, Value: sdk.Secret(value)})
		}
	}
	if create {
		for _, key := range t.Keys {
			if _, given := config[key.Name]; key.Required && !given {
				o.fault(key.Name, "missing", "storages of the type "+t.Name+" require it")
			}
		}
	}
	return o
}

// cutName shortens a key that a caller sent.
func cutName(name string) string {
	if len(name) > maxKey {
		return strings.ToValidUTF8(name[:maxKey], "") + "…"
	}
	return name
}

// keysOf lists the keys of a type, for a message.
func keysOf(t *hypervisor.StorageType) []string {
	names := make([]string, 0, len(t.Keys))
	for _, k := range t.Keys {
		names = append(names, k.Name)
	}
	slices.Sort(names)
	return names
}

// valueOf converts one JSON value to the string that the hypervisor expects, or
// returns what is wrong with it.
func valueOf(key *hypervisor.StorageKey, raw json.RawMessage) (value, why string) {
	var v any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&v) != nil {
		return "", "is not a valid value"
	}
	switch key.Type {
	case hypervisor.StorageFlag:
		return flagOf(v)
	case hypervisor.StorageInteger:
		return integerOf(key, v)
	case hypervisor.StorageWords:
		return wordsOf(key, v)
	}
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	default:
		return "", "must be a string"
	}
	return text, textFault(key, text)
}

// textFault says why a text does not fit its key; empty if it does. Only
// secrets may have several lines, because keys and certificates come in files
// of several.
func textFault(key *hypervisor.StorageKey, text string) string {
	several := key.Secret // a key in a file has lines
	switch {
	case text == "":
		return "must not be empty; null clears a key"
	case key.MaxLength > 0 && int64(utf8.RuneCountInString(text)) > key.MaxLength:
		return "must have at most " + strconv.FormatInt(key.MaxLength, 10) + " characters"
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && !(several && (r == '\n' || r == '\r' || r == '\t'))
	}):
		return "contains a character that is not allowed"
	case key.Values != nil && !slices.Contains(key.Values, text):
		return "must be one of " + strings.Join(key.Values, ", ")
	}
	return ""
}

// flagOf accepts true, false, 1 and 0 as JSON or text, and returns "1" or "0",
// which hypervisors expect.
func flagOf(v any) (value, why string) {
	switch v {
	case true, "1", json.Number("1"):
		return "1", ""
	case false, "0", json.Number("0"):
		return "0", ""
	}
	return "", "must be true or false"
}

// integerOf reads a number within the key's limits.
func integerOf(key *hypervisor.StorageKey, v any) (value, why string) {
	text, isText := v.(string)
	if number, isNumber := v.(json.Number); isNumber {
		text = number.String()
	} else if !isText {
		return "", "must be a whole number"
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return "", "must be a whole number"
	case key.Min != nil && n < *key.Min:
		return "", "must be at least " + strconv.FormatInt(*key.Min, 10)
	case key.Max != nil && n > *key.Max:
		return "", "must be at most " + strconv.FormatInt(*key.Max, 10)
	}
	return strconv.FormatInt(n, 10), ""
}

// wordsOf accepts a JSON list, or a text with commas or spaces, and returns the
// words joined by commas.
func wordsOf(key *hypervisor.StorageKey, v any) (value, why string) {
	var words []string
	switch v := v.(type) {
	case string:
		words = strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
	case []any:
		for _, item := range v {
			word, isText := item.(string)
			if !isText || strings.ContainsAny(word, ", ") {
				return "", "must be a list of words"
			}
			words = append(words, word)
		}
	default:
		return "", "must be a list of words"
	}
	one := *key
	one.MaxLength = 0
	for _, word := range words {
		if why := textFault(&one, word); why != "" {
			return "", why
		}
	}
	text := strings.Join(words, ",")
	one = *key
	one.Values = nil
	return text, textFault(&one, text)
}

// hiddenIn matches assignments in a text whose name suggests a secret, such as
// a mount option password=...
var hiddenIn = regexp.MustCompile(`(?i)(^|[,;&?\s])([a-z0-9_.-]*(?:pass|secret|cred|token|auth|key)[a-z0-9_.-]*\s*=)[^,;&\s]*`)

// shown removes secrets from a value.
func shown(key, value string) string {
	out := hiddenIn.ReplaceAllString(sdk.HideSecrets(value), "${1}${2}"+audit.Redacted)
	if redacted, _ := audit.Redact(map[string]any{key: out})[key].(string); redacted == audit.Redacted {
		return audit.Redacted
	}
	return out
}

// details returns the settings of an order for the audit log, without secrets.
func (o *order) details(t *hypervisor.StorageType) map[string]any {
	out := map[string]any{}
	for _, s := range o.set {
		if key := keyNamed(t, s.Key); key == nil || key.Secret {
			out[s.Key] = audit.Redacted
		} else {
			out[s.Key] = shown(s.Key, string(s.Value))
		}
	}
	return out
}

// inConfig moves the faults that a hypervisor reports about keys to the field
// config of the request.
func inConfig(err error) error {
	known := problem.From(plugin.Problem(err))
	if known.Code != problem.CodeInvalid {
		return err
	}
	faults := slices.Clone(known.Faults)
	for i, f := range faults {
		if len(f.Loc) == 2 && f.Loc[0] == "body" && f.Loc[1] != "storage" && f.Loc[1] != "type" {
			faults[i].Loc = []any{"body", "config", f.Loc[1]}
		}
	}
	return problem.Invalid(faults...).WithCause(err)
}

// splitWords splits the result of wordsOf.
func splitWords(text string) []string {
	return slices.DeleteFunc(strings.Split(text, ","), func(word string) bool { return word == "" })
}
