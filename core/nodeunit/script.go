package nodeunit

// How scripts end that say no.
const (
	saysNone    = 20 // the run is not there
	saysOther   = 21 // another run has the name
	saysChanged = 22 // something has not its SHA-256
	saysUnsafe  = 23 // the folder is not root's alone
	saysStopped = 24
	saysRuns    = 25
	saysRefused = 26 // systemd starts no unit
	saysFailed  = 27 // the disk is full, or the like
)

// All scripts get the run's name as $1, and make no command of any other text.

// prepare is the script that takes a run's folder in: from the standard input comes its digest in a line, and then an archive. A service
// that runs on the machine has its own files in the parent folder, where these belong to its user: nothing is run from there.
const prepare = takeIn + `sync -f "$new" && mv -T -- "$new" "$dir" || exit 27
trap - EXIT
`

// takeIn brings a run's folder to the machine as $new, and checks it, where $dir is not there yet. It wants no more than busybox has: "-o"
// of tar leaves the owners alone.
const takeIn = `set -u; umask 077; LC_ALL=C; export LC_ALL
for d in /var/lib/hostler /var/lib/hostler/runs; do
	[ -e "$d" ] || mkdir -p -m 700 "$d" || exit 27
	[ -d "$d" ] && [ ! -L "$d" ] || exit 23
	case $(stat -c %u:%A "$d") in 0:d????-??-?) ;; *) exit 23 ;; esac
done
IFS= read -r want || exit 27
dir=/var/lib/hostler/runs/$1
if [ -e "$dir" ]; then
	have=$(sha256sum <"$dir/sums"); [ "${have%% *}" != "$want" ] || exit 0
	[ ! -e "$dir/started" ] || exit 21
	rm -rf -- "$dir" || exit 27
fi
find /var/lib/hostler/runs -maxdepth 1 -name '.new-*' -mmin +1440 -exec rm -rf -- {} +
new=$(mktemp -d /var/lib/hostler/runs/.new-XXXXXX) || exit 27
trap 'rm -rf -- "$new"' EXIT
trap 'exit 27' HUP INT TERM
tar -x -o -p -f - -C "$new" || exit 27
have=$(sha256sum <"$new/sums"); [ "${have%% *}" = "$want" ] || exit 22
(cd "$new" && sha256sum -c sums >/dev/null 2>&1) || exit 22
`

// become makes a launcher, which is in the run's folder, the run's program.
const become = `PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root; export PATH HOME
set --
while IFS=" " read -r hostler_k hostler_v; do
	hostler_v=$(printf "%bx" "$hostler_v"); set -- "$@" "${hostler_v%x}"
done <command
while IFS=" " read -r hostler_k hostler_v; do
	hostler_v=$(printf "%bx" "$hostler_v"); export "$hostler_k=${hostler_v%x}"
done <environment
rm -f environment
trap - TERM HUP INT
umask 022
cd files && exec "$@"
`

// start is the script that starts the unit, once: see launch. The digest comes from the standard input.
const start = `set -u; LC_ALL=C; export LC_ALL
dir=/var/lib/hostler/runs/$1; unit=hostler-run-$1.service
cd "$dir" 2>/dev/null || exit 20
IFS= read -r want || exit 27
have=$(sha256sum <sums); [ "${have%% *}" = "$want" ] || exit 21
taken() {
	[ -e started ] || case $(systemctl show -p ActiveState --value "$unit") in active | activating | deactivating) ;; *) false ;; esac
}
! taken || exit 0
[ ! -e stopping ] || exit 24
sha256sum -c --quiet --strict sums >/dev/null 2>&1 || exit 22
IFS= read -r limit <limit || exit 27
systemd-run --quiet --no-ask-password --collect --unit="$unit" --slice=hostler.slice --description="Hostler run $1" \
	-p Type=exec -p Restart=no -p RuntimeMaxSec="${limit}s" -p TimeoutStopSec=15s -p KillMode=control-group -p SendSIGKILL=yes \
	-p LimitCORE=0 \
	-p WorkingDirectory="$dir" -p StandardInput="file:$dir/input" -p StandardOutput="append:$dir/output" -p StandardError=inherit \
	-p ExecStopPost="/bin/sh $dir/finish $dir" /bin/sh "$dir/launch" "$dir" || { taken || exit 26; }
`

