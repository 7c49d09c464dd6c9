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
