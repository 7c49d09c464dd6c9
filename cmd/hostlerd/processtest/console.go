package processtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// console is the user's end of a console, over a real websocket. shown is the
// output that no call has looked at yet.
type console struct {
	*websocket.Conn
	shown []byte
}

// running adopts a running container of the host, and returns the ID of the app
// and the VMID of the container.
func (c *client) running(t testing.TB, host int64) (app, vmid int64) {
	t.Helper()
	var found []struct {
		VMID   int64
		Status string
	}
	c.must(t, http.StatusOK, http.MethodGet, "/api/v1/apps/discovered", nil, &found)
	for _, ct := range found {
		if ct.Status != "running" {
			continue
		}
		var apps []struct{ ID int64 }
		c.must(t, http.StatusOK, http.MethodPost, "/api/v1/apps/adopt", map[string]any{"items": []any{
			map[string]any{"host_id": host, "vmid": ct.VMID},
		}}, &apps)
		return apps[0].ID, ct.VMID
	}
	t.Fatal("no container runs")
	return 0, 0
}

// console opens the console of an app.
func (c *client) console(t testing.TB, app int64) *console {
	t.Helper()
	var ticket struct{ Ticket, Path string }
	c.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/apps/%d/console/tickets", app), nil, &ticket)
	conn, _, err := websocket.Dial(t.Context(), c.service.Base+ticket.Path+"?ticket="+ticket.Ticket, &websocket.DialOptions{
		HTTPClient: &http.Client{Jar: c.http.Jar, Transport: c.service.transport},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(1 << 20)
	return &console{Conn: conn}
}

// types sends a text as it is typed.
func (c *console) types(ctx context.Context, text string) error {
	return c.Write(ctx, websocket.MessageBinary, []byte(text))
}

// resizes tells the console its size.
func (c *console) resizes(ctx context.Context, columns, rows int) error {
	return c.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"resize":{"columns":%d,"rows":%d}}`, columns, rows))
}

// shows reads until the console has shown a text, and drops everything up to
// its end.
func (c *console) shows(ctx context.Context, text string) error {
	for {
		if i := strings.Index(string(c.shown), text); i >= 0 {
			c.shown = c.shown[i+len(text):]
			return nil
		}
		_, data, err := c.Read(ctx)
		if err != nil {
			return fmt.Errorf("it showed %q: %w", c.shown, err)
		}
		c.shown = append(c.shown, data...)
	}
}

// closed reads until the end and returns the close code and the reason. Both
// are empty for a broken connection.
func (c *console) closed(ctx context.Context) websocket.CloseError {
	for {
		if _, _, err := c.Read(ctx); err != nil {
			var closed websocket.CloseError
			_ = errors.As(err, &closed) // a broken connection has neither
			return closed
		}
	}
}