// launch is the unit's program, in the run's folder $1. The folder "started" gets its name once, with what tells this start from others.
const launch = `#!/bin/sh
hostler_run=$1; cd "$hostler_run" || exit 125
[ ! -e stopping ] || exit 125
umask 077
hostler_new=.start-$INVOCATION_ID
mkdir "$hostler_new" && cat /proc/sys/kernel/random/boot_id >"$hostler_new/boot" && date +%s >"$hostler_new/at" &&
	echo "$INVOCATION_ID" >"$hostler_new/invocation" && mv -T "$hostler_new" started 2>/dev/null || { rm -rf "$hostler_new"; exit 125; }
sha256sum -c --quiet --strict sums >/dev/null 2>&1 || { : >started/changed; exit 126; }
` + become

// finish is what systemd runs after the unit's last process, in whichever way that ended (systemd.service(5), ExecStopPost). It writes to
// memory as well: the disk may be full.
const finish = `#!/bin/sh
[ "$(cat "$1/started/invocation" 2>/dev/null)" = "$INVOCATION_ID" ] || exit 0
umask 077
line="${SERVICE_RESULT:--} ${EXIT_CODE:--} ${EXIT_STATUS:--} $(date +%s) $(systemctl is-system-running 2>/dev/null)"
mkdir -p -m 700 /run/hostler-runs
for to in "/run/hostler-runs/${1##*/}" "$1/ended"; do
	echo "$line" >"$to.new" && mv -f "$to.new" "$to"
done 2>/dev/null
exit 0
`

// look is the script that tells how a run is, in lines of a word and values, an empty line, and then of what it has printed $3 bytes at
// most, from the byte $2 on. Whether the unit is there is asked before how it ended: where it is gone, the end was written before.
const look = `set -u; LC_ALL=C; export LC_ALL
cd "/var/lib/hostler/runs/$1" 2>/dev/null || exit 20
command -v systemctl >/dev/null || exit 26
echo "active $(systemctl show -p ActiveState --value "hostler-run-$1.service")"
echo "boot $(cat /proc/sys/kernel/random/boot_id) $(date +%s)"
[ ! -d started ] || echo "started $(cat started/boot) $(cat started/at)"
[ ! -e started/changed ] || echo changed
[ ! -e stopping ] || echo stopping
for f in ended "/run/hostler-runs/$1"; do
	[ ! -s "$f" ] || { echo "ended $(cat "$f")"; break; }
done
echo "size $(stat -c %s output 2>/dev/null || echo 0)"
echo
[ "$3" = 0 ] || [ ! -e output ] || tail -c "+$(($2 + 1))" output | head -c "$3"
`

// stop is the script that ends a run, or keeps it from starting. It does not wait for the end.
const stop = `set -u
cd "/var/lib/hostler/runs/$1" 2>/dev/null || exit 20
: >stopping
unit=hostler-run-$1.service
[ "$(systemctl show -p LoadState --value "$unit")" != loaded ] || systemctl stop --no-block "$unit" || exit 26
`

// remove is the script that takes a run's folder away.
const remove = `set -u
case $(systemctl show -p ActiveState --value "hostler-run-$1.service") in active | activating | deactivating) exit 25 ;; esac
rm -rf -- "/var/lib/hostler/runs/$1" "/run/hostler-runs/$1" || exit 27
`

// list is the script that names the runs that are there.
const list = `set -u
cd /var/lib/hostler/runs 2>/dev/null || exit 0
for d in *; do [ ! -d "$d" ] || echo "$d"; done
`
