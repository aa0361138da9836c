CREATE TABLE bodies (
    etag text NOT NULL COLLATE pg_catalog."C",
    part bigint NOT NULL,
    d bytea NOT NULL
);
ALTER TABLE ONLY bodies ALTER COLUMN d SET STORAGE EXTERNAL;
CREATE TABLE caps (
    mark bytea NOT NULL,
    day bigint NOT NULL,
    n bigint NOT NULL
);
CREATE TABLE claim_marks (
    game text NOT NULL COLLATE pg_catalog."C",
    key bytea NOT NULL,
    kind bigint NOT NULL,
    scope bytea NOT NULL,
    space bigint NOT NULL,
    day bigint NOT NULL,
    mark bytea NOT NULL
);
CREATE TABLE claims (
    game text NOT NULL COLLATE pg_catalog."C",
    key bytea NOT NULL,
    kind bigint NOT NULL,
    scope bytea NOT NULL,
    space bigint NOT NULL,
    tokens bigint NOT NULL,
    day bigint NOT NULL,
    last_day bigint NOT NULL
);
CREATE TABLE coverage (
    game text NOT NULL COLLATE pg_catalog."C",
    "time" bigint NOT NULL,
    "row" bigint NOT NULL,
    uploads bigint NOT NULL,
    points_covered bigint NOT NULL,
    points bigint NOT NULL
);
ALTER TABLE coverage ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME coverage_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE databases (
    game text NOT NULL COLLATE pg_catalog."C",
    scene text NOT NULL COLLATE pg_catalog."C",
    etag text NOT NULL,
    previous_etag text
);
CREATE TABLE epochs (
    one bigint NOT NULL,
    day bigint NOT NULL,
    key bytea NOT NULL
);
CREATE TABLE games (
    game text NOT NULL COLLATE pg_catalog."C",
    slot bigint NOT NULL,
    uploads bigint NOT NULL,
    origin bytea NOT NULL
);
CREATE TABLE originals (
    game text NOT NULL COLLATE pg_catalog."C",
    key bytea NOT NULL,
    original bytea NOT NULL,
    day bigint NOT NULL
);
CREATE TABLE origins (
    game text NOT NULL COLLATE pg_catalog."C",
    origin bytea NOT NULL
);
CREATE TABLE piecemeal_schema (
    one bigint NOT NULL,
    version bigint NOT NULL
);
CREATE TABLE quarantine (
    game text NOT NULL COLLATE pg_catalog."C",
    "row" bigint NOT NULL,
    "time" bigint NOT NULL,
    reason text NOT NULL,
    body_size bigint NOT NULL,
    body bytea
);
ALTER TABLE quarantine ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME quarantine_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE samples (
    game text NOT NULL COLLATE pg_catalog."C",
    part bigint NOT NULL,
    "row" bigint NOT NULL,
    day bigint NOT NULL,
    size bigint NOT NULL,
    hash bigint NOT NULL,
    d bytea NOT NULL
);
ALTER TABLE ONLY samples ALTER COLUMN d SET STORAGE EXTERNAL;
ALTER TABLE samples ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME samples_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE scenes (
    game text NOT NULL COLLATE pg_catalog."C",
    scene text NOT NULL COLLATE pg_catalog."C",
    slot bigint NOT NULL,
    uploads bigint NOT NULL,
    day bigint NOT NULL
);
CREATE TABLE spaces (
    game text NOT NULL COLLATE pg_catalog."C",
    key bytea NOT NULL,
    kind bigint NOT NULL,
    space bigint NOT NULL
);
CREATE TABLE statistics (
    game text NOT NULL COLLATE pg_catalog."C",
    key bytea NOT NULL,
    environment bytea NOT NULL,
    kind bigint NOT NULL,
    flags bigint NOT NULL,
    day bigint NOT NULL,
    scene text NOT NULL COLLATE pg_catalog."C",
    d bytea NOT NULL
);
ALTER TABLE ONLY statistics ALTER COLUMN d SET STORAGE EXTERNAL;
CREATE TABLE upload_ids (
    game text NOT NULL COLLATE pg_catalog."C",
    id bytea NOT NULL,
    day bigint NOT NULL
);
INSERT INTO bodies VALUES ('f3a27da76bd143b7f87a7b13114e0fff28e97ed9ae05d94b645418f09f982042', 0, '\x28b52ffd64ff01fd0e0074190802120a4f6c64202267616d65221894b896d80622b4020a181ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9120208081802280530014088274a0552055a0a0562f00100694a293f002650293faaf1523f501ab93e1b0cc859df463e40b1603d095c343fbfd5463e0a8c603d1f603459dfc63ea171193ec929433fbfd5c63edc5f193ec92b438327153f3908693e3763563f5020153f28f0683e95625659df463f405c933e39166e3f004e933e7e126e22b1030a18b3859264b2241261dd8deef5eeab99e3147d0b10767f9c59010f62e802a69b443bce67803f4b7eb13e961eeb3d18b9433fcdcccc3ec820df3dff09553f6e12033c4f297e3f6f3bdf4f3e300af23bd5fc5b493eff3e2dd7483efe7d4d3f4c3eff3e1fd4483ec47e4d3ff4fd543e92a5333ccdfb5b0456ce3e76d9193ec7d9676d9eff3e1123493ed8904d3f6e9eff3e1260e5d03e7e831d3ef35968355e1a3ff68d873e305792cabeff3e943c493e33974de3a51b3f75ae883e6a8d9368914d3f2b84b43e8de0c208cfff3e6049493e649a4d17d94e3f7aa4b53ee116c41f00e0f0e0f0e0f0e0f0e0f0e0f0e0f8205be0f003c703c7bf9866aac0bd98d42c335c03001f284b675d19364e4c3083459c6a11c0d9471dcdcba9203f9033a8010e81169c01b182f311');
INSERT INTO caps VALUES ('\x9217120591c94467186ee5e32e8c82ef', 20781, 1);
INSERT INTO caps VALUES ('\x9ee4aa2286389c27e26c2f5c91f4386a', 20781, 1);
INSERT INTO caps VALUES ('\x31a08ac2a56365d850ad905e340e32bf', 20781, 1);
INSERT INTO caps VALUES ('\x1ceeddd1d4f19919aa99d449cd74177c', 20781, 1);
INSERT INTO caps VALUES ('\xbaaa32354e644dd47503dfb5636cb374', 20781, 1);
INSERT INTO caps VALUES ('\x807b2fb8e07f15f6bd9db975a651e661', 20781, 1);
INSERT INTO caps VALUES ('\x65f18bcd1dd51435cd4bcf8cb3b94a1f', 20781, 1);
INSERT INTO caps VALUES ('\x9ed5d5e80746cc083c39999593575edb', 20781, 1);
INSERT INTO caps VALUES ('\xefb7db77a22229046da528612f694871', 20781, 1);
INSERT INTO caps VALUES ('\x3d621646ac0dbbf1c7f05348764cccc0', 20781, 1);
INSERT INTO caps VALUES ('\x2c15873d6b028dad2831eb24ef71fcf9', 20781, 1);
INSERT INTO caps VALUES ('\x9caa1a371a0f141d1cf8d7afedcb1479', 20781, 1);
INSERT INTO claim_marks VALUES ('Old "game"', '\x1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9', 2, '\x00000000000000000000000000000000', 5, 20781, '\x20a3033628b54745');
INSERT INTO claim_marks VALUES ('Old "game"', '\x1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9', 2, '\x674effba6c6cdb89f9f5d447d0e9a842', 5, 20781, '\x097c2bd47fd40638');
INSERT INTO claim_marks VALUES ('Old "game"', '\xb3859264b2241261dd8deef5eeab99e3147d0b10767f9c59', 1, '\x00000000000000000000000000000000', 5, 20781, '\x5a4fbc3afe9b625a');
INSERT INTO claim_marks VALUES ('Old "game"', '\xb3859264b2241261dd8deef5eeab99e3147d0b10767f9c59', 1, '\x674effba6c6cdb89f9f5d447d0e9a842', 5, 20781, '\x1cf65757f5c7c010');
INSERT INTO claim_marks VALUES ('Old "game"', '\x1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9', 2, '\x00000000000000000000000000000000', 5, 20781, '\x791e17a72a92a121');
INSERT INTO claim_marks VALUES ('Old "game"', '\x1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9', 2, '\x674effba6c6cdb89f9f5d447d0e9a842', 5, 20781, '\xa2db7c9dc2ea5017');
INSERT INTO claim_marks VALUES ('Old "game"', '\xb3859264b2241261dd8deef5eeab99e3147d0b10767f9c59', 1, '\x00000000000000000000000000000000', 5, 20781, '\x641579abda438182');
INSERT INTO claim_marks VALUES ('Old "game"', '\xb3859264b2241261dd8deef5eeab99e3147d0b10767f9c59', 1, '\x674effba6c6cdb89f9f5d447d0e9a842', 5, 20781, '\xd116fdee2091a9de');
INSERT INTO coverage OVERRIDING SYSTEM VALUE VALUES ('Old "game"', 1795529748, 1, 5, 10, 10);
INSERT INTO databases VALUES ('Old "game"', '', 'f3a27da76bd143b7f87a7b13114e0fff28e97ed9ae05d94b645418f09f982042', NULL);
INSERT INTO epochs VALUES (1, 20781, '\x528ecae737321879bfe2d86ea15c5c839e59b2abf978570fbad9ecaf87caad25');
INSERT INTO games VALUES ('Old "game"', 10, 6, '\x19bb30690416f19c97a19312eec8f325');
INSERT INTO piecemeal_schema VALUES (1, 1);
INSERT INTO samples OVERRIDING SYSTEM VALUE VALUES ('Old "game"', 16, 6, 20781, 133, -8844033128792817381, '\x48b3859264b2241261dd8deef5eeab99e3147d0b10767f9c59000100080000000000050005000001e8077d0603010001ce01671a00019603cb01330001de04af024c0001a6069303653b1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9000200080000000000050005005001e8077d6a00416a1400416a2800416a3c00416a50');
INSERT INTO spaces VALUES ('Old "game"', '\x1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9', 2, 5);
INSERT INTO spaces VALUES ('Old "game"', '\xb3859264b2241261dd8deef5eeab99e3147d0b10767f9c59', 1, 5);
INSERT INTO statistics VALUES ('Old "game"', '\x1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9', '\x0000000800000000000000000000000000000000', 2, 0, 20781, '', '\x504d73740202050002881305000505010315020302bf9e030100000005010314027102020302ade20405ec51b81e04057acc40650300020000050005050103140203020164bf9e0304e92e97f804c0c849300400000005010314027102020302ade20405ec51b81e04057acc406503000200000500050501031402030201c8bf9e0305d35d2ef10104002327c11000000005010314027102020302ade20405ec51b81e04057acc4065030002000005000505010314020302022c01bf9e0305be8cc5e90205c10e98b2014000000005010314027102020302ade20405ec51b81e04057acc4065030002000005000505010314020302029001bf9e0305a8bb5ce20305028c9c04030001000005010314027102020302ade20405ec51b81e04057acc4065030002000005');
INSERT INTO statistics VALUES ('Old "game"', '\xb3859264b2241261dd8deef5eeab99e3147d0b10767f9c59', '\x0000000800000000000000000000000000000000', 1, 0, 20781, '', '\x504d73740201050002881305000505010414028813010fb48913043d0ad70303bf9a03020000000502000c0106010280c00304555555d5041cc7715c000801090104805204666666e6048fc2f56871000000010101020103140271020105ade20404a2703d0a03b6f814020000000500050501041402881302f703b48913053d0ad70301043f05c034080000000501031402f70302fa01e7c90c0567b61b7e0205cee71c3e016000000003020103140271020182ade20405a6703d0a01045dbf6037080000000500050501041402881302df07b48913053e0ad703020424d6e2cf200000000501041402df0702ee03e2890305c2100c7f02053c5e0c3f0160000000030201031402710201ffade20405a5703d0a02046cec12d5200000000500050501041402881302c70bb48913053d0ad70303056e0d6cd101800000000501041402c70b02e205cef3060553f95c7f0205ef1b5d3f01600000000302010314027102027c01ade20405a4703d0a0305e37f2bd901800000000500050501041402881302af0fb48913053d0ad703040522ab5b3903000200000501041402af0f02d607e2a00c051d94857f0205a1a7853f0160000000030201031402710202f901ade20405a3703d0a0405b879aa43030002000005');
INSERT INTO upload_ids VALUES ('Old "game"', '\xd29a99f16538769bedd7e28230bde6f4', 20781);
INSERT INTO upload_ids VALUES ('Old "game"', '\x5d973472461ff8b0acce476ba7a70872', 20781);
INSERT INTO upload_ids VALUES ('Old "game"', '\x7dbfd3ea34950ae3ae7d0533bffdf7de', 20781);
INSERT INTO upload_ids VALUES ('Old "game"', '\xb0ef933cd3c004e3f925f11330b0fe85', 20781);
INSERT INTO upload_ids VALUES ('Old "game"', '\xa10b58c97ded458fe7ceaf2d0b2e5e94', 20781);
INSERT INTO upload_ids VALUES ('Old "game"', '\xe29a11f0b75e8458743ee8d01c12d762', 20781);
SELECT pg_catalog.setval('coverage_row_seq', 1, true);
SELECT pg_catalog.setval('quarantine_row_seq', 1, false);
SELECT pg_catalog.setval('samples_row_seq', 6, true);
ALTER TABLE ONLY bodies
    ADD CONSTRAINT bodies_pkey PRIMARY KEY (etag, part);
