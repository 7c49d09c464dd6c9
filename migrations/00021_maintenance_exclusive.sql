-- +goose Up
-- What an unfinished maintenance job holds is named like the package that does it; a job of the release before still holds it.
UPDATE jobs SET exclusive = 'maintenance:' || substr(exclusive, length('upkeep:') + 1) WHERE exclusive LIKE 'upkeep:%';

-- +goose Down
UPDATE jobs SET exclusive = 'upkeep:' || substr(exclusive, length('maintenance:') + 1) WHERE exclusive LIKE 'maintenance:%';
