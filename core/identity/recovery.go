package identity

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"

	"github.com/hostler/hostler/core/db"
)

// A second factor comes with recoveryCodes codes for the loss of the device.
// Each has recoveryBytes random bytes and works once.
const (
	recoveryCodes = 10
	recoveryBytes = 10
)

// codeText is the alphabet of recovery codes. Base32 has no characters that
// look alike in print.
var codeText = base32.StdEncoding.WithPadding(base32.NoPadding)

// newRecoveryCodes returns codes such as ABCD-EFGH-IJKL-MNOP.
func newRecoveryCodes() []string {
	codes := make([]string, recoveryCodes)
	for i := range codes {
		text := codeText.EncodeToString(randomBytes(recoveryBytes))
		codes[i] = text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:]
	}
	return codes
}

// plainCode removes the blanks and hyphens from a typed code.
var plainCode = strings.NewReplacer(" ", "", "-", "", "\t", "", "\u00a0", "").Replace

// recoveryHash returns the stored form of a recovery code, for any case and
// grouping; nil for a text without the form of a code. A code has 80 random
// bits, for which a plain SHA-256 is enough; a slow hash is for passwords that
// people choose.
func recoveryHash(code string) []byte {
	raw, err := codeText.DecodeString(strings.ToUpper(plainCode(code)))
	if err != nil || len(raw) != recoveryBytes {
		return nil
	}
	sum := sha256.Sum256(raw)
	return sum[:]
}

// replaceRecovery stores these codes in place of all earlier ones.
func replaceRecovery(ctx context.Context, tx *db.Tx, userID int64, codes []string) error {
	if _, err := tx.Pgx.Exec(ctx, "DELETE FROM recovery_codes WHERE user_id = $1", userID); err != nil {
		return fmt.Errorf("deleting recovery codes: %w", err)
	}
	hashes := make([][]byte, len(codes))
	for i, code := range codes {
		hashes[i] = recoveryHash(code)
	}
	_, err := tx.Pgx.Exec(ctx, "INSERT INTO recovery_codes (user_id, code_hash) SELECT $1, unnest($2::bytea[])", userID, hashes)
	if err != nil {
		return fmt.Errorf("storing recovery codes: %w", err)
	}
	return nil
}

// useRecovery deletes a code and returns the number of those left; -1 if the
// code is not the user's.
func useRecovery(ctx context.Context, tx *db.Tx, userID int64, hash []byte) (left int, err error) {
	used, err := tx.Pgx.Exec(ctx, "DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2", userID, hash)
	if err != nil {
		return 0, fmt.Errorf("using a recovery code: %w", err)
	}
	if used.RowsAffected() == 0 {
		return -1, nil
	}
	if err := tx.Pgx.QueryRow(ctx, "SELECT count(*) FROM recovery_codes WHERE user_id = $1", userID).Scan(&left); err != nil {
		return 0, fmt.Errorf("counting recovery codes: %w", err)
	}
	return left, nil
}

// RecoveryCodesLeft returns how many recovery codes the user has left.
func (s *Store) RecoveryCodesLeft(ctx context.Context, userID int64) (left int, err error) {
	if err := s.db.Pool.QueryRow(ctx, "SELECT count(*) FROM recovery_codes WHERE user_id = $1", userID).Scan(&left); err != nil {
		return 0, db.Problem(fmt.Errorf("counting recovery codes: %w", err))
	}
	return left, nil
}
