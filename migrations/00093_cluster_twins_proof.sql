-- +goose Up
-- Clusters of two teams that are one cluster of the hypervisor. What a hypervisor says of itself proves nothing, since anybody could say it
-- of a made-up cluster and keep another team's jobs waiting. A certificate that a host showed when it was enrolled does: only its owner
-- has the key. So both sides must know the other one's: either each cluster lists the node of the other's host with the certificate that
-- the host showed, or both hosts showed the same one and the clusters have the same lasting identity.
CREATE VIEW cluster_certificates AS
    SELECT c.id AS cluster_id, c.team_id, c.ident, h.entry_node AS node, COALESCE(h.tls_fingerprint, h.server_fingerprint) AS fingerprint
    FROM clusters c JOIN hosts h ON h.cluster_id = c.id WHERE COALESCE(h.tls_fingerprint, h.server_fingerprint, '') <> '';

CREATE OR REPLACE VIEW cluster_twins AS
    SELECT DISTINCT x.cluster_id, y.cluster_id AS twin_id FROM cluster_certificates x JOIN cluster_certificates y ON y.team_id <> x.team_id
    WHERE EXISTS (SELECT FROM nodes n WHERE n.cluster_id = x.cluster_id AND n.name = y.node AND n.fingerprint = y.fingerprint)
        AND EXISTS (SELECT FROM nodes n WHERE n.cluster_id = y.cluster_id AND n.name = x.node AND n.fingerprint = x.fingerprint)
        OR x.fingerprint = y.fingerprint AND x.ident = y.ident AND x.ident <> '';

-- +goose Down
CREATE OR REPLACE VIEW cluster_twins AS
    SELECT a.id AS cluster_id, b.id AS twin_id FROM clusters a JOIN clusters b ON b.team_id <> a.team_id
    WHERE a.ident <> '' AND a.ident = b.ident
        OR a.name = b.name AND EXISTS (SELECT FROM nodes x JOIN nodes y ON y.name = x.name AND y.fingerprint = x.fingerprint
            AND (x.address = '' OR y.address = '' OR x.address = y.address)
            WHERE x.cluster_id = a.id AND y.cluster_id = b.id AND x.fingerprint <> '');
DROP VIEW cluster_certificates;
