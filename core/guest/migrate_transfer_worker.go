package guest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// transfer is the part of the checkpoint about a backup that is copied from
// machine to machine.
type transfer struct {
	// Node is where the guest was when the job decided. Machine and
	// TargetMachine are the hosts whose machines are the two nodes.
	Node          string `json:"node"`
	Machine       int64  `json:"machine"`
	TargetMachine int64  `json:"target_machine"`
	// Made is the backup on the source.
	Made *hypervisor.Backup `json:"made,omitempty"`
	// To is the file that becomes the copy. It is stored before anything is
	// written, so that a file found there later is known to be ours.
	To *hypervisor.BackupFile `json:"to,omitempty"`
}

const (
	// copyTries is how often a copy is attempted whose connection breaks.
	copyTries = 5
	// copyMode are the permissions of the copy. It contains all data of the
	// guest.
	copyMode = 0o600
	// slowCopy is the speed in bytes per second for which a copy gets time, in
	// addition to copyGrace.
	slowCopy  = 4 << 20
	copyGrace = 10 * time.Minute
)

// copyBackup copies the backup to the other side and finds it in the list there.
func (a *guestRun) copyBackup(ctx context.Context, x *across) error {
	made := *x.Transfer.Made
	if made.SizeBytes == nil {
		return job.Fail("the hypervisor does not report the size of the backup %s", made.ID)
	}
	from, err := a.backupFile(ctx, a.hostID, hypervisor.BackupQuery{Storage: x.SourceStorage, Node: x.Transfer.Node}, made)
	if err != nil {
		return err
	}
	resumed, to := x.Transfer.To != nil, x.Transfer.To
	if !resumed {
		file, err := a.backupFile(ctx, x.HostID, hypervisor.BackupQuery{Storage: x.TargetStorage, Node: x.Node}, made)
		if err != nil {
			return err
		}
		to = &file
	}
	limit := copyGrace + time.Duration(*made.SizeBytes/slowCopy)*time.Second
	// Without this a retention job could delete the copy before it is restored.
	release, err := a.holdBackup(ctx, x.HostID, x.copyAt(*to, a.requested), limit+defaultProofLimit)
	if err != nil {
		return err
	}
	defer release()
	if !resumed {
		if err := a.makeRoom(ctx, x, made, *to); err != nil {
			return err
		}
	}
	a.run.Note("copying the backup to the host %s: %d MiB", x.HostName, *made.SizeBytes>>20)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for try, pause := 1, 500*time.Millisecond; ; try++ {
		sum, err := a.copyOver(limited, x.Transfer, from.Path, *made.SizeBytes, limit, resumed || try > 1)
		if err == nil {
			a.run.Note("the file is the same on both machines, with the SHA-256 %s", sum)
			break
		}
		select {
		case <-a.run.Stopping():
			return err
		default:
		}
		kind := sdk.KindOf(err)
		lost := kind == sdk.Unreachable || kind == sdk.Timeout || errors.Is(err, sdk.ErrGone)
		switch {
		case ctx.Err() == nil && limited.Err() != nil:
			return job.Fail("the backup was not copied within %s", limit)
		case kind == sdk.Invalid:
			return job.Fail("the copy of the backup on the other machine differs in SHA-256 or size and was not stored: %s",
				job.Explain(err))
		case ctx.Err() != nil || !lost:
			return err
		case try == copyTries:
			return job.Fail("the copy of the backup was interrupted %d times: %s", try, job.Explain(err))
		}
		a.run.Note("the copy was interrupted (%s); starting over", job.Explain(err))
		if err := wait(ctx, pause); err != nil {
			return err
		}
		pause *= 4
	}
	return a.verifyCopy(ctx, x, *made.SizeBytes)
}

// copyAt returns the copy as a backup of the target host.
func (x *across) copyAt(file hypervisor.BackupFile, of RequestedGuest) hypervisor.Backup {
	return hypervisor.Backup{ID: file.ID, Storage: x.TargetStorage, Node: x.Node, Kind: of.Kind, Guest: of.Ref}
}

// holdBackup keeps other jobs away from a backup for at most limit, or until
// release is called.
func (a *guestRun) holdBackup(ctx context.Context, hostID int64, b hypervisor.Backup, limit time.Duration) (release func(), err error) {
	volume := host.Volume{Node: b.Node, Storage: b.Storage, Name: b.ID}
	exclusive, err := volume.Exclusive(ctx, a.DB, hostID)
	if err != nil {
		return nil, err
	}
	return a.run.Hold(ctx, exclusive, limit)
}

// backupFile returns the file of a backup, or the place for it. It retries
// until the hypervisor answers.
func (a *guestRun) backupFile(ctx context.Context, hostID int64, query hypervisor.BackupQuery, b hypervisor.Backup) (
	file hypervisor.BackupFile, err error) {
	err = a.run.RetryUnreachable(ctx, func(ctx context.Context) (err error) {
		file, err = host.CallWithTimeout(ctx, a.Hosts, a.readLimit(), hostID, endpoint.Backup,
			func(ctx context.Context, at hypervisor.BackupFileLocator) (hypervisor.BackupFile, error) {
				return at.BackupFile(ctx, query, b)
			})
		return err
	})
	return file, err
}

