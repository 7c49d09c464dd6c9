package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/change"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Detail is a storage with its current definition from the hypervisor and its
// state from the last poll.
type Detail struct {
	HostID  int64             `json:"host_id" example:"1"`
	Name    string            `json:"name" example:"nas"`
	Type    string            `json:"type" example:"nfs"`
	Digest  string            `json:"digest" example:"0b8132e3df4dab977830c207ed2d9e6f3eb4ff16" doc:"Digest of the definition; some hypervisors use one for several definitions"`
	Config  map[string]string `json:"config" doc:"Keys that are set, without secrets"`
	Shared  *bool             `json:"shared" doc:"true if all nodes have the same content; null before a poll has reported it"`
	Content []string          `json:"content" doc:"Content types that it can store, as the hypervisor names them, as of the last poll"`
	Nodes   []Node            `json:"nodes" doc:"State on each node, or on the requested node, as of the last poll"`

	DaysUntilFull *float64 `json:"days_until_full" example:"41.5" doc:"Days until it is full: the lowest value of its nodes; null if none is known"`
}

// Limits of a change of a definition.
const (
	// sendLimit bounds one request that changes a definition. It is long,
	// because a hypervisor may try for a while to reach a storage server that
	// does not answer.
	sendLimit = 60 * time.Second
	// changeLimit bounds a change together with the reads before and after its
	// request.
	changeLimit = sendLimit + 40*time.Second
)

// Types returns the storage types that the host's hypervisor supports.
// Problems: unsupported, and those of host.Call.
func (s *Store) Types(ctx context.Context, hostID int64) ([]Type, error) {
	all, err := s.types(ctx, hostID, endpoint.Monitoring)
	return showTypes(all), err
}

// types asks the host for its storage types with the token of a capability: a
// form can be shown with the right to read only.
func (s *Store) types(ctx context.Context, hostID int64, token endpoint.Capability) ([]hypervisor.StorageType, error) {
	return host.Call(ctx, s.Hosts, hostID, token, func(ctx context.Context, m hypervisor.StorageManager) ([]hypervisor.StorageType, error) {
		return m.StorageTypes(ctx)
	})
}

// definition reads a definition from the hypervisor. Definitions are not
// polled, because they change rarely.
func (s *Store) definition(ctx context.Context, hostID int64, name string) (hypervisor.StorageDefinition, error) {
	return host.Call(ctx, s.Hosts, hostID, endpoint.Monitoring,
		func(ctx context.Context, m hypervisor.StorageManager) (hypervisor.StorageDefinition, error) {
			return m.StorageDefinition(ctx, name)
		})
}

// Detail reads the definition of a storage from the hypervisor. Problems:
// not_found, unsupported, and those of host.Call.
func (s *Store) Detail(ctx context.Context, hostID int64, name, node string) (Detail, error) {
	p, err := s.find(ctx, hostID, name)
	if err != nil {
		return Detail{}, err
	}
	if node != "" {
		if _, err := p.on(node); err != nil {
			return Detail{}, err
		}
	}
	found, err := s.definition(ctx, hostID, name)
	if err != nil {
		return Detail{}, err
	}
	return s.detail(ctx, &p, found, node)
}

// detail combines what was polled with the definition. A storage that was just
// attached and not polled yet has only its definition.
func (s *Store) detail(ctx context.Context, p *place, found hypervisor.StorageDefinition, node string) (Detail, error) {
	if p.known != nil {
		known := []Storage{*p.known}
		if err := s.addGrowth(ctx, known); err != nil {
			return Detail{}, err
		}
		p.known = &known[0]
	}
	d := Detail{HostID: p.hostID, Name: p.name, Type: host.Clean(found.Type), Digest: host.Clean(found.Digest), Config: map[string]string{},
		Content: []string{}, Nodes: []Node{}}
	for key, value := range found.Config {
		key = host.Clean(key)
		d.Config[key] = host.Clean(shown(key, value))
	}
	if p.known != nil {
		d.Shared, d.Content, d.DaysUntilFull = &p.known.Shared, p.known.Content, p.known.DaysUntilFull
		d.Nodes = slices.DeleteFunc(slices.Clone(p.known.Nodes), func(n Node) bool { return node != "" && n.Node != node })
	}
	return d, nil
}

// syncLimit bounds the poll after attaching a storage.
const syncLimit = 10 * time.Second

