package terminal

import (
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/client/output"
)

// EndError is what the end of a console comes to: nil for one that was meant to be.
func EndError(err error) error {
	var closed websocket.CloseError
	switch {
	case err == nil || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed):
		return nil
	case errors.As(err, &closed) && closed.Code == websocket.StatusNormalClosure:
		return nil
	case errors.As(err, &closed):
		return fmt.Errorf("%s (%d)", output.CleanLine(closed.Reason), closed.Code)
	}
	return errors.New("connection lost")
}
