package pve

// undo is the script that keeps a copy of a node's network configuration and
// restores it: hypervisor.NodeNetwork.Undo. The staged configuration is
// /etc/network/interfaces.new, which an apply renames (pve-manager,
// PVE::API2::Network). So the bytes of the file show whether it is still the
// staged one; a file that somebody has written since is not touched.
const undo = `set -u; LC_ALL=C; export LC_ALL
f=/etc/network/interfaces
sum() { set -- $(sha256sum <"$1") && echo "$1"; }
case ${1-} in
keep)
	cp -p -- "$f" kept && sum "$f.new" >staged && [ -s staged ] && sync -f kept
	;;
back)
	now=$(sum "$f")
	if [ "$now" = "$(sum kept)" ]; then
		echo "$f is unchanged: nothing to restore"
		exit 0
	fi
	if [ "$now" != "$(cat staged)" ]; then
		echo "$f was changed by someone else in the meantime and is left unchanged"
		exit 4
	fi
	echo "restoring $f"
	cp -p -- kept "$f.hostler" && sync -f "$f.hostler" && mv -fT -- "$f.hostler" "$f" && ifreload -a
	;;
*) exit 2 ;;
esac
`
