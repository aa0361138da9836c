CREATE TABLE bodies (
    etag text NOT NULL COLLATE pg_catalog."C",
    part bigint NOT NULL,
    d bytea NOT NULL
);
ALTER TABLE ONLY bodies ALTER COLUMN d SET STORAGE EXTERNAL;
CREATE TABLE cap_uploads (
    mark bytea NOT NULL,
    day bigint NOT NULL,
    id bytea NOT NULL,
    attempt bigint NOT NULL,
    counts bigint NOT NULL
)
PARTITION BY LIST (day);
CREATE TABLE cap_uploads_d20781 (
    mark bytea NOT NULL,
    day bigint NOT NULL,
    id bytea NOT NULL,
    attempt bigint NOT NULL,
    counts bigint NOT NULL
);
CREATE TABLE caps (
    mark bytea NOT NULL,
    day bigint NOT NULL,
    n bigint NOT NULL
)
PARTITION BY LIST (day);
CREATE TABLE caps_d20781 (
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
)
PARTITION BY LIST (day);
CREATE TABLE claim_marks_d20781 (
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
CREATE TABLE leases (
    game text NOT NULL COLLATE pg_catalog."C",
    piece bigint NOT NULL
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
)
PARTITION BY LIST (day);
ALTER TABLE ONLY samples ALTER COLUMN d SET STORAGE EXTERNAL;
CREATE TABLE samples_d20781 (
    game text NOT NULL COLLATE pg_catalog."C",
    part bigint NOT NULL,
    "row" bigint NOT NULL,
    day bigint NOT NULL,
    size bigint NOT NULL,
    hash bigint NOT NULL,
    d bytea NOT NULL
);
ALTER TABLE ONLY samples_d20781 ALTER COLUMN d SET STORAGE EXTERNAL;
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
)
PARTITION BY LIST (day);
ALTER TABLE ONLY statistics ALTER COLUMN d SET STORAGE EXTERNAL;
CREATE TABLE statistics_d20781 (
    game text NOT NULL COLLATE pg_catalog."C",
    key bytea NOT NULL,
    environment bytea NOT NULL,
    kind bigint NOT NULL,
    flags bigint NOT NULL,
    day bigint NOT NULL,
    scene text NOT NULL COLLATE pg_catalog."C",
    d bytea NOT NULL
);
ALTER TABLE ONLY statistics_d20781 ALTER COLUMN d SET STORAGE EXTERNAL;
CREATE TABLE upload_ids (
    game text NOT NULL COLLATE pg_catalog."C",
    day bigint NOT NULL,
    id bytea NOT NULL,
    taken bigint NOT NULL
)
PARTITION BY LIST (day);
CREATE TABLE upload_ids_d0 (
    game text NOT NULL COLLATE pg_catalog."C",
    day bigint NOT NULL,
    id bytea NOT NULL,
    taken bigint NOT NULL
);
ALTER TABLE ONLY cap_uploads ATTACH PARTITION cap_uploads_d20781 FOR VALUES IN ('20781');
ALTER TABLE ONLY caps ATTACH PARTITION caps_d20781 FOR VALUES IN ('20781');
ALTER TABLE ONLY claim_marks ATTACH PARTITION claim_marks_d20781 FOR VALUES IN ('20781');
ALTER TABLE ONLY samples ATTACH PARTITION samples_d20781 FOR VALUES IN ('20781');
ALTER TABLE ONLY statistics ATTACH PARTITION statistics_d20781 FOR VALUES IN ('20781');
ALTER TABLE ONLY upload_ids ATTACH PARTITION upload_ids_d0 FOR VALUES IN ('0');
INSERT INTO bodies VALUES ('a9e9c53ea1d3bf0a29896455bc54a934fd5cbf1b5794058026fcbed15c71ab73', 0, '\x28b52ffd64ff01fd0e0074190802120a4f6c64202267616d652218b3b796d80622b4020a181ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9120208081802280530014088274a0552055a0a0562f00100694a293f002650293faaf1523f501ab93e1b0cc859df463e40b1603d095c343fbfd5463e0a8c603d1f603459dfc63ea171193ec929433fbfd5c63edc5f193ec92b438327153f3908693e3763563f5020153f28f0683e95625659df463f405c933e39166e3f004e933e7e126e22b1030a18b3859264b2241261dd8deef5eeab99e3147d0b10767f9c59010f62e802a69b443bce67803f4b7eb13e961eeb3d18b9433fcdcccc3ec820df3dff09553f6e12033c4f297e3f6f3bdf4f3e300af23bd5fc5b493eff3e2dd7483efe7d4d3f4c3eff3e1fd4483ec47e4d3ff4fd543e92a5333ccdfb5b0456ce3e76d9193ec7d9676d9eff3e1123493ed8904d3f6e9eff3e1260e5d03e7e831d3ef35968355e1a3ff68d873e305792cabeff3e943c493e33974de3a51b3f75ae883e6a8d9368914d3f2b84b43e8de0c208cfff3e6049493e649a4d17d94e3f7aa4b53ee116c41f00e0f0e0f0e0f0e0f0e0f0e0f0e0f8205be0f003c703c7bf9866aac0bd98d42c335c03001f284b675d19364e4c3083459c6a11c0d9471dcdcba9203f9033a8010e81169c01c4481f0c');
INSERT INTO cap_uploads_d20781 VALUES ('\x36c362e7d7d830628d59da7af223a83b', 20781, '\x11c75bee62a3bb16124103f296da3452', -7749619021703987844, 1);
INSERT INTO cap_uploads_d20781 VALUES ('\xdb8e1c5c477eec3ee3aaad84452b9231', 20781, '\x627391b43d9f8ca3f50d5b8134aa444d', -7749619021703987844, 1);
INSERT INTO cap_uploads_d20781 VALUES ('\x171dabf904df793e43494f59a00be71b', 20781, '\xaab187ce3bcd56937d60e230066828e6', 6762499013888401757, 1);
INSERT INTO cap_uploads_d20781 VALUES ('\x857773e375e0d3bd478d2481ed1ccb6c', 20781, '\x3269163d1c9f7b9ef148520752f24cd2', 6762499013888401757, 1);
INSERT INTO cap_uploads_d20781 VALUES ('\x2d1512a50968a412650dd55e49d6793e', 20781, '\xe0188338f185ce1357cb360c161d9b4f', -5901118432805845612, 1);
INSERT INTO cap_uploads_d20781 VALUES ('\xf5a118970002a4eac60e54d5104042c4', 20781, '\x24e0e2fc5826a19b26fffd7bf3d78ea0', -5901118432805845612, 1);
INSERT INTO cap_uploads_d20781 VALUES ('\xc973f35de8e7003266d587160023a2d4', 20781, '\x39838e60735527c373091b2411fa4e74', 4489226756814092967, 1);
INSERT INTO cap_uploads_d20781 VALUES ('\xf728d585d43efefcb7abe20c0dd5efe1', 20781, '\x5fc4ab69ff212e3b2df58f984dbc16cf', 4489226756814092967, 1);
INSERT INTO cap_uploads_d20781 VALUES ('\x634ed2c4beb2904e4b7b82383e4c5d8b', 20781, '\xe4cf1b08885070d36612264efffa5e9f', -6406033309377417755, 1);
INSERT INTO cap_uploads_d20781 VALUES ('\xb119c54b0417de29e530b2c68b413fae', 20781, '\xc832874e944f753165b73be7b512ae88', -6406033309377417755, 1);
INSERT INTO cap_uploads_d20781 VALUES ('\xee6b64696b98e338c578ba5758f8d009', 20781, '\x551391961b07b0897d162cf4e6e05c96', 4448340696672526157, 1);
INSERT INTO cap_uploads_d20781 VALUES ('\xf73719353264f1ff7f600b9ef9a14a77', 20781, '\xc0db302fe9acc7615772c1cc60c40d08', 4448340696672526157, 1);
INSERT INTO caps_d20781 VALUES ('\x36c362e7d7d830628d59da7af223a83b', 20781, 1);
INSERT INTO caps_d20781 VALUES ('\xdb8e1c5c477eec3ee3aaad84452b9231', 20781, 1);
INSERT INTO caps_d20781 VALUES ('\x171dabf904df793e43494f59a00be71b', 20781, 1);
INSERT INTO caps_d20781 VALUES ('\x857773e375e0d3bd478d2481ed1ccb6c', 20781, 1);
INSERT INTO caps_d20781 VALUES ('\x2d1512a50968a412650dd55e49d6793e', 20781, 1);
INSERT INTO caps_d20781 VALUES ('\xf5a118970002a4eac60e54d5104042c4', 20781, 1);
INSERT INTO caps_d20781 VALUES ('\xc973f35de8e7003266d587160023a2d4', 20781, 1);
INSERT INTO caps_d20781 VALUES ('\xf728d585d43efefcb7abe20c0dd5efe1', 20781, 1);
INSERT INTO caps_d20781 VALUES ('\x634ed2c4beb2904e4b7b82383e4c5d8b', 20781, 1);
INSERT INTO caps_d20781 VALUES ('\xb119c54b0417de29e530b2c68b413fae', 20781, 1);
INSERT INTO caps_d20781 VALUES ('\xee6b64696b98e338c578ba5758f8d009', 20781, 1);
INSERT INTO caps_d20781 VALUES ('\xf73719353264f1ff7f600b9ef9a14a77', 20781, 1);
INSERT INTO claim_marks_d20781 VALUES ('Old "game"', '\x1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9', 2, '\x00000000000000000000000000000000', 5, 20781, '\x5e4063eb6af2d405');
INSERT INTO claim_marks_d20781 VALUES ('Old "game"', '\x1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9', 2, '\x674effba6c6cdb89f9f5d447d0e9a842', 5, 20781, '\x524c80588625ff2e');
INSERT INTO claim_marks_d20781 VALUES ('Old "game"', '\xb3859264b2241261dd8deef5eeab99e3147d0b10767f9c59', 1, '\x00000000000000000000000000000000', 5, 20781, '\x3daed27c5d7019d8');
INSERT INTO claim_marks_d20781 VALUES ('Old "game"', '\xb3859264b2241261dd8deef5eeab99e3147d0b10767f9c59', 1, '\x674effba6c6cdb89f9f5d447d0e9a842', 5, 20781, '\x414eac479f97571a');
INSERT INTO claim_marks_d20781 VALUES ('Old "game"', '\x1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9', 2, '\x00000000000000000000000000000000', 5, 20781, '\xe4f0305f2c0d3f7c');
INSERT INTO claim_marks_d20781 VALUES ('Old "game"', '\x1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9', 2, '\x674effba6c6cdb89f9f5d447d0e9a842', 5, 20781, '\x02f0570b3232fe6d');
INSERT INTO claim_marks_d20781 VALUES ('Old "game"', '\xb3859264b2241261dd8deef5eeab99e3147d0b10767f9c59', 1, '\x00000000000000000000000000000000', 5, 20781, '\x907882b29d02c32b');
INSERT INTO claim_marks_d20781 VALUES ('Old "game"', '\xb3859264b2241261dd8deef5eeab99e3147d0b10767f9c59', 1, '\x674effba6c6cdb89f9f5d447d0e9a842', 5, 20781, '\xad5e05e995995fc2');
INSERT INTO coverage OVERRIDING SYSTEM VALUE VALUES ('Old "game"', 1795529651, 1, 5, 10, 10);
INSERT INTO databases VALUES ('Old "game"', '', 'a9e9c53ea1d3bf0a29896455bc54a934fd5cbf1b5794058026fcbed15c71ab73', NULL);
INSERT INTO epochs VALUES (1, 20781, '\x4538631e33584c9b50b715fd92204cb03e46e5957f1ab29934371ff6cd1db9b6');
INSERT INTO games VALUES ('Old "game"', 10, 6, '\xed4a2a2292b055d0a47ac85da8f37f79');
INSERT INTO piecemeal_schema VALUES (1, 2);
INSERT INTO samples_d20781 VALUES ('Old "game"', 16, 3677244725693052757, 20781, 133, -8844033128792817381, '\x48b3859264b2241261dd8deef5eeab99e3147d0b10767f9c59000100080000000000050005000001e8077d0603010001ce01671a00019603cb01330001de04af024c0001a6069303653b1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9000200080000000000050005005001e8077d6a00416a1400416a2800416a3c00416a50');
INSERT INTO spaces VALUES ('Old "game"', '\x1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9', 2, 5);
INSERT INTO spaces VALUES ('Old "game"', '\xb3859264b2241261dd8deef5eeab99e3147d0b10767f9c59', 1, 5);
INSERT INTO statistics_d20781 VALUES ('Old "game"', '\x1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9', '\x0000000800000000000000000000000000000000', 2, 0, 20781, '', '\x504d73740202050002881305000505010315020302bf9e030100000005010314027102020302ade20405ec51b81e04057acc40650300020000050005050103140203020164bf9e0304e92e97f804c0c849300400000005010314027102020302ade20405ec51b81e04057acc406503000200000500050501031402030201c8bf9e0305d35d2ef10104002327c11000000005010314027102020302ade20405ec51b81e04057acc4065030002000005000505010314020302022c01bf9e0305be8cc5e90205c10e98b2014000000005010314027102020302ade20405ec51b81e04057acc4065030002000005000505010314020302029001bf9e0305a8bb5ce20305028c9c04030001000005010314027102020302ade20405ec51b81e04057acc4065030002000005');
INSERT INTO statistics_d20781 VALUES ('Old "game"', '\xb3859264b2241261dd8deef5eeab99e3147d0b10767f9c59', '\x0000000800000000000000000000000000000000', 1, 0, 20781, '', '\x504d73740201050002881305000505010414028813010fb48913043d0ad70303bf9a03020000000502000c0106010280c00304555555d5041cc7715c000801090104805204666666e6048fc2f56871000000010101020103140271020105ade20404a2703d0a03b6f814020000000500050501041402881302f703b48913053d0ad70301043f05c034080000000501031402f70302fa01e7c90c0567b61b7e0205cee71c3e016000000003020103140271020182ade20405a6703d0a01045dbf6037080000000500050501041402881302df07b48913053e0ad703020424d6e2cf200000000501041402df0702ee03e2890305c2100c7f02053c5e0c3f0160000000030201031402710201ffade20405a5703d0a02046cec12d5200000000500050501041402881302c70bb48913053d0ad70303056e0d6cd101800000000501041402c70b02e205cef3060553f95c7f0205ef1b5d3f01600000000302010314027102027c01ade20405a4703d0a0305e37f2bd901800000000500050501041402881302af0fb48913053d0ad703040522ab5b3903000200000501041402af0f02d607e2a00c051d94857f0205a1a7853f0160000000030201031402710202f901ade20405a3703d0a0405b879aa43030002000005');
INSERT INTO upload_ids_d0 VALUES ('Old "game"', 0, '\xd29a99f16538769bedd7e28230bde6f4', 20781);
INSERT INTO upload_ids_d0 VALUES ('Old "game"', 0, '\x5d973472461ff8b0acce476ba7a70872', 20781);
INSERT INTO upload_ids_d0 VALUES ('Old "game"', 0, '\x7dbfd3ea34950ae3ae7d0533bffdf7de', 20781);
INSERT INTO upload_ids_d0 VALUES ('Old "game"', 0, '\xb0ef933cd3c004e3f925f11330b0fe85', 20781);
INSERT INTO upload_ids_d0 VALUES ('Old "game"', 0, '\xa10b58c97ded458fe7ceaf2d0b2e5e94', 20781);
INSERT INTO upload_ids_d0 VALUES ('Old "game"', 0, '\xe29a11f0b75e8458743ee8d01c12d762', 20781);
SELECT pg_catalog.setval('coverage_row_seq', 1, true);
SELECT pg_catalog.setval('quarantine_row_seq', 1, false);
ALTER TABLE ONLY bodies
    ADD CONSTRAINT bodies_pkey PRIMARY KEY (etag, part);
