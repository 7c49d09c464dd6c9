package guest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// ConfigRequest is the requested configuration of a guest. A nil field keeps the
// present value.
type ConfigRequest struct {
	// Digest is the digest of the Config that the order is based on. An empty
	// one is not checked.
	Digest      string
	Name        *string
	Description *string
	// Tags replace all tags. A pointer to an empty list removes them.
	Tags      *[]string
	CPUType   *string
	Cores     *int64
	Sockets   *int64
	MemoryMB  *int64
	BalloonMB *int64
	SwapMB    *int64
	// Disks are new sizes of disks, and new disks, by key.
	Disks map[string]DiskRequest
}

// DiskRequest is what is wanted of a disk. With a storage it is a new one.
type DiskRequest struct {
	SizeGB int64
	// Storage is the name of the storage that the disk is created on.
	Storage string
	// Path is the mount point of a new disk inside a container.
	Path string
}

// change returns the request for everything except the disks.
func (o ConfigRequest) change() hypervisor.ConfigChange {
	c := hypervisor.ConfigChange{
		Digest: o.Digest, Name: o.Name, Description: o.Description, CPUType: o.CPUType, Cores: o.Cores, Sockets: o.Sockets,
		MemoryMB: o.MemoryMB, BalloonMB: o.BalloonMB, SwapMB: o.SwapMB,
	}
	if o.Tags != nil {
		c.Tags, c.TagsSet = *o.Tags, true
	}
	return c
}

// fields returns the names of the fields in the order, without disks, as the
// API spells them.
func (o ConfigRequest) fields() (all []string) {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"name", o.Name != nil}, {"description", o.Description != nil}, {"tags", o.Tags != nil}, {"cpu_type", o.CPUType != nil},
		{"cores", o.Cores != nil}, {"sockets", o.Sockets != nil}, {"memory_mb", o.MemoryMB != nil}, {"balloon_mb", o.BalloonMB != nil},
		{"swap_mb", o.SwapMB != nil},
	} {
		if f.given {
			all = append(all, f.name)
		}
	}
	return all
}

// Fields returns the names of all fields in the order. A disk is disks.scsi0.
func (o ConfigRequest) Fields() []string {
	all := o.fields()
	for _, key := range slices.Sorted(maps.Keys(o.Disks)) {
		all = append(all, diskField(key))
	}
	return all
}

// Empty reports whether the order changes nothing.
func (o ConfigRequest) Empty() bool { return len(o.fields()) == 0 && len(o.Disks) == 0 }

// NothingToChange returns the problem of a request that names nothing to
// change.
func NothingToChange() error {
	return problem.InvalidField("nothing to change", "nothing_to_change", "body")
}

// Reconfigure changes a guest's configuration and then enlarges and adds disks,
// each in a request that is sent once. It returns the configuration afterwards. All
// faults of the order are one problem invalid. Other problems: digest_conflict;
// invalid_state for disks of a template; guest_busy; capability_missing;
// unsupported; those of host.Call and of Actor.Do.
func Reconfigure(ctx context.Context, a *Actor, r Request, o ConfigRequest) (Config, error) {
	if o.Empty() {
		return Config{}, NothingToChange()
	}
	if err := a.Hosts.Require(ctx, r.Guest.HostID, endpoint.Lifecycle, func(at hypervisor.Host) error {
		_, err := host.AsAbility[hypervisor.ConfigEditor](at)
		if err == nil && o.adds() {
			_, err = host.AsAbility[hypervisor.DiskAdder](at)
		}
		return err
	}); err != nil {
		return Config{}, err
	}
	on := Subject{Guest: r.Guest, hosts: a.Hosts, db: a.DB}
	now, err := on.readConfig(ctx)
	if err != nil {
		return Config{}, err
	}
	if err := CheckDigest(o.Digest, now.Digest); err != nil {
		return Config{}, err
	}
	changed, err := a.checkOrder(ctx, on, o, now)
	if err != nil {
		return Config{}, err
	}
	audit.Describe(ctx, func(e *audit.Entry) {
		fields := append([]string{}, o.fields()...)
		for _, key := range changed {
			fields = append(fields, diskField(key))
		}
		e.Detail("changed", fields)
	})
	var after Config
	err = a.Do(ctx, r, func(ctx context.Context, c *Change) (err error) {
		after, err = c.reconfigure(ctx, on, o, changed)
		// The stored configuration is outdated even after a failure, which may
		// have changed a part.
		if stale := detailStale(ctx, a.DB, on.Guest.ID); err == nil {
			err = stale
		}
		if err == nil && (o.Name != nil || o.Tags != nil) {
			err = showNamed(ctx, a.DB, on.Guest.ID, after.Name, after.Tags)
		}
		return err
	})
	return after, err
}

// showNamed writes a guest's new name and tags into its row. The hypervisor's
// list has them only some seconds later, and a job compares the name in
// between.
func showNamed(ctx context.Context, d *db.DB, id int64, name string, tags []string) error {
	_, err := d.Pool.Exec(ctx, `UPDATE guests SET name = CASE WHEN $2 = '' THEN name ELSE $2 END, tags = $3, changed_at = now(),
		read_at = now() WHERE id = $1`, id, name, tags)
	if err != nil {
		return db.Problem(fmt.Errorf("storing the guest's new name: %w", err))
	}
	return nil
}

