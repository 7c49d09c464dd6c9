package processtest

import "time"

// hanging is how long anything may take at most. It bounds what hangs and says nothing of speed.
const hanging = 3 * time.Minute
