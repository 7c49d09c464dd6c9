package pve

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// listed gives what the driver makes of the rows of a list.
func listed(t *testing.T, storage, rows string) ([]hypervisor.Backup, error) {
	t.Helper()
	host := serveReply(t, reply{Status: 200, Reason: "OK", Response: json.RawMessage(`{"data":` + rows + `}`)})
	return host.listBackups(t.Context(), hypervisor.BackupQuery{Storage: storage, Node: "pve1"})
}

// The rows are in the form in which a backup server's storage has them, and the archives of releases from 6 on.
func TestBackupRows(t *testing.T) {
	t.Parallel()
	size := int64(34359738368)
	at := time.Unix(1795222750, 0).UTC()
	for row, want := range map[string]hypervisor.Backup{
		`{"volid":"pbs:backup/vm/100/2026-11-21T00:59:10Z","ctime":1795222750,"size":34359738368,"format":"pbs-vm","vmid":100,
		"subtype":"qemu","content":"backup","notes":"web","protected":1,"encrypted":"a1:b2:c3","verification":{"state":"ok","upid":"UPID:x"}}`: {
			ID: "pbs:backup/vm/100/2026-11-21T00:59:10Z", Kind: hypervisor.VM, Guest: "100", TakenAt: at, SizeBytes: &size, Format: "pbs-vm",
			Notes: "web", Protected: true, Encrypted: true, Verified: hypervisor.BackupVerified,
		},
		`{"volid":"pbs:backup/ct/101/2026-11-21T00:59:10Z","ctime":"1795222750","size":"34359738368","format":"pbs-ct","vmid":"101",
		"protected":0,"verification":{"upid":"UPID:x","state":"failed"}}`: {
			ID: "pbs:backup/ct/101/2026-11-21T00:59:10Z", Kind: hypervisor.Container, Guest: "101", TakenAt: at, SizeBytes: &size,
			Format: "pbs-ct", Verified: hypervisor.BackupDamaged,
		},
		`{"volid":"pbs:backup/vzdump-lxc-114-2026_11_21-00_59_10.tar.zst","format":"tar.zst"}`: {
			ID: "pbs:backup/vzdump-lxc-114-2026_11_21-00_59_10.tar.zst", Kind: hypervisor.Container, Guest: "114", Format: "tar.zst",
		},
		`{"volid":"pbs:backup/vzdump-qemu-100-2020_11_25-14_38_36.vma.lzo","vmid":7,"size":-1,"ctime":-5,"verification":"none",
		"encrypted":null,"notes":{"a":1}}`: {
			ID: "pbs:backup/vzdump-qemu-100-2020_11_25-14_38_36.vma.lzo", Kind: hypervisor.VM, Guest: "100",
		},
		`{"volid":"pbs:backup/odd.vma","vmid":100,"subtype":"qemu","verification":{"state":"strange"},"ctime":99999999999999}`: {
			ID: "pbs:backup/odd.vma", Kind: hypervisor.VM, Guest: "100",
		},
	} {
		want.Storage, want.Node = "pbs", "pve1"
		all, err := listed(t, "pbs", "["+row+"]")
		if err != nil || len(all) != 1 || !reflect.DeepEqual(all[0], want) {
			t.Errorf("%s\n\tgives %+v, %v\n\twant  %+v", row, all, err, want)
		}
	}
}

func TestRowsThatAreNoBackupOfAGuest(t *testing.T) {
	t.Parallel()
	good := `{"volid":"pbs:backup/vm/100/2026-11-21T00:59:10Z"}`
	for _, row := range []string{
		`{"volid":"pbs:backup/host/nas/2026-11-21T00:59:10Z","format":"pbs-host","ctime":1}`,
		`{"volid":"pbs:iso/x.iso","vmid":100,"subtype":"qemu"}`,
		`{"volid":"pbs:backup/odd.vma"}`, `{"volid":"pbs:backup/odd.vma","subtype":"qemu"}`, `{"volid":"pbs:backup/odd.vma","vmid":100}`,
		`{"volid":"other:backup/vm/100/2026-11-21T00:59:10Z"}`, `{"volid":"pbs:backup/vm/../100/x","vmid":100}`,
		`{"volid":"pbs:backup/vm/7/x"}`,
		`{"volid":"pbs:backup/vm/99999999999/x"}`, `{"volid":"pbs:backup/vm/100/a\u0000b\n"}`, `{"volid":42}`,
		`{"volid":["pbs:backup/vm/100/x"]}`, `null`, `{}`, `{"volid":"pbs:backup/vm/100/` + strings.Repeat("x", 300) + `"}`,
		`{"volid":"pbs:backup/odd.vma","vmid":1e300,"subtype":"qemu"}`,
		`{"volid":"pbs:backup/odd.vma","vmid":-100,"subtype":"qemu"}`,
	} {
		all, err := listed(t, "pbs", "["+row+","+good+"]")
		if err != nil || len(all) != 1 || all[0].ID != "pbs:backup/vm/100/2026-11-21T00:59:10Z" || all[0].Kind != hypervisor.VM {
			t.Errorf("%s gives %+v, %v", row, all, err)
		}
	}
}

func TestBackupRowsAreBounded(t *testing.T) {
	t.Parallel()
	row := `{"volid":"pbs:backup/vm/100/x","notes":"` + strings.Repeat("ä", 5000) + `","format":"` + strings.Repeat("f", 5000) + `"}`
	all, err := listed(t, "pbs", "["+row+"]")
	if err != nil || len(all) != 1 || len(all[0].Notes) > maxNotes || len(all[0].Format) > maxWord || !strings.HasSuffix(all[0].Notes, "ä") {
		t.Errorf("%+v, %v", all, err)
	}
	// As many as a large backup server has.
	var many strings.Builder
	const count = 30_000
	for i := range count {
		fmt.Fprintf(&many, `,{"volid":"pbs:backup/vm/100/%d","ctime":%d,"notes":"%s"}`, i, 1700000000+i, strings.Repeat("n", 300))
	}
	if all, err = listed(t, "pbs", "["+many.String()[1:]+"]"); err != nil || len(all) != count {
		t.Errorf("%d of %d, %v", len(all), count, err)
	}
	for _, rows := range []string{"[" + row, `"none"`, `{"volid":"x"}`, `[1]`, `["` + strings.Repeat("x", 2<<20) + `"]`} {
		if all, err := listed(t, "pbs", rows); plugin.KindOf(err) != plugin.Protocol {
			t.Errorf("%.40s gives %d backups, %v", rows, len(all), err)
		}
	}
}
