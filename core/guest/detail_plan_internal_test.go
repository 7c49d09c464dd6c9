package guest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
)

// Choosing a cluster's next guest does not read the details of the guests of all others: it is done for each reading.
func TestPlanOfTheNextReading(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	var clusters []inventorytest.Cluster
	for i := range 50 {
		clusters = append(clusters, inventorytest.Cluster{Name: fmt.Sprintf("c%d", i), Hosts: []inventorytest.Host{{Name: fmt.Sprintf("h%d",
			i)}}})
	}
	inventorytest.Write(t, d, clusters...)
	dbtest.Exec(t, d, "UPDATE hosts SET status = 'online'")
	dbtest.Exec(t, d, `INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, node, name, status)
		SELECT h.cluster_id, h.id, 'vm', 100 + n, 100 + n, 'n1', 'guest', 'running' FROM generate_series(1, 400) n, hosts h`)
	dbtest.Exec(t, d, `INSERT INTO guest_details (guest_id, as_of, ident) SELECT id, now() - id * interval '1 minute', '' FROM guests`)
	dbtest.Exec(t, d, "ANALYZE")
	rows, err := d.Pool.Query(t.Context(), "EXPLAIN "+pickNext, []int64{1, 2}, nil, detailAge, detailRetry, []int64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	plan := strings.Join(lines, "\n")
	if !strings.Contains(plan, "Index Scan using guest_details_pkey") || strings.Contains(plan, "Seq Scan on guest_details") {
		t.Errorf("it reads all details:\n%s", plan)
	}
}
