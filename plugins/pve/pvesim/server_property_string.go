package pvesim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pvesim/schema"
)

// checkPropertyString returns what is wrong with a value such as "virtio=…,bridge=vmbr0", or "". name is the parameter's as it was
// sent.
func checkPropertyString(name string, keys map[string]*schema.Parameter, value string, rel release) string {
	parts, err := parsePropertyString(keys, value)
	if err != nil {
		return err.Error()
	}
	errs := map[string]string{}
	for key, text := range parts {
		p := keys[key]
		if p == nil {
			errs[key] = textUnknown
			continue
		}
		if text := checkValue(key, p, paramValue{text: text}, rel); text != "" {
			errs[key] = text
		}
		if p.Requires != "" && parts[p.Requires] == "" {
			errs[p.Requires] = fmt.Sprintf("missing property - '%s' requires this property", key)
		}
	}
	for key, p := range keys {
		if _, sent := parts[key]; !sent && !bool(p.Optional) && p.Alias == "" {
			errs[key] = textMissing
		}
	}
	if len(errs) == 0 {
		return ""
	}
	lines := []string{"format error"}
	for _, key := range slices.Sorted(maps.Keys(errs)) {
		lines = append(lines, name+"."+key+": "+errs[key])
	}
	return strings.Join(lines, "\n")
}

// parsePropertyString cuts a property string into its keys. One value may stand without its key: that of the default key. A key that
// is an alias stands for another one; where it is a value of the default key it sets that too: virtio=MAC is model=virtio,macaddr=MAC.
func parsePropertyString(keys map[string]*schema.Parameter, value string) (map[string]string, error) {
	var defaultKey *schema.Parameter
	for _, p := range keys {
		if p.DefaultKey {
			defaultKey = p
		}
	}
	parts := map[string]string{}
	set := func(key, text string) error {
		if _, again := parts[key]; again {
			return fmt.Errorf("duplicate key in comma-separated list property: %s", key)
		}
		parts[key] = text
		return nil
	}
	for part := range strings.SplitSeq(value, ",") {
		key, text, hasKey := strings.Cut(part, "=")
		p := keys[key]
		var err error
		switch {
		case strings.TrimSpace(part) == "":
		case hasKey && (key == "" || text == ""):
			err = errors.New("missing key in comma-separated list property")
		case hasKey && p != nil && p.Alias != "":
			if err = set(p.Alias, text); err == nil && defaultKey != nil && slices.Contains(defaultKey.Enum, key) {
				err = set(defaultKey.Name, key)
			}
		case hasKey:
			err = set(key, text)
		case defaultKey == nil:
			err = errors.New("value without key, but schema does not define a default key")
		default:
			err = set(defaultKey.Name, part)
		}
		if err != nil {
			return nil, err
		}
	}
	return parts, nil
}
