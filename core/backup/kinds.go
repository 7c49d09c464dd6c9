package backup

import (
	"context"
	"encoding/json"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/schedule"
)

// runParams are the parameters of a schedule that backs up guests. Exactly one
// of vm_id, app_id, targets and select names the guests; guest.ChooseTargets
// checks that.
type runParams struct {
	VMID      *int64              `json:"vm_id,omitempty" minimum:"1" example:"3" doc:"ID of one VM"`
	AppID     *int64              `json:"app_id,omitempty" minimum:"1" doc:"ID of one app"`
	Targets   []guest.NamedTarget `json:"targets,omitempty" minItems:"1" maxItems:"500" doc:"Several VMs and apps"`
	Select    *guest.Selection    `json:"select,omitempty" doc:"Selects the guests at each run"`
	Storage   *string             `json:"storage,omitempty" minLength:"1" maxLength:"100" example:"nas" doc:"Storage for the backup; if absent, the only backup storage of the node"`
	Mode      *string             `json:"mode,omitempty" enum:"snapshot,suspend,stop"`
	Compress  *string             `json:"compress,omitempty" enum:"0,gzip,lzo,zstd"`
	Notes     *string             `json:"notes,omitempty" maxLength:"250"`
	Protected bool                `json:"protected,omitempty"`
	guest.Retention
}

// Kinds returns what a schedule may request: backup.run. At each run the
// schedule selects its guests again and makes one job per guest.
func (s *Store) Kinds() []schedule.Kind {
	run := schedule.NewKind("backup.run", "Back up guests", func(ctx context.Context, p runParams) (schedule.Enqueue, error) {
		chosen, err := guest.ChooseTargets(p.VMID, p.AppID, p.Targets, p.Select, "vm_id, app_id, targets and select")
		if err != nil {
			return nil, err
		}
		chosen.PromisedTemplates = true
		guests, err := s.Guests.ScheduledGuests(ctx, s.Actor, chosen, "vm", "app")
		if err != nil {
			return nil, err
		}
		order := guest.BackupRequest{Storage: p.Storage, Mode: p.Mode, Compress: p.Compress, Notes: p.Notes, Protected: p.Protected}
		return guests.Each(ctx, func(ctx context.Context, r guest.Request) (schedule.Enqueue, error) {
			return guest.PrepareBackup(ctx, s.Actor, r, order)
		})
	})
	run.Scope, run.Refuse = "backups", keepsProtected
	return []schedule.Kind{run}
}

// keepsProtected refuses a schedule that protects its backups and also limits
// how many it keeps. It could never delete one. It returns the field at fault,
// empty if there is none.
func keepsProtected(params json.RawMessage) (field, why string) {
	var p struct {
		Protected bool
		Keep      *int64
	}
	if json.Unmarshal(params, &p) == nil && p.Protected && p.Keep != nil {
		return "keep", "protected backups are never deleted: use either keep or protected"
	}
	return "", ""
}
