package nodeunit

import (
	"context"
	"io"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// InGuest is a container as a machine on which the functions of this package run programs. A container may have no systemd, so a run there
// is a session of its own (setsid(1)) in place of a unit: it goes on when the connection is gone, and ends with the container. Its end is
// written by its own launcher; where that was killed, nobody knows it (Lost). What it has put into the background is left alone when it
// ends by itself, as services may be started by it. It wants sh, tar, sha256sum, stat, find, mktemp and setsid, as busybox has them too.
//
// Containers are not trusted: what is told of a run there may be a lie.
func InGuest(container Container) hypervisor.NodeExecutor { return inGuest{container: container} }

// Container runs programs in one container; see hypervisor.GuestExecutor.
type Container interface {
	Run(ctx context.Context, command hypervisor.NodeCommand, streams hypervisor.NodeStreams) (hypervisor.NodeResult, error)
}

type inGuest struct {
	hypervisor.NodeExecutor // nil: nothing else is asked of it
	container               Container
}

// RunOnNode implements hypervisor.NodeExecutor.
func (g inGuest) RunOnNode(ctx context.Context, command hypervisor.NodeCommand, streams hypervisor.NodeStreams) (hypervisor.NodeResult,
	error) {
	if streams.Input == nil {
		streams.Input = noInput{}
	}
	return g.container.Run(ctx, command, streams)
}

type noInput struct{}

func (noInput) Read([]byte) (int, error) { return 0, io.EOF }

// scripts are those by which runs are made and asked for.
type scripts struct{ prepare, start, launch, finish, look, stop, remove, list string }

var (
	units    = scripts{prepare, start, launch, finish, look, stop, remove, list}
	sessions = scripts{prepareSession, startSession, launchSession, "", lookSession, stopSession, removeSession, list}
)

func scriptsOf(node hypervisor.NodeExecutor) scripts {
	if _, is := node.(inGuest); is {
		return sessions
	}
	return units
}

// prepareSession is prepare with what busybox has.
const prepareSession = takeIn + `mv -- "$new" "$dir" || exit 27
sync
trap - EXIT
`

// bootOf are the words that print what tells this start of the container from others: the machine's boot, and when process 1 began.
const bootOf = `boot() {
	read -r all </proc/1/stat; set -- ${all##*) }
	shift 19; echo "$(cat /proc/sys/kernel/random/boot_id)-$1"
}
`

// startSession is the script that starts a session, once: see launchSession. It waits until that has begun.
const startSession = `set -u; LC_ALL=C; export LC_ALL
dir=/var/lib/hostler/runs/$1
cd "$dir" 2>/dev/null || exit 20
IFS= read -r want || exit 27
have=$(sha256sum <sums); [ "${have%% *}" = "$want" ] || exit 21
[ ! -d started ] || exit 0
[ ! -e stopping ] || exit 24
sha256sum -c sums >/dev/null 2>&1 || exit 22
command -v setsid >/dev/null || { echo "there is no setsid" >&2; exit 26; }
setsid sh "$dir/launch" "$dir" </dev/null >/dev/null 2>&1 &
i=0
until [ -d started ]; do
	i=$((i + 1)); [ $i -lt 100 ] || { echo "the session does not begin" >&2; exit 26; }
	sleep 0.1
done
`

// launchSession is the session's first process, in the run's folder $1. The folder "started" gets its name once. It writes down the end,
// and ends what runs for too long or shall be stopped: all of its process group, which is the program's and what that has started.
const launchSession = `#!/bin/sh
hostler_run=$1; cd "$hostler_run" || exit 125
umask 077
` + bootOf + `[ ! -e stopping ] && [ ! -e started ] || exit 125
mkdir ".start-$$" && boot >".start-$$/boot" && date +%s >".start-$$/at" || exit 125
read -r hostler_all </proc/self/stat; hostler_all=${hostler_all##*) }
echo "$$ $(set -- $hostler_all; shift 19; echo "$1")" >".start-$$/pid"
mkdir lock 2>/dev/null && mv ".start-$$" started || { rm -rf ".start-$$"; exit 125; }
over() { echo "$* $(date +%s)" >ended.new && mv ended.new ended; }
sha256sum -c sums >/dev/null 2>&1 || { : >started/changed; over exit-code exited 126; exit 126; }
trap : TERM HUP INT
IFS= read -r hostler_limit <limit
(
	trap : TERM HUP INT
	(
` + become + `	) <input >>output 2>&1
	hostler_code=$?
	[ -e ending ] || over exit-code exited $hostler_code
) &
hostler_until=$(($(date +%s) + hostler_limit)) hostler_why=
while [ ! -e ended ]; do
	if [ -e stopping ]; then hostler_why=signal; elif [ "$(date +%s)" -ge "$hostler_until" ]; then hostler_why=timeout; fi
	if [ -n "$hostler_why" ]; then
		: >ending
		kill -TERM 0
		hostler_i=0
		while [ $hostler_i -lt 75 ] && kill -0 $! 2>/dev/null; do hostler_i=$((hostler_i + 1)); sleep 0.2; done
		[ $hostler_i -lt 75 ] && over $hostler_why killed TERM || over $hostler_why killed KILL
		kill -KILL 0
	fi
	kill -0 $! 2>/dev/null || [ -e ended ] || { over exit-code killed KILL; break; }
	sleep 0.2
done
`

// lookSession is look for a session.
const lookSession = `set -u; LC_ALL=C; export LC_ALL
` + bootOf + `cd "/var/lib/hostler/runs/$1" 2>/dev/null || exit 20
active=inactive
if [ -d started ]; then
	read -r pid began <started/pid
	if read -r all <"/proc/$pid/stat"; then
		now=$(set -- ${all##*) }; [ "$1" = Z ] || { shift 19; echo "$1"; })
		[ "$now" != "$began" ] || active=active
	fi 2>/dev/null
fi
echo "active $active"
echo "boot $(boot) $(date +%s)"
[ ! -d started ] || echo "started $(cat started/boot) $(cat started/at)"
[ ! -e started/changed ] || echo changed
[ ! -e stopping ] || echo stopping
[ ! -s ended ] || echo "ended $(cat ended)"
echo "size $(stat -c %s output 2>/dev/null || echo 0)"
echo
[ "$3" = 0 ] || [ ! -e output ] || tail -c "+$(($2 + 1))" output | head -c "$3"
`

// stopSession is the script that has a session end, or keeps it from starting. It does not wait for the end.
const stopSession = `set -u
cd "/var/lib/hostler/runs/$1" 2>/dev/null || exit 20
: >stopping
`

// removeSession is the script that takes a session's folder away.
const removeSession = `set -u
cd "/var/lib/hostler/runs/$1" 2>/dev/null || exit 0
if [ -d started ] && [ ! -s ended ]; then
	read -r pid began <started/pid
	if read -r all <"/proc/$pid/stat"; then
		now=$(set -- ${all##*) }; shift 19; echo "$1")
		[ "$now" != "$began" ] || exit 25
	fi 2>/dev/null
fi
cd / && rm -rf -- "/var/lib/hostler/runs/$1" || exit 27
`