// makeRoom selects the file for the copy. It fails if something exists there or
// if the space does not suffice.
func (a *guestRun) makeRoom(ctx context.Context, x *across, made hypervisor.Backup, to hypervisor.BackupFile) error {
	there, err := a.backups(ctx, x.HostID, x.Node, x.TargetStorage)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(there, func(b hypervisor.Backup) bool { return b.ID == to.ID }) {
		return job.Fail("the host %s already has a backup %s, which does not belong to this move", x.HostName, to.ID)
	}
	var place hypervisor.Placement
	err = a.run.RetryUnreachable(ctx, func(ctx context.Context) (err error) {
		place, err = host.CallWithTimeout(ctx, a.Hosts, a.readLimit(), x.HostID, endpoint.Monitoring,
			func(ctx context.Context, at hypervisor.Provisioner) (hypervisor.Placement, error) {
				return at.Placement(ctx, hypervisor.PlacementQuery{Kind: a.requested.Kind, Node: x.Node, Name: x.Name, Storages: true})
			})
		return err
	})
	if err != nil {
		return err
	}
	if free := freeOf(place, x.TargetStorage); free != nil && *free < *made.SizeBytes {
		return job.Fail("the storage %s of the node %s has %d MiB free, but the backup needs %d MiB", x.TargetStorage, x.Node, *free>>20,
			*made.SizeBytes>>20)
	}
	x.Transfer.To = &to
	return a.run.SaveCheckpoint(ctx, a.progress)
}

// copyOver copies a file from one machine to the other through this service,
// without writing it to the service's disk. Both machines compute the SHA-256;
// a copy with another one is not stored. If a copy was begun before, copyOver
// first checks whether it is complete.
func (a *guestRun) copyOver(ctx context.Context, t *transfer, from string, size int64, limit time.Duration,
	resumed bool) (sum string, err error) {
	copied := func(ctx context.Context, source, target hypervisor.NodeExecutor) error {
		if sum, err = digestOf(ctx, source, from, limit); err != nil {
			return err
		}
		if resumed {
			if there, err := digestOf(ctx, target, t.To.Path, limit); err == nil && there == sum {
				return nil
			}
		}
		return pipe(ctx, source, target, from, hypervisor.NodeFile{Path: t.To.Path, Mode: copyMode, Size: size, SHA256: sum}, a.run.SetProgress)
	}
	// All jobs take the login of the host with the lower ID first. Two jobs in
	// opposite directions would otherwise wait for each other for ever.
	if t.Machine < t.TargetMachine {
		err = a.onBoth(ctx, t.Machine, t.TargetMachine, limit, copied)
	} else {
		err = a.onBoth(ctx, t.TargetMachine, t.Machine, limit, func(ctx context.Context, target, source hypervisor.NodeExecutor) error {
			return copied(ctx, source, target)
		})
	}
	return sum, err
}

// onBoth runs work with logins to two machines.
func (a *guestRun) onBoth(ctx context.Context, first, second int64, limit time.Duration,
	work func(ctx context.Context, first, second hypervisor.NodeExecutor) error) error {
	var failed error // of the second, which the first would take for its own
	err := a.Machines.OnMachine(ctx, first, limit, func(ctx context.Context, one hypervisor.NodeExecutor) error {
		failed = a.Machines.OnMachine(ctx, second, limit, func(ctx context.Context, two hypervisor.NodeExecutor) error {
			return work(ctx, one, two)
		})
		return nil
	})
	return cmp.Or(err, failed)
}

// digestOf returns the SHA-256 of a file as its machine reads it, in
// hexadecimal digits.
func digestOf(ctx context.Context, machine hypervisor.NodeExecutor, path string, limit time.Duration) (string, error) {
	var out headWriter
	result, err := machine.RunOnNode(ctx, hypervisor.NodeCommand{Program: "sha256sum", Arguments: []string{"--", path}, Limit: limit},
		hypervisor.NodeStreams{Output: &out})
	if err != nil {
		return "", err
	}
	sum, _, _ := strings.Cut(out.String(), " ")
	// The machine is not trusted to print what it should.
	if raw, err := hex.DecodeString(sum); !result.OK() || err != nil || len(raw) != 32 {
		return "", sdk.Errorf(sdk.Refused, "the machine did not report the SHA-256 of the file: sha256sum exited with %d", result.ExitCode)
	}
	return sum, nil
}

// headWriter stores the first 80 bytes that are written and drops the rest.
type headWriter struct{ bytes.Buffer }

func (w *headWriter) Write(p []byte) (int, error) {
	w.Buffer.Write(p[:min(len(p), max(0, 80-w.Len()))])
	return len(p), nil
}

// pipe streams a file from one machine to the other. The function told receives
// the finished share.
func pipe(ctx context.Context, source, target hypervisor.NodeExecutor, from string, to hypervisor.NodeFile, told func(float64)) error {
	ctx, cancel := context.WithCancel(ctx)
	reader, writer := io.Pipe()
	ended := make(chan struct{})
	defer func() {
		_ = reader.Close() // a writer that waits goes on with an error
		cancel()
		<-ended
	}()
	go func() {
		defer close(ended)
		_, err := source.CopyFromNode(ctx, from, to.Size, &sharing{to: writer, size: to.Size, told: told})
		_ = writer.CloseWithError(err) // nil is the end of the file
	}()
	_, err := target.CopyToNode(ctx, to, reader)
	return err
}

// sharing reports the share of the data that was passed on, in steps of one
// percent.
type sharing struct {
	to         io.Writer
	size, done int64
	told       func(float64)
}

func (s *sharing) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	before := s.done
	s.done += int64(n)
	if size := max(s.size, 1); s.done*100/size != before*100/size {
		s.told(float64(s.done) / float64(size))
	}
	return n, err
}

// verifyCopy finds the copy in the target's list.
func (a *guestRun) verifyCopy(ctx context.Context, x *across, size int64) error {
	return a.appears(ctx, x, func(b hypervisor.Backup) bool {
		return b.ID == x.Transfer.To.ID && b.Kind == a.requested.Kind && b.SizeBytes != nil && *b.SizeBytes == size
	}, "the host lists the copy", fmt.Sprintf("the copy was stored on the host %s, but its storage %s does not list it", x.HostName,
		x.TargetStorage))
}