// AttachResult is the result of attaching a storage. It is stored for the
// replay of the request.
type AttachResult struct {
	HostID  int64  `json:"host_id" example:"1"`
	Storage string `json:"storage" example:"nas"`
	Type    string `json:"type" example:"nfs"`
}

// Attach adds a storage to the configuration of a host's hypervisor, with one
// request that is never repeated. If the response is lost, the current
// definition decides whether the request took effect.
//
// Problems: invalid with all faults, capability_missing, unsupported, conflict
// for a name that is taken, guest_busy while the storage is being changed,
// outcome_unknown, and those of host.Call.
func (s *Store) Attach(ctx context.Context, hostID int64, name, kind string, config Config) (AttachResult, error) {
	if err := s.mayManage(ctx, hostID); err != nil {
		return AttachResult{}, err
	}
	types, err := s.types(ctx, hostID, endpoint.Lifecycle)
	if err != nil {
		return AttachResult{}, err
	}
	t := typeNamed(types, kind)
	if t == nil {
		known := []string{}
		for _, t := range types {
			known = append(known, t.Name)
		}
		return AttachResult{}, problem.Invalid(problem.Fault{Loc: []any{"body", "type"}, Type: "enum",
			Msg: fmt.Sprintf("the host's hypervisor does not support this storage type; supported types: %q", known)})
	}
	o := read(t, config, true)
	if len(o.faults) > 0 {
		return AttachResult{}, problem.Invalid(o.faults...)
	}
	p, err := s.find(ctx, hostID, name)
	if err != nil {
		return AttachResult{}, err
	}
	if p.known != nil {
		return AttachResult{}, taken(name)
	}
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetKind, e.TargetName = "storage", name
		e.Detail("storage", name)
		e.Detail("type", kind)
		e.Detail("config", o.details(t))
	})
	if err := idempotency.SaveData(ctx, AttachResult{hostID, name, kind}); err != nil {
		return AttachResult{}, err
	}
	spec := hypervisor.StorageSpec{Name: name, Type: kind, Config: o.set}
	err = s.change(ctx, &p, func(ctx context.Context, m hypervisor.StorageManager) error { return m.AttachStorage(ctx, spec) },
		func(now *hypervisor.StorageDefinition) bool { return now != nil && now.Type == kind && has(now, t, o) })
	if sdk.KindOf(err) == sdk.Conflict && problem.CodeOf(plugin.Problem(err)) == problem.CodeInvalidState {
		err = taken(name)
	}
	if err == nil && s.Sync != nil {
		poll, cancel := context.WithTimeout(ctx, syncLimit)
		defer cancel()
		_ = s.Sync(poll, hostID) // the next poll lists it as well
	}
	return AttachResult{hostID, name, kind}, err
}

// ReplayAttach returns the result of an earlier Attach with the same
// idempotency key.
func (s *Store) ReplayAttach(_ context.Context, made idempotency.Result) (AttachResult, error) {
	var was AttachResult
	if err := json.Unmarshal(made.Data, &was); err != nil {
		return AttachResult{}, fmt.Errorf("decoding the job's parameters: %w", err)
	}
	return was, nil
}

// ReplayStart returns the result of an earlier request that made a job, with
// the same idempotency key.
func (s *Store) ReplayStart(ctx context.Context, made idempotency.Result) (guest.StartResult, error) {
	return s.Actor.StartResult(ctx, made.JobID, false)
}

// taken returns the problem of a name that is in use.
func taken(name string) error {
	return problem.New(problem.CodeConflict, "a storage %.100q already exists", name)
}

// mayManage returns the problem capability_missing or unsupported if the host's
// storages cannot be changed.
func (s *Store) mayManage(ctx context.Context, hostID int64) error {
	return s.Hosts.Require(ctx, hostID, endpoint.Lifecycle, func(at hypervisor.Host) error {
		_, err := host.AsAbility[hypervisor.StorageManager](at)
		return err
	})
}

// has reports whether a definition has what an order sets and lacks what it
// clears. Secrets cannot be read back, so they count as set.
func has(now *hypervisor.StorageDefinition, t *hypervisor.StorageType, o *order) bool {
	for _, s := range o.set {
		key := keyNamed(t, s.Key)
		if key == nil || key.Secret {
			continue
		}
		value := string(s.Value)
		is := now.Config[s.Key]
		if key.Type == hypervisor.StorageWords {
			value, is = sorted(value), sorted(is)
		}
		if value != is && !(key.Type == hypervisor.StorageFlag && value == "0" && is == "") {
			return false
		}
	}
	return !slices.ContainsFunc(o.clear, func(key string) bool { return now.Config[key] != "" })
}