ALTER TABLE ONLY caps
    ADD CONSTRAINT caps_pkey PRIMARY KEY (mark, day);
ALTER TABLE ONLY claim_marks
    ADD CONSTRAINT claim_marks_pkey PRIMARY KEY (game, key, kind, scope, space, day, mark);
ALTER TABLE ONLY claims
    ADD CONSTRAINT claims_pkey PRIMARY KEY (game, key, kind, scope, space);
ALTER TABLE ONLY coverage
    ADD CONSTRAINT coverage_pkey PRIMARY KEY (game, "time", "row");
ALTER TABLE ONLY databases
    ADD CONSTRAINT databases_pkey PRIMARY KEY (game, scene);
ALTER TABLE ONLY epochs
    ADD CONSTRAINT epochs_pkey PRIMARY KEY (one);
ALTER TABLE ONLY games
    ADD CONSTRAINT games_pkey PRIMARY KEY (game, slot);
ALTER TABLE ONLY originals
    ADD CONSTRAINT originals_pkey PRIMARY KEY (game, key);
ALTER TABLE ONLY origins
    ADD CONSTRAINT origins_pkey PRIMARY KEY (game, origin);
ALTER TABLE ONLY piecemeal_schema
    ADD CONSTRAINT piecemeal_schema_pkey PRIMARY KEY (one);
ALTER TABLE ONLY quarantine
    ADD CONSTRAINT quarantine_pkey PRIMARY KEY (game, "row");
ALTER TABLE ONLY samples
    ADD CONSTRAINT samples_pkey PRIMARY KEY (game, part, "row");
ALTER TABLE ONLY scenes
    ADD CONSTRAINT scenes_pkey PRIMARY KEY (game, scene, slot);
ALTER TABLE ONLY spaces
    ADD CONSTRAINT spaces_pkey PRIMARY KEY (game, key, kind);
ALTER TABLE ONLY statistics
    ADD CONSTRAINT statistics_pkey PRIMARY KEY (game, key, environment, kind, flags, day, scene);
ALTER TABLE ONLY upload_ids
    ADD CONSTRAINT upload_ids_pkey PRIMARY KEY (game, id);
CREATE INDEX caps_by_day ON caps USING btree (day);
CREATE INDEX claim_marks_by_day ON claim_marks USING btree (game, day);
CREATE INDEX claims_by_day ON claims USING btree (game, last_day);
CREATE INDEX statistics_by_day ON statistics USING btree (game, day);
CREATE INDEX upload_ids_by_day ON upload_ids USING btree (game, day);
