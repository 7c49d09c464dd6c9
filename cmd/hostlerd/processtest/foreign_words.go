package processtest

import (
	"bytes"
	"encoding/json"
	"regexp"
	"testing"
)

// foreignWords are those of one hypervisor that nothing of the other's hosts may hold, by the driver of the host. Keys of JSON are
// the API's own and the same for all.
var foreignWords = map[string]*regexp.Regexp{
	"lxd": regexp.MustCompile(`(?i)\bpve|proxmox|vmid|upid|qemu|(?-i:LXC)|vzdump|pmxcfs|api token|\bTASK OK\b|@pam|\bpool\b`),
	"pve": regexp.MustCompile(`(?i)\blxd|incus|join token|client certificate|trust (store|list)|\bproject\b|\binstance\b|\boperation [0-9"]`),
}

// requestID is an id of a request, in whose letters any short word may stand by chance.
var requestID = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// foreign are the texts of an answer about a driver's host in which are words of the other one. An answer that is no JSON is one text.
func foreign(t testing.TB, driver string, body []byte) (found []string) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(body))
	var value any
	if decoder.Decode(&value) != nil {
		value = string(body)
	}
	eachText(value, func(text string) {
		if !requestID.MatchString(text) && foreignWords[driver].MatchString(text) {
			found = append(found, text)
		}
	})
	return found
}

// eachText visits the texts of a JSON value that are no keys.
func eachText(value any, visit func(string)) {
	switch v := value.(type) {
	case string:
		visit(v)
	case []any:
		for _, one := range v {
			eachText(one, visit)
		}
	case map[string]any:
		for _, one := range v {
			eachText(one, visit)
		}
	}
}
