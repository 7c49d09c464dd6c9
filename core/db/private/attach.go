package private

import "fmt"

// Attach returns the connection string of the cluster in dir that another
// process of the same system user runs. Commands beside the service use it. It
// starts nothing, takes no lock and does not wait. The error is ErrAccess if
// the cluster does not answer, and ErrForeign if another process answers.
func Attach(dir string) (string, error) {
	config := Config{Dir: dir}
	if err := config.normalise(); err != nil {
		return "", err
	}
	account, err := FindAccount("")
	if err != nil {
		return "", err
	}
	c := &Cluster{config: config, account: account, folder: &folder{dir: config.Dir, account: account}}
	if c.data, err = c.folder.open(); err != nil {
		return "", err
	}
	defer c.data.Close()
	if c.marker, err = readMarker(c.data); err != nil {
		return "", err
	}
	if err := checkOwn(c.folder.path(runName), account.UID, 0o077); err != nil {
		return "", err
	}
	file, err := readPidFile(c.data)
	if err != nil {
		return "", err
	}
	if file == nil || file.status != "ready" {
		return "", fmt.Errorf("%w: the PostgreSQL in %s is not ready: try again in a moment", ErrAccess, config.Dir)
	}
	if c.alias, err = shorten(c.folder.path(runName)); err != nil {
		return "", err
	}
	pid, err := c.listener()
	if err != nil {
		return "", fmt.Errorf("%w: the PostgreSQL in %s does not answer: try again in a moment (%v)", ErrAccess, config.Dir, err)
	}
	if pid != file.pid {
		return "", fmt.Errorf("%w: process %d answers on the socket, but PostgreSQL is process %d", ErrForeign, pid, file.pid)
	}
	return c.URL(), nil
}
