package processtest

import "testing"

// What must hold over two instances as over one; the scenarios share the pair.
func TestPair(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	t.Run("rights end", func(t *testing.T) { rightsEnd(t, p) })
	t.Run("a revoked key", func(t *testing.T) { revokedKeyEndsExport(t, p) })
	t.Run("a code is used once", func(t *testing.T) { codeIsUsedOnce(t, p) })
	t.Run("the last owner stays", func(t *testing.T) { lastOwnerStays(t, p) })
}
