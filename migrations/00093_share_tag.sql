-- +goose Up
-- Whether two lists have a tag in common. Hypervisors store tags in small letters, whatever was typed.
CREATE FUNCTION share_tag(text[], text[]) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS 'SELECT EXISTS (SELECT FROM unnest($1) a JOIN unnest($2) b ON lower(a) = lower(b))';

-- +goose Down
DROP FUNCTION share_tag;
