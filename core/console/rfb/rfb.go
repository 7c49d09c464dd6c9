// Package rfb does the beginning of the remote framebuffer protocol (RFC 6143, section 7.1): the versions and the security of a client
// or of a server, up to where the client says whether it shares the screen. From there on bytes only have to be passed on, in the same
// form for all versions.
package rfb

import (
	"crypto/des" // RFC 6143, 7.2.2, has no other cipher; the connection around it is what keeps others out
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// The security types that are known here (RFC 6143, 7.2).
const (
	securityInvalid = 0
	securityNone    = 1
	securityVNC     = 2
)

// challengeSize is the length of a server's challenge, in bytes.
const challengeSize = 16

// maxReason bounds a reason that the other side gives, in bytes.
const maxReason = 4096

// ErrPassword is the end of a client that does not know the password.
var ErrPassword = errors.New("the password is wrong")

// ProtocolError is the error of another side that does not keep to the protocol.
type ProtocolError struct {
	// What says what the other side did.
	What string
}

func (e *ProtocolError) Error() string {
	return "the other side does not follow the RFB protocol: " + e.What
}

// version is a version of the protocol: 3, 7 or 8, those after the point.
type version int

const versionText = "RFB 003.%03d\n"

// readVersion reads the other side's version. Unknown ones are the highest known one below (RFC 6143, 7.1.1).
func readVersion(r io.Reader) (version, error) {
	var text [12]byte
	if _, err := io.ReadFull(r, text[:]); err != nil {
		return 0, fmt.Errorf("reading the version of RFB: %w", err)
	}
	var major, minor int
	if n, err := fmt.Sscanf(string(text[:]), "RFB %03d.%03d\n", &major, &minor); n != 2 || err != nil {
		return 0, &ProtocolError{"it sent no RFB version"}
	}
	switch {
	case major < 3 || major == 3 && minor < 3:
		return 0, &ProtocolError{fmt.Sprintf("its version is %d.%d, which is older than 3.3", major, minor)}
	case major > 3 || minor >= 8:
		return 8, nil
	case minor == 7:
		return 7, nil
	}
	return 3, nil
}

// Authenticate is the client's part towards a server that asks for the password or for none. Its errors never hold the password.
func Authenticate(server io.ReadWriter, password string) error {
	v, err := readVersion(server)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(server, versionText, v); err != nil {
		return fmt.Errorf("sending the version of RFB: %w", err)
	}
	security, err := choose(server, v)
	if err != nil {
		return err
	}
	switch {
	case security == securityVNC:
		var challenge [challengeSize]byte
		if _, err := io.ReadFull(server, challenge[:]); err != nil {
			return fmt.Errorf("reading the challenge: %w", err)
		}
		if _, err := server.Write(respond(challenge, password)); err != nil {
			return fmt.Errorf("answering the challenge: %w", err)
		}
	case v < 8: // no result is told without authentication
		return nil
	}
	var result uint32
	if err := binary.Read(server, binary.BigEndian, &result); err != nil {
		return fmt.Errorf("reading the result of the RFB log-in: %w", err)
	}
	if result == 0 {
		return nil
	}
	if v < 8 {
		return errors.New("the server rejected the password")
	}
	return fmt.Errorf("the server rejected the log-in: %s", reason(server))
}

// choose agrees with the server on a security type.
func choose(server io.ReadWriter, v version) (byte, error) {
	if v == 3 {
		var offered uint32
		if err := binary.Read(server, binary.BigEndian, &offered); err != nil {
			return 0, fmt.Errorf("reading the RFB security type: %w", err)
		}
		switch offered {
		case securityInvalid:
			return 0, fmt.Errorf("the server refused the connection: %s", reason(server))
		case securityNone, securityVNC:
			return byte(offered), nil
		}
		return 0, fmt.Errorf("the server offers an unsupported RFB security type: %d", offered)
	}
	var count [1]byte
	if _, err := io.ReadFull(server, count[:]); err != nil {
		return 0, fmt.Errorf("reading the RFB security types: %w", err)
	}
	if count[0] == 0 {
		return 0, fmt.Errorf("the server refused the connection: %s", reason(server))
	}
	offered := make([]byte, count[0])
	if _, err := io.ReadFull(server, offered); err != nil {
		return 0, fmt.Errorf("reading the RFB security types: %w", err)
	}
	chosen := byte(securityInvalid)
	for _, o := range offered {
		if o == securityVNC || o == securityNone && chosen == securityInvalid {
			chosen = o
		}
	}
	if chosen == securityInvalid {
		return 0, fmt.Errorf("the server offers no supported RFB security type: %d", offered)
	}
	if _, err := server.Write([]byte{chosen}); err != nil {
		return 0, fmt.Errorf("choosing the RFB security type: %w", err)
	}
	return chosen, nil
}

// reason reads why the other side ends; empty where it does not say.
func reason(r io.Reader) string {
	var size uint32
	if binary.Read(r, binary.BigEndian, &size) != nil {
		return ""
	}
	text := make([]byte, min(size, maxReason))
	n, _ := io.ReadFull(r, text) // what there is of it
	return string(text[:n])
}

// Admit is the server's part towards a client, which has to know the password. ErrPassword: it does not, and has been told.
func Admit(client io.ReadWriter, password string) error {
	if _, err := fmt.Fprintf(client, versionText, 8); err != nil {
		return fmt.Errorf("sending the version of RFB: %w", err)
	}
	v, err := readVersion(client)
	if err != nil {
		return err
	}
	if err := offer(client, v); err != nil {
		return err
	}
	var challenge [challengeSize]byte
	_, _ = rand.Read(challenge[:]) // never fails
	if _, err := client.Write(challenge[:]); err != nil {
		return fmt.Errorf("sending the challenge: %w", err)
	}
	var response [challengeSize]byte
	if _, err := io.ReadFull(client, response[:]); err != nil {
		return fmt.Errorf("reading the answer to the challenge: %w", err)
	}
	if subtle.ConstantTimeCompare(response[:], respond(challenge, password)) == 1 {
		if _, err := client.Write([]byte{0, 0, 0, 0}); err != nil {
			return fmt.Errorf("sending the result of the log-in: %w", err)
		}
		return nil
	}
	refusal := []byte{0, 0, 0, 1}
	if v == 8 {
		refusal = binary.BigEndian.AppendUint32(refusal, uint32(len(ErrPassword.Error())))
		refusal = append(refusal, ErrPassword.Error()...)
	}
	_, _ = client.Write(refusal) // it may be gone
	return ErrPassword
}

// offer tells the client that it is asked for a password.
func offer(client io.ReadWriter, v version) error {
	if v == 3 {
		if _, err := client.Write([]byte{0, 0, 0, securityVNC}); err != nil {
			return fmt.Errorf("sending the RFB security types: %w", err)
		}
		return nil
	}
	if _, err := client.Write([]byte{1, securityVNC}); err != nil {
		return fmt.Errorf("sending the RFB security types: %w", err)
	}
	var chosen [1]byte
	if _, err := io.ReadFull(client, chosen[:]); err != nil {
		return fmt.Errorf("reading the security type that the client chose: %w", err)
	}
	if chosen[0] != securityVNC {
		return &ProtocolError{fmt.Sprintf("it chose the security type %d, which was not offered", chosen[0])}
	}
	return nil
}

// respond encrypts the challenge with the first eight characters of the password, whose bits are mirrored in each byte (RFC 6143, 7.2.2).
func respond(challenge [challengeSize]byte, password string) []byte {
	var key [des.BlockSize]byte
	copy(key[:], password)
	for i := range key {
		key[i] = bits.Reverse8(key[i])
	}
	cipher, err := des.NewCipher(key[:])
	if err != nil {
		panic(err) // the key has the right length
	}
	out := make([]byte, challengeSize)
	for i := 0; i < challengeSize; i += des.BlockSize {
		cipher.Encrypt(out[i:], challenge[i:])
	}
	return out
}
