package membackend

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// state is what a scope has.
type state struct {
	scope   firewall.Scope
	rules   []firewall.Rule
	aliases []firewall.Alias
	sets    []ipSet
	options firewall.Options
	log     []firewall.LogLine
}

type ipSet struct {
	firewall.IPSet
	members []firewall.IPSetMember
}

func key(s firewall.Scope) string {
	if s.Guest != nil {
		return fmt.Sprintf("%s %q %+v", s.Kind, s.Node, *s.Guest)
	}
	return fmt.Sprintf("%s %q", s.Kind, s.Node+s.Group)
}

// AddScope makes a node, guest or group known that is not, without anything.
func (e *Endpoint) AddScope(scope firewall.Scope) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.add(scope)
}

// RemoveScope makes a node or guest unknown, with all that it has.
func (e *Endpoint) RemoveScope(scope firewall.Scope) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.scopes, key(scope))
}

// add needs the lock.
func (e *Endpoint) add(scope firewall.Scope) *state {
	s, ok := e.scopes[key(scope)]
	if !ok {
		s = &state{scope: scope}
		e.scopes[key(scope)] = s
		if scope.Kind == firewall.GroupScope {
			e.groups = append(e.groups, firewall.Group{Name: scope.Group})
		}
	}
	return s
}

// at finds what a scope has; it needs the lock. Ability is the name of the one that is asked for.
func (f *Firewall) at(e *Endpoint, scope firewall.Scope, ability string) (*state, error) {
	if err := f.claims(scope, ability); err != nil {
		return nil, err
	}
	s, ok := e.scopes[key(scope)]
	if !ok {
		return nil, plugin.Errorf(plugin.NotFound, "%.80s does not exist", key(scope))
	}
	return s, nil
}

// claims refuses a scope that is none, or has not the ability.
func (f *Firewall) claims(scope firewall.Scope, ability string) error {
	if !firewall.ValidScope(scope) {
		return firewall.Invalid(firewall.FieldScope, "%.80q is not a scope", key(scope))
	}
	if !f.CanAt(scope.Kind, ability) {
		err := plugin.Errorf(plugin.Unsupported, "%s is not supported at the scope %s", ability, scope.Kind)
		err.Field = firewall.FieldScope
		return err
	}
	return nil
}

// digest names a state of plain values.
func digest(of any) string {
	text, err := json.Marshal(of)
	if err != nil {
		panic(err) // plain values
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))[:40]
}

// stale refuses a digest that is another by now.
func stale(given, now string) error {
	if given != "" && given != now {
		return firewall.Stale()
	}
	return nil
}

func failed(kind plugin.ErrorKind, field, text string) error {
	err := plugin.Errorf(kind, "%s", text)
	err.Field = field
	return err
}

func missing(field string) error {
	return failed(plugin.NotFound, field, "nothing with this name exists")
}

func taken(field string) error {
	return failed(plugin.Conflict, field, "this name is already taken")
}
