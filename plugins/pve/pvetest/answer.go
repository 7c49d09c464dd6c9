package pvetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// undocumented are members that the real server sends although its own schema does not name them, by method and path.
var undocumented = map[string][]string{
	"GET /cluster/config/nodes": {"name", "nodeid", "quorum_votes", "ring0_addr"},
	"GET /access/users":         {"realm-type"},
	"GET /cluster/tasks": {"node", "pid", "starttime", "endtime", "type", "id", "user", "tokenid", "status",
		"saved"},
	"GET /storage": {"type", "content", "digest", "path", "server", "export", "vgname", "thinpool", "pool", "datastore", "username", "nodes",
		"shared", "disable", "priority", "prune-backups"},
	"GET /nodes":                                   {"id", "type", "disk", "maxdisk"},
	"GET /nodes/{node}/tasks":                      {"tokenid", "saved"},
	"GET /nodes/{node}/tasks/{upid}/status":        {"tokenid"},
	"GET /nodes/{node}/lxc":                        {"type", "pid", "swap", "pressure"},
	"GET /nodes/{node}/lxc/{vmid}/status/current":  {"type", "pid", "swap", "pressure"},
	"GET /nodes/{node}/lxc/{vmid}/snapshot":        {"digest", "running", "snapstate"},
	"GET /nodes/{node}/lxc/{vmid}/config":          {"parent"},
	"GET /nodes/{node}/qemu/{vmid}/snapshot":       {"digest", "running", "snapstate"},
	"GET /nodes/{node}/qemu":                       {"nics", "qmpstatus", "disk"},
	"GET /nodes/{node}/qemu/{vmid}/status/current": {"nics", "disk"},
	"GET /nodes/{node}/qemu/{vmid}/migrate": {
		"drivename", "is_attached", "is_cloudinit", "is_tpmstate", "is_vmstate", "replicate", "shared",
	},
	"GET /nodes/{node}/disks/list": {"by_id_link", "rpm", "type", "wearout"},
	"GET /nodes/{node}/network":    {"bridge_fd", "bridge_stp"},
	"GET /nodes/{node}/network/{iface}": {"active", "address", "autostart", "bridge_fd", "bridge_ports", "bridge_stp", "cidr", "comments",
		"families", "gateway", "method6", "mtu", "netmask", "priority"},
	"GET /nodes/{node}/storage/{storage}/content": {"content", "subtype"},
	"GET /nodes/{node}/status": {
		"idle", "wait", "uptime", "swap", "ksm", "kversion", "family", "flags", "hvm", "mhz", "user_hz", "vendor",
	},
}

// CheckAnswer says what is wrong with the body of a successful answer: members that are neither in the schema nor known to be
// sent without it, members of another type, missing ones. Where the schema says nothing, everything passes; null and
// numbers written as text pass, since the real server sends both. The result is empty for a good answer.
func (s *Schema) CheckAnswer(method, path string, body []byte) []string {
	m, _ := s.Find(method, path)
	if m == nil {
		return []string{fmt.Sprintf("%s %s is not in the schema", method, path)}
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var top map[string]any
	if err := dec.Decode(&top); err != nil {
		return []string{fmt.Sprintf("%s %s: body is no JSON object: %v", method, m.Path, err)}
	}
	data, has := top["data"]
	if !has {
		return []string{fmt.Sprintf("%s %s: body has no data", method, m.Path)}
	}
	c := answerCheck{extra: undocumented[method+" "+m.Path], where: method + " " + m.Path}
	list := strings.TrimSuffix(m.Path, "/{pos}")
	if strings.HasSuffix(list, "/firewall/rules") || strings.HasSuffix(list, "/groups/{group}") {
		c.extra = []string{"digest", "errors"} // in every scope alike
	}
	if strings.HasSuffix(m.Path, "/firewall/aliases") {
		c.extra = []string{"ipversion"}
	}
	if strings.HasSuffix(m.Path, "/firewall/options") {
		c.extra = []string{"digest"}
	}
	c.check("data", data, m.Returns)
	slices.Sort(c.faults)
	return slices.Compact(c.faults)
}

type answerCheck struct {
	where  string
	extra  []string
	faults []string
}

func (c *answerCheck) fault(at, format string, args ...any) {
	c.faults = append(c.faults, c.where+": "+at+": "+fmt.Sprintf(format, args...))
}

func (c *answerCheck) check(at string, v any, p *Property) {
	if p == nil || p.Type == "" || v == nil {
		return
	}
	switch x := v.(type) {
	case map[string]any:
		if p.Type != "object" {
			c.fault(at, "is an object, not a %s", p.Type)
			return
		}
		c.object(at, x, p)
	case []any:
		if p.Type != "array" {
			c.fault(at, "is an array, not a %s", p.Type)
			return
		}
		for _, e := range x {
			c.check(at+"[]", e, p.Items)
		}
	case json.Number:
		if p.Type == "array" || p.Type == "object" || p.Type == "null" {
			c.fault(at, "is a number, not a %s", p.Type)
		}
	case string:
		c.text(at, x, p)
	}
}

func (c *answerCheck) object(at string, x map[string]any, p *Property) {
	if len(p.Properties) == 0 {
		return
	}
	for name, v := range x {
		sub := declared(p.Properties, name)
		if sub == nil {
			if !c.known(name) {
				c.fault(at, "member %q is not in the schema", name)
			}
			continue
		}
		c.check(at+"."+name, v, sub)
	}
	for name, sub := range p.Properties {
		if _, sent := x[name]; !sent && !bool(sub.Optional) && sub.Type != "" && !c.known(name) && !mayBeAbsent[name] {
			c.fault(at, "member %q is missing", name)
		}
	}
}

// mayBeAbsent are members that the schema wants and the real server leaves out.
var mayBeAbsent = map[string]bool{"tokens": true, "groups": true, "digest": true}

func (c *answerCheck) known(name string) bool {
	if slices.Contains(c.extra, name) {
		return true
	}
	return slices.Contains(c.extra, "pressure") && len(name) > 8 && name[:8] == "pressure"
}

func (c *answerCheck) text(at, v string, p *Property) {
	switch p.Type {
	case "integer", "number", "boolean":
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			c.fault(at, "%q is no %s", v, p.Type)
		}
	case "array", "object", "null":
		c.fault(at, "is text, not a %s", p.Type)
	case "string":
		if len(p.Enum) > 0 && !slices.Contains(p.Enum, v) {
			c.fault(at, "%q is not one of %v", v, p.Enum)
		}
	}
}
