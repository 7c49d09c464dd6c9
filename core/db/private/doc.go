// Package private runs a PostgreSQL cluster for the service alone. It is the
// default when no database URL is configured.
//
// The service runs as root or as an ordinary user. PostgreSQL runs as the same
// user, or as "postgres" if the service is root, because PostgreSQL refuses to
// run as root. Everything is in one folder:
//
//	<Dir>/                  the service's, 0711 if another user must pass
//	                        through it, otherwise 0700
//	<Dir>/hostler.lock      held by flock(2) while a service uses the
//	                        folder; the kernel frees it when the service
//	                        dies
//	<Dir>/postgresql.log    the messages of PostgreSQL; bounded in size,
//	                        forwarded to the service's logger
//	<Dir>/run/              the socket; PostgreSQL's user, 0700
//	<Dir>/data/             the data directory; PostgreSQL's user, 0700
//	<Dir>/data/hostler.json the marker: this service created the cluster,
//	                        with this system identifier
//
// There is no TCP port. Only PostgreSQL's user and root can enter the folder of
// the socket. PostgreSQL then asks the kernel who connects (peer
// authentication) and accepts only the service's user, so there is no password
// to store or to leak. PostgreSQL's user need not be able to enter the folders
// above Dir; if it cannot, it inherits the open data directory.
//
// A killed service leaves its PostgreSQL running. The next start takes the
// process over if it proves to be its own: by the marker, the system
// identifier, and the process ID and user that the kernel reports for the
// socket in the folder. A folder without the marker is refused, and a process
// that was not proven to be ours never gets a signal.
//
// Start and Stop frame the life of a cluster; Attach connects to one that
// another process runs.
package private
