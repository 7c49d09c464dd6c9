package secret

import "time"

// Reaching gives the rotation a function that is told of every step and may fail there.
func (rot Rotation) Reaching(reached func(step string) error) Rotation {
	rot.reached = reached
	return rot
}

// Keeping sets how long a retired key is kept.
func (rot Rotation) Keeping(grace time.Duration) Rotation {
	rot.grace = grace
	return rot
}

// Forget makes the last look of a Box one of so long ago.
func (b *Box) Forget(ago time.Duration) {
	b.watchState.mu.Lock()
	defer b.watchState.mu.Unlock()
	b.watchState.confirmed = time.Now().Add(-ago)
}
