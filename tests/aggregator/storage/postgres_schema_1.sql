-- What the first version of the tables in a PostgreSQL left: they, and a row of each that the next one changes.
CREATE TABLE piecemeal_schema (one bigint PRIMARY KEY, version bigint NOT NULL);
INSERT INTO piecemeal_schema VALUES (1, 1);
CREATE TABLE games (game text COLLATE "C", slot bigint, uploads bigint NOT NULL, origin bytea NOT NULL, PRIMARY KEY
  (game, slot));
CREATE TABLE origins (game text COLLATE "C", origin bytea, PRIMARY KEY (game, origin));
CREATE TABLE scenes (game text COLLATE "C", scene text COLLATE "C", slot bigint, uploads bigint NOT NULL, day bigint
  NOT NULL, PRIMARY KEY (game, scene, slot));
CREATE TABLE upload_ids (game text COLLATE "C", id bytea, day bigint NOT NULL, PRIMARY KEY (game, id));
CREATE INDEX upload_ids_by_day ON upload_ids (game, day);
CREATE TABLE epochs (one bigint PRIMARY KEY, day bigint NOT NULL, key bytea NOT NULL);
CREATE TABLE caps (mark bytea, day bigint, n bigint NOT NULL, PRIMARY KEY (mark, day));
CREATE INDEX caps_by_day ON caps (day);
CREATE TABLE samples (game text COLLATE "C", part bigint, row bigint GENERATED ALWAYS AS IDENTITY, day bigint NOT
  NULL, size bigint NOT NULL, hash bigint NOT NULL, d bytea NOT NULL, PRIMARY KEY (game, part, row));
ALTER TABLE samples ALTER COLUMN d SET STORAGE EXTERNAL;
CREATE TABLE spaces (game text COLLATE "C", key bytea, kind bigint, space bigint NOT NULL, PRIMARY KEY (game, key,
  kind));
CREATE TABLE claims (game text COLLATE "C", key bytea, kind bigint, scope bytea, space bigint, tokens bigint NOT NULL,
  day bigint NOT NULL, last_day bigint NOT NULL, PRIMARY KEY (game, key, kind, scope, space));
CREATE INDEX claims_by_day ON claims (game, last_day);
CREATE TABLE claim_marks (game text COLLATE "C", key bytea, kind bigint, scope bytea, space bigint, day bigint, mark
  bytea, PRIMARY KEY (game, key, kind, scope, space, day, mark));
CREATE INDEX claim_marks_by_day ON claim_marks (game, day);
CREATE TABLE originals (game text COLLATE "C", key bytea, original bytea NOT NULL, day bigint NOT NULL, PRIMARY KEY
  (game, key));
CREATE TABLE statistics (game text COLLATE "C", key bytea, environment bytea, kind bigint, flags bigint, day bigint,
  scene text COLLATE "C", d bytea NOT NULL, PRIMARY KEY (game, key, environment, kind, flags, day, scene));
ALTER TABLE statistics ALTER COLUMN d SET STORAGE EXTERNAL;
CREATE INDEX statistics_by_day ON statistics (game, day);
CREATE TABLE databases (game text COLLATE "C", scene text COLLATE "C", etag text NOT NULL, previous_etag text, PRIMARY
  KEY (game, scene));
CREATE TABLE bodies (etag text COLLATE "C", part bigint, d bytea NOT NULL, PRIMARY KEY (etag, part));
ALTER TABLE bodies ALTER COLUMN d SET STORAGE EXTERNAL;
CREATE TABLE coverage (game text COLLATE "C", time bigint, row bigint GENERATED ALWAYS AS IDENTITY, uploads bigint NOT
  NULL, points_covered bigint NOT NULL, points bigint NOT NULL, PRIMARY KEY (game, time, row));
CREATE TABLE quarantine (game text COLLATE "C", row bigint GENERATED ALWAYS AS IDENTITY, time bigint NOT NULL, reason
  text NOT NULL, body_size bigint NOT NULL, body bytea, PRIMARY KEY (game, row));
INSERT INTO games VALUES ('game', 1, 2, '\x00');
INSERT INTO upload_ids VALUES ('game', '\x01000000000000000000000000000000', 7);
INSERT INTO samples (game, part, day, size, hash, d) VALUES ('game', 3, 8, 2, 5, 'ab');
INSERT INTO claim_marks VALUES ('game', '\x00', 1, '\x01', 9, 8, '\x02');
INSERT INTO caps VALUES ('\x03', 8, 4);
INSERT INTO statistics SELECT 'game', decode(repeat('b2', 24), 'hex'), '\x0000000800000000000000000000000000000000',
  1, 0, day,
  '', '5' FROM generate_series(7, 8) AS day;
