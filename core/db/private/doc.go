// Package private runs a PostgreSQL cluster of the service's own: the embedded default when no database URL is given.
//
// The actors are the service (root or an ordinary user), the system user that PostgreSQL runs as (the same user, or
// "postgres" when the service is root, because PostgreSQL refuses to run as root), and one folder:
//
//	<Dir>/                  the service's, 0711 when another user must pass through it, else 0700
//	<Dir>/hostler.lock      held by flock(2) while a service uses the folder; the kernel frees it when the service dies
//	<Dir>/postgresql.log    what PostgreSQL says, size-bounded, forwarded to the service's logger
//	<Dir>/run/              the socket; PostgreSQL's user, 0700
//	<Dir>/data/             the data directory; PostgreSQL's user, 0700
//	<Dir>/data/hostler.json the marker: this cluster was made here, with this system identifier
//
// There is no TCP port. Only PostgreSQL's user and root reach the socket folder, and PostgreSQL then asks the kernel who is
// calling (peer authentication) and lets in only the service's user, so that there is no password to keep or to leak.
// Folders above Dir need not be passable by PostgreSQL's user: where they are not, it is handed the open data directory.
//
// A killed service leaves its PostgreSQL running. The next start proves that the process is its own (marker, system
// identifier, and the process id and user that the kernel reports for the socket in our folder) and takes it over.
// A folder without our marker is refused, and no process that was not proven to be ours is ever signalled.
package private
