package membackend

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// state is the content of a scope.
type state struct {
	scope   firewall.Scope
	rules   []firewall.Rule
	aliases []firewall.Alias
	sets    []ipSet
	options firewall.Options
	log     []firewall.LogLine
}

// ipSet is a set with its members.
type ipSet struct {
	firewall.IPSet
	members []firewall.IPSetMember
}

// key returns the key of a scope in Endpoint.scopes.
func key(s firewall.Scope) string {
	if s.Guest != nil {
		return fmt.Sprintf("%s %q %+v", s.Kind, s.Node, *s.Guest)
	}
	return fmt.Sprintf("%s %q", s.Kind, s.Node+s.Group)
}

// AddScope adds a node, guest or group without content. It does nothing if the
// scope exists.
func (e *Endpoint) AddScope(scope firewall.Scope) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.add(scope)
}

// RemoveScope removes a node or guest with its content.
func (e *Endpoint) RemoveScope(scope firewall.Scope) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.scopes, key(scope))
}

// add returns the state of a scope and creates it if necessary. The caller
// holds the lock.
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

// at returns the state of a scope for an ability. The error is NotFound for a
// scope that does not exist. The caller holds the lock.
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

// claims returns an error for an invalid scope, or for one without the ability.
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

// digest returns a digest of plain values: 40 hexadecimal digits.
func digest(of any) string {
	text, err := json.Marshal(of)
	if err != nil {
		panic(err) // plain values
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))[:40]
}

// stale returns a Conflict if a digest was given that is not the current one.
func stale(given, now string) error {
	if given != "" && given != now {
		return firewall.Stale()
	}
	return nil
}

// failed returns an error of a kind with a field.
func failed(kind plugin.ErrorKind, field, text string) error {
	err := plugin.Errorf(kind, "%s", text)
	err.Field = field
	return err
}

// missing returns the NotFound error for a name, position or CIDR that does not
// exist.
func missing(field string) error {
	return failed(plugin.NotFound, field, "nothing with this name exists")
}

// taken returns the Conflict error for a name that exists.
func taken(field string) error {
	return failed(plugin.Conflict, field, "this name is already taken")
}
