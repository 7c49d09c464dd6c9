package pve

import (
	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/plugin"
)

// wrongParameter makes an error of what the hypervisor tells in a text the refusal of a parameter, which repeats no value. Where the
// hypervisor itself refuses a parameter the client has done so.
func wrongParameter(e *plugin.Error, field string) {
	e.Kind, e.Field, e.Message = plugin.Invalid, field, pveapi.HideValues(e.Message, nil)
}