ALTER TABLE ONLY cap_uploads
    ADD CONSTRAINT cap_uploads_pkey PRIMARY KEY (mark, day, id);
ALTER TABLE ONLY cap_uploads_d20781
    ADD CONSTRAINT cap_uploads_d20781_pkey PRIMARY KEY (mark, day, id);
ALTER TABLE ONLY caps
    ADD CONSTRAINT caps_pkey1 PRIMARY KEY (mark, day);
ALTER TABLE ONLY caps_d20781
    ADD CONSTRAINT caps_d20781_pkey PRIMARY KEY (mark, day);
ALTER TABLE ONLY claim_marks
    ADD CONSTRAINT claim_marks_pkey1 PRIMARY KEY (game, key, kind, scope, space, day, mark);
ALTER TABLE ONLY claim_marks_d20781
    ADD CONSTRAINT claim_marks_d20781_pkey PRIMARY KEY (game, key, kind, scope, space, day, mark);
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
ALTER TABLE ONLY leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (game, piece);
ALTER TABLE ONLY originals
    ADD CONSTRAINT originals_pkey PRIMARY KEY (game, key);
ALTER TABLE ONLY origins
    ADD CONSTRAINT origins_pkey PRIMARY KEY (game, origin);
ALTER TABLE ONLY piecemeal_schema
    ADD CONSTRAINT piecemeal_schema_pkey PRIMARY KEY (one);
