-- +goose Up
-- Clusters of two teams that are one cluster of the hypervisor: they have the same lasting identity, or the same name and a node of the same
-- name with the same certificate and no other address.
CREATE VIEW cluster_twins AS
    SELECT a.id AS cluster_id, b.id AS twin_id FROM clusters a JOIN clusters b ON b.team_id <> a.team_id
    WHERE a.ident <> '' AND a.ident = b.ident
        OR a.name = b.name AND EXISTS (SELECT FROM nodes x JOIN nodes y ON y.name = x.name AND y.fingerprint = x.fingerprint
            AND (x.address = '' OR y.address = '' OR x.address = y.address)
            WHERE x.cluster_id = a.id AND y.cluster_id = b.id AND x.fingerprint <> '');

-- The keys of jobs.exclusive that are about the same thing in clusters that are the same, by another team.
-- +goose StatementBegin
CREATE FUNCTION exclusive_twins(exclusive text) RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT k.word || y.id FROM (SELECT substring(exclusive FROM '^((?:firewall:)?guest:)[0-9]{1,18}$') AS word,
        substring(exclusive FROM '^(?:firewall:)?guest:([0-9]{1,18})$')::bigint AS id) k
    JOIN guests x ON x.id = k.id JOIN cluster_twins t ON t.cluster_id = x.cluster_id
    JOIN guests y ON y.cluster_id = t.twin_id AND y.identity = x.identity
    UNION ALL
    SELECT k.word || t.twin_id || k.rest FROM (SELECT substring(exclusive FROM '^((?:id|storage|volume|node|firewall):)[0-9]{1,18}:') AS word,
        substring(exclusive FROM '^(?:id|storage|volume|node|firewall):([0-9]{1,18}):')::bigint AS id,
        substring(exclusive FROM '^[a-z]+:[0-9]{1,18}(:.*)$') AS rest) k
    JOIN cluster_twins t ON t.cluster_id = k.id
$$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION exclusive_twins(text);
DROP VIEW cluster_twins;
