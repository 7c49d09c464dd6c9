package audit

// Turn is one turn of Run.
var Turn = (*SpanTracker).turn
