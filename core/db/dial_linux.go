package db

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// limitSilence bounds how long sent data may go without an acknowledgement (tcp(7), TCP_USER_TIMEOUT). Keep-alive alone
// does nothing while such data is under way.
func limitSilence(network, _ string, conn syscall.RawConn) error {
	if network == "unix" {
		return nil
	}
	var failed error
	err := conn.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silenceLimit.Milliseconds()))
	})
	if err != nil {
		return err
	}
	return failed
}
