package processtest

import "time"

// hanging is the time limit for anything that could hang. It says
// nothing about speed: machines under load need minutes.
const hanging = 3 * time.Minute