ALTER TABLE ONLY quarantine
    ADD CONSTRAINT quarantine_pkey PRIMARY KEY (game, "row");
ALTER TABLE ONLY samples
    ADD CONSTRAINT samples_pkey1 PRIMARY KEY (game, part, "row", day);
ALTER TABLE ONLY samples_d20781
    ADD CONSTRAINT samples_d20781_pkey PRIMARY KEY (game, part, "row", day);
ALTER TABLE ONLY scenes
    ADD CONSTRAINT scenes_pkey PRIMARY KEY (game, scene, slot);
ALTER TABLE ONLY spaces
    ADD CONSTRAINT spaces_pkey PRIMARY KEY (game, key, kind);
ALTER TABLE ONLY statistics
    ADD CONSTRAINT statistics_pkey1 PRIMARY KEY (game, key, environment, kind, flags, day, scene);
ALTER TABLE ONLY statistics_d20781
    ADD CONSTRAINT statistics_d20781_pkey PRIMARY KEY (game, key, environment, kind, flags, day, scene);
ALTER TABLE ONLY upload_ids
    ADD CONSTRAINT upload_ids_pkey1 PRIMARY KEY (game, day, id);
ALTER TABLE ONLY upload_ids_d0
    ADD CONSTRAINT upload_ids_d0_pkey PRIMARY KEY (game, day, id);
CREATE INDEX claims_by_day ON claims USING btree (game, last_day);
CREATE INDEX upload_ids_d0_taken ON upload_ids_d0 USING btree (game, taken);
ALTER INDEX cap_uploads_pkey ATTACH PARTITION cap_uploads_d20781_pkey;
ALTER INDEX caps_pkey1 ATTACH PARTITION caps_d20781_pkey;
ALTER INDEX claim_marks_pkey1 ATTACH PARTITION claim_marks_d20781_pkey;
ALTER INDEX samples_pkey1 ATTACH PARTITION samples_d20781_pkey;
ALTER INDEX statistics_pkey1 ATTACH PARTITION statistics_d20781_pkey;
ALTER INDEX upload_ids_pkey1 ATTACH PARTITION upload_ids_d0_pkey;
