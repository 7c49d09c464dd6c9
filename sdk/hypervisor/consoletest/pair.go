package consoletest

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// Pair gives two connected sockets. Other than those of net.Pipe they hold what
// is written until it is read, some hundred KiB, as the way to a console does.
// The caller closes both.
func Pair() (near, far net.Conn, err error) {
	syscall.ForkLock.RLock() // no program that is started meanwhile gets them
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("creating a pair of sockets: %w", err)
	}
	var ends [2]net.Conn
	for i, fd := range fds {
		file := os.NewFile(uintptr(fd), "console")
		conn, failed := net.FileConn(file)
		_ = file.Close() // the connection has a descriptor of its own
		ends[i] = conn
		if failed != nil {
			err = fmt.Errorf("creating a pair of sockets: %w", failed)
		}
	}
	if err != nil {
		for _, conn := range ends {
			if conn != nil {
				_ = conn.Close()
			}
		}
		return nil, nil, err
	}
	return ends[0], ends[1], nil
}
