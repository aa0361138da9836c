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
CREATE TABLE cap_uploads_d20784 (
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
CREATE TABLE caps_d20784 (
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
CREATE TABLE claim_marks_d20784 (
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
CREATE TABLE samples_d20784 (
    game text NOT NULL COLLATE pg_catalog."C",
    part bigint NOT NULL,
    "row" bigint NOT NULL,
    day bigint NOT NULL,
    size bigint NOT NULL,
    hash bigint NOT NULL,
    d bytea NOT NULL
);
ALTER TABLE ONLY samples_d20784 ALTER COLUMN d SET STORAGE EXTERNAL;
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
ALTER TABLE ONLY cap_uploads ATTACH PARTITION cap_uploads_d20784 FOR VALUES IN ('20784');
ALTER TABLE ONLY caps ATTACH PARTITION caps_d20784 FOR VALUES IN ('20784');
ALTER TABLE ONLY claim_marks ATTACH PARTITION claim_marks_d20784 FOR VALUES IN ('20784');
ALTER TABLE ONLY samples ATTACH PARTITION samples_d20784 FOR VALUES IN ('20784');
ALTER TABLE ONLY upload_ids ATTACH PARTITION upload_ids_d0 FOR VALUES IN ('0');
INSERT INTO bodies VALUES ('3d8487a87084a38456068bb7216fd1b8ba01ef40e9dabdcb349d65ea5095cd9d', 0, '\x28b52ffd64ff01fd0e0074190802120a4f6c64202267616d652218a1baa5d80622b4020a181ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9120208081802280530014088274a0552055a0a0562f00100694a293f002650293faaf1523f501ab93e1b0cc859df463e40b1603d095c343fbfd5463e0a8c603d1f603459dfc63ea171193ec929433fbfd5c63edc5f193ec92b438327153f3908693e3763563f5020153f28f0683e95625659df463f405c933e39166e3f004e933e7e126e22b1030a18b3859264b2241261dd8deef5eeab99e3147d0b10767f9c59010f62e802a69b443bce67803f4b7eb13e961eeb3d18b9433fb581ce3e99dbe43d7f99543f6e12033c4f297e3f6f3bdf4f3e300af23bd5fc5b493eff3e2dd7483efe7d4d3f4c3eff3e1fd4483ec47e4d3ff4fd543e92a5333ccdfb5b0456ce3e76d9193ec7d9676d9eff3e1123493ed8904d3f6e9eff3e1260e5d03e7e831d3ef35968355e1a3ff68d873e305792cabeff3e943c493e33974de3a51b3f75ae883e6a8d9368914d3f2b84b43e8de0c208cfff3e6049493e649a4d17d94e3f7aa4b53ee116c41f00e0f0e0f0e0f0e0f0e0f0e0f0e0f8205be0f003c703c7bf9866aac0bd98d42c335c03001f284b675d19364e4c3083459c6a11c0d9471dcdcba9203f9033a8010e81169c0153b0ab91');
INSERT INTO cap_uploads_d20784 VALUES ('\x1499364a9dad33ca69fc90abc80ce358', 20784, '\x0ada4e5a91785d3f57ac4de6e298edda', -6617910791491839553, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\xffddfcb7076bea1228567b81e669b67e', 20784, '\xdae2df5ab67376b544d4cb9a67dbf651', -6617910791491839553, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\x36c6ff4c015f8699c9184852cdf76e14', 20784, '\xb909cedc9e4eef3cdc1dbc4ca06377be', 4145742429321284394, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\x5aca5ae08bf3d87f48ecfa21887e7942', 20784, '\xc7f1c761563aed55a91728ebf168bb65', 4145742429321284394, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\x308b3a3bee47c10cb61a75968ee69e2e', 20784, '\xfd99619daa8863040ea7059a57b64479', 8242368398209605159, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\x6d68fc48aa8d94a30913ff8a9e2a8d98', 20784, '\x8af4fbe19adc9041b9ede98e4ab582b2', 8242368398209605159, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\x393998fceea0aaee0b2b88fe67f48e9b', 20784, '\x034167edcf2724552e5226006506302b', 8655486341048502840, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\xaba79cdaf69b85a05f21fb6cec6d2f69', 20784, '\xf81572c7b3931e25f890abfb0d73f078', 8655486341048502840, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\x19800a3efa4b6ca8e910f9f303d968dd', 20784, '\x70e794d40cba2ae3ec6630b929eafcee', 4083111680823880887, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\xef679f08949196f250be03aedeb764fb', 20784, '\xcfe4295f1918fb9ee21a6168ed3c0a63', 4083111680823880887, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\x66a9bf151ef6ea6aeb1aa8965ae5dbeb', 20784, '\x224ad56d50e7558c5341e29530a884d1', -559333691348855092, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\x989a5332681aabe26bd7bfe800fd091e', 20784, '\xc60d89011ef642db2e9479496e908d2a', -559333691348855092, 1);
INSERT INTO caps_d20784 VALUES ('\x1499364a9dad33ca69fc90abc80ce358', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\xffddfcb7076bea1228567b81e669b67e', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\x36c6ff4c015f8699c9184852cdf76e14', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\x5aca5ae08bf3d87f48ecfa21887e7942', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\x308b3a3bee47c10cb61a75968ee69e2e', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\x6d68fc48aa8d94a30913ff8a9e2a8d98', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\x393998fceea0aaee0b2b88fe67f48e9b', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\xaba79cdaf69b85a05f21fb6cec6d2f69', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\x19800a3efa4b6ca8e910f9f303d968dd', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\xef679f08949196f250be03aedeb764fb', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\x66a9bf151ef6ea6aeb1aa8965ae5dbeb', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\x989a5332681aabe26bd7bfe800fd091e', 20784, 1);
INSERT INTO claim_marks_d20784 VALUES ('Old "game"', '\x1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9', 2, '\x674effba6c6cdb89f9f5d447d0e9a842', 5, 20784, '\x2d6ffc92d26e3c5a');
INSERT INTO claim_marks_d20784 VALUES ('Old "game"', '\xb3859264b2241261dd8deef5eeab99e3147d0b10767f9c59', 1, '\x674effba6c6cdb89f9f5d447d0e9a842', 5, 20784, '\x7ef46f08696d0e1d');
INSERT INTO claim_marks_d20784 VALUES ('Old "game"', '\x1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9', 2, '\x674effba6c6cdb89f9f5d447d0e9a842', 5, 20784, '\x30550e4f192351ce');
INSERT INTO claim_marks_d20784 VALUES ('Old "game"', '\xb3859264b2241261dd8deef5eeab99e3147d0b10767f9c59', 1, '\x674effba6c6cdb89f9f5d447d0e9a842', 5, 20784, '\x596701d31f13f6c4');
INSERT INTO coverage OVERRIDING SYSTEM VALUE VALUES ('Old "game"', 1795775777, 1, 5, 10, 10);
INSERT INTO databases VALUES ('Old "game"', '', '3d8487a87084a38456068bb7216fd1b8ba01ef40e9dabdcb349d65ea5095cd9d', NULL);
INSERT INTO epochs VALUES (1, 20784, '\x4a9e8eb4e15992dcb38b2a94d2a2355ea5c11e0cb53ed449bcb6159e1c603fdd');
INSERT INTO games VALUES ('Old "game"', 13, 6, '\x60ea27ca794f8c1155045c6300e281f7');
INSERT INTO piecemeal_schema VALUES (1, 4);
INSERT INTO samples_d20784 VALUES ('Old "game"', 353361, 3677748791458219170, 20784, 150, -8349157693897131355, '\x08720c44dc8509a29547b3859264b2241261dd8deef5eeab99e3147d0b10767f9c59000100080000000000050005001001e8077d01010001c901641a00019103c801330001d904ac024c0001a10690036508720c44dc8509a2953b1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9000200080000000000050005005001e8077d6500416514004165280041653c00416550');
INSERT INTO samples_d20784 VALUES ('Old "game"', 353361, 3677748791501057411, 20784, 151, -1605878427892989326, '\x082e680740c84cb26f48b3859264b2241261dd8deef5eeab99e3147d0b10767f9c59000100080000000000050005000001e8077d0201010001ca01651a00019203c901330001da04ad024c0001a206910365082e680740c84cb26f3b1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9000200080000000000050005005001e8077d6600416614004166280041663c00416650');
INSERT INTO samples_d20784 VALUES ('Old "game"', 353361, 3677748791510952844, 20784, 151, 6574093992030911292, '\x08c775c090d4d9728f48b3859264b2241261dd8deef5eeab99e3147d0b10767f9c59000100080000000000050005000001e8077d0301010001cb01651a00019303c901330001db04ad024c0001a30691036508c775c090d4d9728f3b1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9000200080000000000050005005001e8077d6700416714004167280041673c00416750');
INSERT INTO samples_d20784 VALUES ('Old "game"', 353361, 3677748791519039827, 20784, 151, -5006410728619274285, '\x08f85498cfb34de52b48b3859264b2241261dd8deef5eeab99e3147d0b10767f9c59000100080000000000050005000001e8077d0402010001cc01661a00019403ca01330001dc04ae024c0001a40692036508f85498cfb34de52b3b1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9000200080000000000050005005001e8077d6800416814004168280041683c00416850');
INSERT INTO samples_d20784 VALUES ('Old "game"', 353361, 3677748791542264593, 20784, 151, -5411490081303507228, '\x08101fee490fbbbd2048b3859264b2241261dd8deef5eeab99e3147d0b10767f9c59000100080000000000050005000001e8077d0502010001cd01661a00019503ca01330001dd04ae024c0001a50692036508101fee490fbbbd203b1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9000200080000000000050005005001e8077d6900416914004169280041693c00416950');
INSERT INTO samples_d20784 VALUES ('Old "game"', 353361, 3677748791666760390, 20784, 151, -5625111804899113905, '\x08eaad34aba82262ce48b3859264b2241261dd8deef5eeab99e3147d0b10767f9c59000100080000000000050005000001e8077d0603010001ce01671a00019603cb01330001de04af024c0001a60693036508eaad34aba82262ce3b1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9000200080000000000050005005001e8077d6a00416a1400416a2800416a3c00416a50');
INSERT INTO upload_ids_d0 VALUES ('Old "game"', 0, '\xd29a99f16538769bedd7e28230bde6f4', 20784);
INSERT INTO upload_ids_d0 VALUES ('Old "game"', 0, '\x5d973472461ff8b0acce476ba7a70872', 20784);
INSERT INTO upload_ids_d0 VALUES ('Old "game"', 0, '\x7dbfd3ea34950ae3ae7d0533bffdf7de', 20784);
INSERT INTO upload_ids_d0 VALUES ('Old "game"', 0, '\xb0ef933cd3c004e3f925f11330b0fe85', 20784);
INSERT INTO upload_ids_d0 VALUES ('Old "game"', 0, '\xa10b58c97ded458fe7ceaf2d0b2e5e94', 20784);
INSERT INTO upload_ids_d0 VALUES ('Old "game"', 0, '\xe29a11f0b75e8458743ee8d01c12d762', 20784);
SELECT pg_catalog.setval('coverage_row_seq', 1, true);
SELECT pg_catalog.setval('quarantine_row_seq', 1, false);
ALTER TABLE ONLY bodies
    ADD CONSTRAINT bodies_pkey PRIMARY KEY (etag, part);
ALTER TABLE ONLY cap_uploads
    ADD CONSTRAINT cap_uploads_pkey PRIMARY KEY (mark, day, id);
ALTER TABLE ONLY cap_uploads_d20784
    ADD CONSTRAINT cap_uploads_d20784_pkey PRIMARY KEY (mark, day, id);
ALTER TABLE ONLY caps
    ADD CONSTRAINT caps_pkey1 PRIMARY KEY (mark, day);
ALTER TABLE ONLY caps_d20784
    ADD CONSTRAINT caps_d20784_pkey PRIMARY KEY (mark, day);
ALTER TABLE ONLY claim_marks
    ADD CONSTRAINT claim_marks_pkey1 PRIMARY KEY (game, key, kind, scope, space, day, mark);
ALTER TABLE ONLY claim_marks_d20784
    ADD CONSTRAINT claim_marks_d20784_pkey PRIMARY KEY (game, key, kind, scope, space, day, mark);
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
ALTER TABLE ONLY samples_d20784
    ADD CONSTRAINT samples_d20784_pkey PRIMARY KEY (game, part, "row", day);
ALTER TABLE ONLY scenes
    ADD CONSTRAINT scenes_pkey PRIMARY KEY (game, scene, slot);
ALTER TABLE ONLY spaces
    ADD CONSTRAINT spaces_pkey PRIMARY KEY (game, key, kind);
ALTER TABLE ONLY statistics
    ADD CONSTRAINT statistics_pkey1 PRIMARY KEY (game, key, environment, kind, flags, day, scene);
ALTER TABLE ONLY upload_ids
    ADD CONSTRAINT upload_ids_pkey1 PRIMARY KEY (game, day, id);
ALTER TABLE ONLY upload_ids_d0
    ADD CONSTRAINT upload_ids_d0_pkey PRIMARY KEY (game, day, id);
CREATE INDEX claims_by_day ON claims USING btree (game, last_day);
CREATE INDEX upload_ids_d0_taken ON upload_ids_d0 USING btree (game, taken);
ALTER INDEX cap_uploads_pkey ATTACH PARTITION cap_uploads_d20784_pkey;
ALTER INDEX caps_pkey1 ATTACH PARTITION caps_d20784_pkey;
ALTER INDEX claim_marks_pkey1 ATTACH PARTITION claim_marks_d20784_pkey;
ALTER INDEX samples_pkey1 ATTACH PARTITION samples_d20784_pkey;
ALTER INDEX upload_ids_pkey1 ATTACH PARTITION upload_ids_d0_pkey;