// sorted normalizes a list, so that two lists with the same words in another
// order are equal.
func sorted(words string) string {
	value, _ := wordsOf(&hypervisor.StorageKey{}, words)
	list := slices.Sorted(slices.Values(splitWords(value)))
	return fmt.Sprint(list)
}

// Edit changes a definition with one request that is never repeated, and
// returns the storage as it is then. A key that is null is cleared. digest is
// the Digest that the caller has seen; a different one is refused. Problems:
// invalid with all faults, not_found, digest_conflict, and those of Attach.
func (s *Store) Edit(ctx context.Context, hostID int64, name, digest string, config Config) (Detail, error) {
	if len(config) == 0 {
		return Detail{}, guest.NothingToChange()
	}
	if err := s.mayManage(ctx, hostID); err != nil {
		return Detail{}, err
	}
	types, err := s.types(ctx, hostID, endpoint.Lifecycle)
	if err != nil {
		return Detail{}, err
	}
	p, err := s.find(ctx, hostID, name)
	if err != nil {
		return Detail{}, err
	}
	now, err := s.definition(ctx, hostID, name)
	if err != nil {
		return Detail{}, err
	}
	t := typeNamed(types, now.Type)
	if t == nil {
		return Detail{}, problem.New(problem.CodeUnsupported, "storages of the type %.40q cannot be edited here", now.Type)
	}
	o := read(t, config, false)
	if len(o.faults) > 0 {
		return Detail{}, problem.Invalid(o.faults...)
	}
	if err := guest.CheckDigest(digest, now.Digest); err != nil {
		return Detail{}, err
	}
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetKind, e.TargetName = "storage", name
		e.Detail("storage", name)
		e.Detail("changed", o.names())
	})
	// What is cleared without having been set is no fault of a hypervisor that
	// knows only what is set.
	change := hypervisor.StorageChange{Name: name, Digest: now.Digest, Set: o.set, Clear: slices.DeleteFunc(slices.Clone(o.clear),
		func(key string) bool { k := keyNamed(t, key); return !k.Secret && now.Config[key] == "" })}
	var after hypervisor.StorageDefinition
	if len(change.Set)+len(change.Clear) > 0 {
		err = s.change(ctx, &p, func(ctx context.Context, m hypervisor.StorageManager) error { return m.EditStorage(ctx, change) },
			func(is *hypervisor.StorageDefinition) bool {
				return is != nil && is.Digest != now.Digest && has(is, t, o)
			})
	} else {
		err = s.DB.Tx(ctx, func(tx *db.Tx) error { return audit.Write(ctx, tx) })
	}
	if err != nil {
		return Detail{}, err
	}
	if after, err = s.definition(ctx, hostID, name); err != nil {
		return Detail{}, err
	}
	return s.detail(ctx, &p, after, "")
}

// exclusive is the key that serializes changes of one storage's definition.
func (p *place) exclusive() string { return fmt.Sprintf("storage:%d:%s", p.clusterID, p.name) }

// change sends one request that changes a definition. If the response is lost,
// it reads the definition, nil if it does not exist, and there decides whether
// the request took effect. Nothing is sent twice.
func (s *Store) change(ctx context.Context, p *place, request func(context.Context, hypervisor.StorageManager) error,
	there func(now *hypervisor.StorageDefinition) bool) error {
	tell := func(err error, _ *audit.Entry) *problem.Error { return problem.From(inConfig(plugin.Problem(err))) }
	return change.Change{DB: s.DB, Exclusive: p.exclusive(), Limit: changeLimit, Problem: tell}.Do(ctx, func(ctx context.Context) error {
		left := false
		_, err := host.CallWithTimeout(ctx, s.Hosts, sendLimit, p.hostID, endpoint.Lifecycle,
			func(ctx context.Context, m hypervisor.StorageManager) (struct{}, error) {
				left = true
				return struct{}{}, request(ctx, m)
			})
		if err == nil || !left || job.Refused(err) {
			return err
		}
		found, unread := s.definition(ctx, p.hostID, p.name)
		if unread != nil && problem.CodeOf(unread) == problem.CodeNotFound {
			return change.ResolveLost(err, "the storage", there(nil), nil)
		}
		return change.ResolveLost(err, "the storage", unread == nil && there(&found), unread)
	})
}
