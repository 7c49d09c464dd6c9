package schema

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

//go:embed methods.txt
var text string

// Method is one method of the API.
type Method struct {
	// Daemon marks what the proxy hands to the privileged daemon.
	Daemon bool
	// OnNode marks what is passed on to the node that the path names.
	OnNode bool
	// NoToken refuses API tokens.
	NoToken bool
	// Since is the release that brought it ("9.0"), empty for all that are known.
	Since string
	// Access says who may call it, Before9 who might before release 9 where that was different.
	Access  Access
	Before9 *Access

	parameters []*Parameter
	byName     map[string]*Parameter
}

// Parameters lists the method's parameters, those in the path included, in the order of their names. Callers do not change it.
func (m *Method) Parameters() []*Parameter { return m.parameters }

// Parameter finds a parameter by the name that a request uses, so net0 finds net[n]. It is nil for an unknown name.
func (m *Method) Parameter(name string) *Parameter {
	if p := m.byName[name]; p != nil {
		return p
	}
	stem := strings.TrimRight(name, "0123456789")
	index, err := strconv.Atoi(name[len(stem):])
	if err != nil || index > highestIndex[stem] || name != stem+strconv.Itoa(index) {
		return nil
	}
	return m.byName[stem+"[n]"]
}

// highestIndex bounds the indexed parameters; the schema does not say it.
var highestIndex = map[string]int{
	"acmedomain": 5, "dev": 255, "hostpci": 15, "ide": 3, "ipconfig": 31, "link": 7, "mp": 255, "net": 31, "numa": 7, "parallel": 2,
	"sata": 5,
	"scsi": 30, "serial": 3, "unused": 255, "usb": 13, "virtio": 15, "virtiofs": 9,
}

// entry is a method that may not have been decoded yet.
type entry struct {
	head, parameters string
	once             sync.Once
	method           *Method
}

// entries cuts the text into methods without decoding them.
var entries = sync.OnceValue(func() map[string]*entry {
	found := map[string]*entry{}
	for rest := text; rest != ""; {
		line, tail, _ := strings.Cut(rest, "\n")
		end := 0
		for end < len(tail) && tail[end] == '\t' {
			end += strings.IndexByte(tail[end:], '\n') + 1
		}
		key, head, _ := strings.Cut(line, " {")
		found[key] = &entry{head: "{" + head, parameters: tail[:end]}
		rest = tail[end:]
	}
	return found
})

// Find returns the facts about a method, or nil when the schema does not know it. path is a template such as "/nodes/{node}/lxc".
func Find(method, path string) *Method {
	e := entries()[method+" "+path]
	if e == nil {
		return nil
	}
	e.once.Do(func() {
		m, err := decode(e.head, e.parameters)
		if err != nil { // the file is generated, and a test decodes all of it
			panic(fmt.Sprintf("schema of %s %s: %v", method, path, err))
		}
		e.method = m
	})
	return e.method
}

// Known lists all methods as "GET /version", in no order.
func Known() []string {
	names := make([]string, 0, len(entries()))
	for key := range entries() {
		names = append(names, key)
	}
	return names
}

func decode(head, parameters string) (*Method, error) {
	var h struct {
		Access
		Before9               *Access
		Daemon, Node, NoToken int
		Since                 string
	}
	if err := json.Unmarshal([]byte(head), &h); err != nil {
		return nil, err
	}
	m := &Method{
		Daemon: h.Daemon == 1, OnNode: h.Node == 1, NoToken: h.NoToken == 1, Since: h.Since, Access: h.Access, Before9: h.Before9,
		byName: map[string]*Parameter{},
	}
	for line := range strings.Lines(parameters) {
		name, facts, _ := strings.Cut(strings.TrimSpace(line), " ")
		p := &Parameter{Name: name}
		if err := json.Unmarshal([]byte(facts), p); err != nil {
			return nil, fmt.Errorf("parameter %s: %w", name, err)
		}
		m.parameters = append(m.parameters, p)
		m.byName[name] = p
	}
	return m, nil
}
