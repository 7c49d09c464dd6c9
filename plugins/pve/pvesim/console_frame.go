package pvesim

import (
	"bufio"
	"crypto/sha1" //nolint:staticcheck // RFC 6455 section 4.2.2 wants it
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// maxFramePayload is the largest frame that the real server takes of a client, in bytes.
const maxFramePayload = 128 << 10

// Opcodes of RFC 6455 section 5.2.
const (
	frameText   = 1
	frameBinary = 2
	frameClose  = 8
	framePing   = 9
	framePong   = 10
)

// consoleSocket is the server's side of a WebSocket, as the real server speaks
// it: of clients it takes frames that are masked, whole and not packed, and
// what it sends are binary frames.
type consoleSocket struct {
	conn net.Conn
	in   *bufio.Reader
	mu   sync.Mutex // of writes
}

// checkUpgrade says what is wrong with a request that wants to become a
// WebSocket, and which sub-protocol it gets.
func checkUpgrade(r *http.Request) (protocol string, err error) {
	if version := r.Header.Get("Sec-WebSocket-Version"); version != "13" {
		return "", fmt.Errorf("unsupported websocket-version '%s'", version)
	}
	if r.Header.Get("Sec-WebSocket-Key") == "" {
		return "", errors.New("missing websocket-key")
	}
	if offered := r.Header.Get("Sec-WebSocket-Protocol"); offered != "" {
		all := strings.FieldsFunc(offered, func(r rune) bool { return r == ',' || r == ' ' })
		if !slices.Contains(all, "binary") {
			return "", fmt.Errorf("websocket protocol '%s' not supported", offered)
		}
		return "binary", nil
	}
	return "", nil
}

// upgrade answers the handshake.
func upgrade(conn net.Conn, rw *bufio.ReadWriter, key, protocol string) (*consoleSocket, error) {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	head := "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: " +
		base64.StdEncoding.EncodeToString(sum[:]) + "\r\n"
	if protocol != "" {
		head += "Sec-WebSocket-Protocol: " + protocol + "\r\n"
	}
	if _, err := io.WriteString(conn, head+"\r\n"); err != nil {
		return nil, err
	}
	return &consoleSocket{conn: conn, in: rw.Reader}, nil
}

// next gives the next data of the client, and answers what is no data. io.EOF
// is a farewell; every other error is one for which the real server drops the
// connection.
func (s *consoleSocket) next() ([]byte, error) {
	for {
		op, payload, err := s.frame()
		if err != nil {
			return nil, err
		}
		switch op {
		case frameText, frameBinary:
			return payload, nil
		case framePing:
			err = s.send(framePong, payload)
		case framePong:
		case frameClose:
			_ = s.send(frameClose, payload[:min(2, len(payload))])
			return nil, io.EOF
		default:
			return nil, fmt.Errorf("received unhandled websocket opcode %d", op)
		}
		if err != nil {
			return nil, err
		}
	}
}

// frame reads one frame of a WebSocket (RFC 6455 section 5.2). Like pveproxy it
// refuses fragmented frames, reserved bits and frames above its size limit, and
// requires that clients mask their frames.
func (s *consoleSocket) frame() (op int, payload []byte, err error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(s.in, head); err != nil {
		return 0, nil, err
	}
	switch {
	case head[0]&0x70 != 0:
		return 0, nil, errors.New("received websocket frame with RSV bits")
	case head[0]&0x80 == 0:
		return 0, nil, errors.New("received fragmented websocket frame")
	case head[1]&0x80 == 0:
		return 0, nil, errors.New("received unmasked websocket frame from client")
	}
	size := uint64(head[1] & 0x7f)
	if long := map[uint64]int{126: 2, 127: 8}[size]; long > 0 {
		length := make([]byte, 8)
		if _, err := io.ReadFull(s.in, length[8-long:]); err != nil {
			return 0, nil, err
		}
		size = binary.BigEndian.Uint64(length)
	}
	if size > maxFramePayload {
		return 0, nil, fmt.Errorf("received too large websocket frame (len = %d)", size)
	}
	mask := make([]byte, 4)
	if _, err := io.ReadFull(s.in, mask); err != nil {
		return 0, nil, err
	}
	payload = make([]byte, size)
	if _, err := io.ReadFull(s.in, payload); err != nil {
		return 0, nil, err
	}
	for i := range payload {
		payload[i] ^= mask[i%4]
	}
	return int(head[0] & 0x0f), payload, nil
}

// send writes one frame.
func (s *consoleSocket) send(op byte, payload []byte) error {
	head := []byte{0x80 | op}
	switch n := len(payload); {
	case n < 126:
		head = append(head, byte(n))
	case n < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, 126), uint16(n))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 127), uint64(n))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.conn.Write(append(head, payload...))
	return err
}