// reconfigure sends the requests of an order. The argument disks lists those to
// enlarge and to add.
func (c *Change) reconfigure(ctx context.Context, on Subject, o ConfigRequest, disks []string) (Config, error) {
	read := func(ctx context.Context) (hypervisor.Config, error) {
		return on.readConfig(ctx)
	}
	digest := o.Digest
	if fields := o.fields(); len(fields) > 0 {
		err := SendTo(ctx, c, fields, func(able hypervisor.ConfigEditor, ctx context.Context, ref hypervisor.GuestRef) error {
			return able.Reconfigure(ctx, ref, o.change())
		}, func(ctx context.Context) (bool, error) {
			now, err := read(ctx)
			return o.inForce(now), err
		})
		if err != nil {
			return Config{}, err
		}
		// The change has given the configuration another digest, which is not
		// known.
		digest = ""
	}
	for _, key := range disks {
		there := func(ctx context.Context) (bool, error) {
			now, err := read(ctx)
			i := slices.IndexFunc(now.Disks, func(d hypervisor.Disk) bool { return d.Key == key })
			return err == nil && i >= 0 && now.Disks[i].SizeGB != nil && *now.Disks[i].SizeGB >= o.Disks[key].SizeGB, err
		}
		var err error
		if o.Disks[key].Storage != "" {
			err = c.addDisk(ctx, on, key, o.Disks[key], digest, there)
		} else {
			growth := hypervisor.DiskGrowth{Key: key, SizeGB: o.Disks[key].SizeGB, Digest: digest}
			err = SendTo(ctx, c, []string{diskField(key)}, func(able hypervisor.ConfigEditor, ctx context.Context, ref hypervisor.GuestRef) error {
				return able.GrowDisk(ctx, ref, growth)
			}, there)
		}
		if err != nil {
			return Config{}, diskFault(err, key)
		}
		digest = ""
	}
	now, err := read(ctx)
	return showConfig(now), err
}

// addDisk sends the request for a new disk. It reads the configuration before,
// because a hypervisor could detach another disk that has the key by now.
func (c *Change) addDisk(ctx context.Context, on Subject, key string, d DiskRequest, digest string,
	there func(context.Context) (bool, error)) error {
	now, err := on.readConfig(ctx)
	if err != nil {
		return err
	}
	if err := CheckDigest(digest, now.Digest); err != nil {
		return err
	}
	if slices.ContainsFunc(now.Disks, func(d hypervisor.Disk) bool { return d.Key == key }) {
		return problem.New(problem.CodeDigestConflict, "the guest has a disk %s by now", key)
	}
	digest = now.Digest
	disk := hypervisor.NewDisk{Key: key, Storage: d.Storage, SizeGB: d.SizeGB, Path: d.Path, Digest: digest}
	return SendTo(ctx, c, []string{diskField(key)}, func(able hypervisor.DiskAdder, ctx context.Context, ref hypervisor.GuestRef) error {
		return able.AddDisk(ctx, ref, disk)
	}, there)
}

// adds reports whether the order has new disks.
func (o ConfigRequest) adds() bool {
	for _, d := range o.Disks {
		if d.Storage != "" {
			return true
		}
	}
	return false
}

// diskField returns the name of a disk's size as the API spells it.
func diskField(key string) string { return "disks." + key }

// diskFault attributes the hypervisor's fault to the field of the disk, whose
// key the driver does not know as a field.
func diskFault(err error, key string) error {
	known := problem.From(plugin.Problem(err))
	if known.Code != problem.CodeInvalid {
		return err
	}
	faults := slices.Clone(known.Faults)
	for i := range faults {
		field := "size_gb"
		if n := len(faults[i].Loc); n > 0 && slices.Contains([]any{"storage", "path"}, faults[i].Loc[n-1]) {
			field = faults[i].Loc[n-1].(string)
		}
		faults[i].Loc = []any{"body", "disks", key, field}
	}
	return problem.Invalid(faults...).WithCause(err)
}

// inForce reports whether a configuration is what the order wants, now or after
// a restart.
func (o ConfigRequest) inForce(now hypervisor.Config) bool {
	number := func(want, is *int64, waits string) bool {
		return want == nil || is != nil && *is == *want || waiting(now, waits, *want)
	}
	text := func(want *string, is string) bool {
		return want == nil || strings.TrimSpace(is) == strings.TrimSpace(*want)
	}
	return number(o.Cores, now.Cores, "cores") && number(o.Sockets, now.Sockets, "sockets") &&
		number(o.MemoryMB, now.MemoryMB, "memory") && number(o.BalloonMB, now.BalloonMB, "balloon") &&
		number(o.SwapMB, now.SwapMB, "swap") && text(o.Name, now.Name) && text(o.Description, now.Description) &&
		(o.CPUType == nil || now.CPUType == *o.CPUType || pendingText(now, "cpu") == *o.CPUType) &&
		(o.Tags == nil || sameTags(*o.Tags, now.Tags))
}

// waiting reports whether a number waits for a restart under a key.
func waiting(now hypervisor.Config, key string, want int64) bool {
	text := pendingText(now, key)
	return text != "" && text == formatInt(want)
}

// pendingText returns the pending value of a key, or an empty string.
func pendingText(now hypervisor.Config, key string) string {
	if value := now.Pending[key]; value != nil {
		return *value
	}
	return ""
}

// sameTags compares tags as hypervisors do, which may sort them and write them
// in lower case.
func sameTags(a, b []string) bool {
	fold := func(tags []string) map[string]bool {
		out := map[string]bool{}
		for _, tag := range tags {
			out[strings.ToLower(tag)] = true
		}
		return out
	}
	return maps.Equal(fold(a), fold(b))
}

// CheckDigest returns the problem digest_conflict if the digest is not the
// present one. An empty digest is not checked.
func CheckDigest(given, now string) error {
	if given == "" || given == now {
		return nil
	}
	return problem.New(problem.CodeDigestConflict, "the object has changed since you read it; read it again and repeat your change")
}
