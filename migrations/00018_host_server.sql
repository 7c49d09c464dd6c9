-- +goose Up
-- Which server answers at the host's address, so that one server is not enrolled as two hosts: the certificate that was
-- last verified, and the cluster and the entry node's own address as the server tells them. Null: not known yet.
ALTER TABLE hosts ADD COLUMN server_fingerprint text, ADD COLUMN server_cluster text, ADD COLUMN server_address text;
UPDATE hosts h SET server_fingerprint = h.tls_fingerprint, server_cluster = c.name,
    server_address = (SELECT NULLIF(n.address, '') FROM nodes n WHERE n.cluster_id = c.id AND n.name = h.entry_node)
    FROM clusters c WHERE c.id = h.cluster_id;
CREATE INDEX hosts_entry_node ON hosts (entry_node);

-- +goose Down
DROP INDEX hosts_entry_node;
ALTER TABLE hosts DROP COLUMN server_fingerprint, DROP COLUMN server_cluster, DROP COLUMN server_address;
