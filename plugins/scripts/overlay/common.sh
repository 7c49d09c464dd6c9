# shellcheck shell=sh
# Functions of the programs of the overlay, which come first in PATH while a bundle runs, on the node and in the container.

# here is the folder of the programs, bundle the folder of the whole bundle.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P) || exit 2
bundle=$(dirname -- "$here")

# tell records a question or a refused request of a script, which the service reads later.
tell() {
	run=${HOSTLER_RUN:-/var/lib/hostler/run}
	mkdir -p -- "$run" 2>/dev/null
	printf '%s\n' "$*" >>"$run/asked" 2>/dev/null
	printf 'hostler: %s\n' "$*" >&2
}

# real prints the path of the program that an overlay replaces.
real() {
	rest=$PATH:
	while [ -n "$rest" ]; do
		folder=${rest%%:*}
		rest=${rest#*:}
		if [ -n "$folder" ] && [ "$folder" != "$here" ] && [ -x "$folder/$1" ] && [ ! -d "$folder/$1" ]; then
			printf '%s\n' "$folder/$1"
			return 0
		fi
	done
	return 1
}

# listed reports whether a text contains an entry of a list of the overlay.
listed() {
	text=$(printf '%s' "$1" | tr '[:upper:]' '[:lower:]')
	while IFS= read -r known; do
		case $text in
		*"$known"*) return 0 ;;
		esac
	done <"$bundle/overlay-data/$2"
	return 1
}

# fetch runs the real program unless one of its arguments, or a file of addresses, contains a host of scripts. $1 is the name of the
# program, $2 the exit status for a refused address.
fetch() {
	program=$1 status=$2
	shift 2
	from=''
	for argument in "$@"; do
		case $from in
		config) check_file "$program" "$status" "$argument" ;;
		esac
		from=''
		case $program:$argument in
		curl:-K | curl:--config | wget:-i | wget:--input-file) from=config ;;
		curl:--config=* | wget:--input-file=*) check_file "$program" "$status" "${argument#*=}" ;;
		curl:-K?* | wget:-i?*) check_file "$program" "$status" "${argument#-?}" ;;
		esac
		check_address "$program" "$status" "$argument"
	done
	path=$(real "$program") || {
		printf 'hostler: %s not found\n' "$program" >&2
		exit 127
	}
	exec "$path" "$@"
}

check_address() {
	if listed "$3" silent-hosts; then
		exit "$2"
	fi
	if listed "$3" script-hosts; then
		tell "$1 tried to download code that the pin does not cover: $3"
		exit "$2"
	fi
}

check_file() {
	if [ "$3" = - ]; then
		tell "$1 tried to read addresses from standard input"
		exit "$2"
	fi
	[ -r "$3" ] || return 0
	while IFS= read -r address || [ -n "$address" ]; do
		check_address "$1" "$2" "$address"
	done <"$3"
}
