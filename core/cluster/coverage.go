package cluster

// Coverage counts guests by the state of their backups, as GET
// /backups/coverage lists them.
type Coverage struct {
	Covered int64 `json:"covered" example:"38" doc:"Guests with a complete backup that is not too old"`
	Partial int64 `json:"partial" example:"1" doc:"Guests whose newest backup does not contain all volumes"`
	Stale   int64 `json:"stale" example:"2" doc:"Guests without a backup, or whose newest backup is too old"`
	Unknown int64 `json:"unknown" example:"0" doc:"Guests whose backups have not been listed yet"`
	Exempt  int64 `json:"exempt" example:"4" doc:"Guests that need no backup, such as templates"`
}

// covering is the kind of the rows of guestsByCoverage. Their severity is the
// state and their n the number of guests.
const covering = "coverage"

// guestsByCoverage is read together with the problems, because judging the
// backups of all guests is the expensive part of both.
const guestsByCoverage = `SELECT '` + covering + `', state, '', NULL, '', NULL, NULL, NULL, NULL, NULL, '', '', count(*)
	FROM judged GROUP BY state`

// count sets the number of guests in a state.
func (c *Coverage) count(state string, n int64) {
	switch state {
	case "covered":
		c.Covered = n
	case "partial":
		c.Partial = n
	case "stale":
		c.Stale = n
	case "unknown":
		c.Unknown = n
	case "exempt":
		c.Exempt = n
	}
}
