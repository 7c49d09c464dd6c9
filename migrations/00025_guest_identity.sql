-- +goose Up
-- A guest is known by the hypervisor's own strings: ref is its id there and uid its lasting identity, null where there is none.
-- vmid is the id where that is a number. identity says whose row it is: with a uid that alone, so that a renamed guest keeps its
-- row, and two rows may have one ref while the older of them is in doubt.
ALTER TABLE guests ADD COLUMN ref text, ADD COLUMN uid text, ALTER COLUMN vmid DROP NOT NULL;
UPDATE guests SET ref = vmid::text;
ALTER TABLE guests ALTER COLUMN ref SET NOT NULL,
    DROP CONSTRAINT guests_cluster_id_vmid_kind_key,
    ADD COLUMN identity text COLLATE "C" NOT NULL GENERATED ALWAYS AS (COALESCE('uid:' || uid, kind || ':' || ref)) STORED;
ALTER TABLE guests ADD UNIQUE (cluster_id, identity);
CREATE INDEX guests_ref ON guests (cluster_id, ref);
-- The order of lists.
CREATE INDEX guests_number ON guests (cluster_id, vmid, ref, kind);

-- An app belongs to a row of guests, and keeps by what its container is known again when that is away for a while.
ALTER TABLE apps ADD COLUMN guest_id bigint UNIQUE REFERENCES guests ON DELETE SET NULL,
    ADD COLUMN guest_ref text, ADD COLUMN guest_uid text, ALTER COLUMN vmid DROP NOT NULL;
UPDATE apps a SET guest_ref = a.vmid::text, guest_id = (SELECT g.id FROM guests g
    WHERE g.cluster_id = a.cluster_id AND g.vmid = a.vmid AND g.kind = 'container');
ALTER TABLE apps ALTER COLUMN guest_ref SET NOT NULL,
    DROP CONSTRAINT apps_cluster_id_vmid_key,
    ADD COLUMN identity text COLLATE "C" NOT NULL GENERATED ALWAYS AS (COALESCE('uid:' || guest_uid, 'container:' || guest_ref)) STORED;
ALTER TABLE apps ADD UNIQUE (cluster_id, identity);

-- Jobs that were asked for before are done after.
UPDATE jobs SET params = (params - 'vmid') || jsonb_build_object('ref', params ->> 'vmid')
    WHERE status IN ('queued', 'running') AND params ? 'guest_id' AND params ? 'vmid';

-- +goose Down
UPDATE jobs SET params = (params - 'ref' - 'uid') || jsonb_build_object('vmid', (params ->> 'ref')::bigint)
    WHERE status IN ('queued', 'running') AND params ? 'guest_id' AND params ->> 'ref' ~ '^[0-9]{1,18}$';

-- What has no number, or shares one, has no place in the tables of before. The newer of two guests is the one that is there.
ALTER TABLE apps DROP COLUMN identity;
DELETE FROM apps a WHERE a.vmid IS NULL OR EXISTS (SELECT FROM apps o WHERE o.cluster_id = a.cluster_id AND o.vmid = a.vmid
    AND (o.guest_id IS NULL, -o.id) < (a.guest_id IS NULL, -a.id));
ALTER TABLE apps DROP COLUMN guest_id, DROP COLUMN guest_ref, DROP COLUMN guest_uid, ALTER COLUMN vmid SET NOT NULL;
ALTER TABLE apps ADD UNIQUE (cluster_id, vmid);

ALTER TABLE guests DROP COLUMN identity;
DELETE FROM guests g WHERE g.vmid IS NULL OR EXISTS (SELECT FROM guests o WHERE o.cluster_id = g.cluster_id AND o.vmid = g.vmid
    AND o.kind = g.kind AND o.id > g.id);
DROP INDEX guests_ref, guests_number;
ALTER TABLE guests DROP COLUMN ref, DROP COLUMN uid, ALTER COLUMN vmid SET NOT NULL;
ALTER TABLE guests ADD UNIQUE (cluster_id, vmid, kind);
