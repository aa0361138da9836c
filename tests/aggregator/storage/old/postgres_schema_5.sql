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
INSERT INTO bodies VALUES ('475adc3b473602d9db29e4b9751e374b639290b28c24c16985eb12b6e8264d66', 0, '\x28b52ffd64ff01fd0e0074190802120a4f6c64202267616d652218ccc0a5d80622b4020a181ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9120208081802280530014088274a0552055a0a0562f00100694a293f002650293faaf1523f501ab93e1b0cc859df463e40b1603d095c343fbfd5463e0a8c603d1f603459dfc63ea171193ec929433fbfd5c63edc5f193ec92b438327153f3908693e3763563f5020153f28f0683e95625659df463f405c933e39166e3f004e933e7e126e22b1030a18b3859264b2241261dd8deef5eeab99e3147d0b10767f9c59010f62e802a69b443bce67803f4b7eb13e961eeb3d18b9433fb581ce3e99dbe43d7f99543f6e12033c4f297e3f6f3bdf4f3e300af23bd5fc5b493eff3e2dd7483efe7d4d3f4c3eff3e1fd4483ec47e4d3ff4fd543e92a5333ccdfb5b0456ce3e76d9193ec7d9676d9eff3e1123493ed8904d3f6e9eff3e1260e5d03e7e831d3ef35968355e1a3ff68d873e305792cabeff3e943c493e33974de3a51b3f75ae883e6a8d9368914d3f2b84b43e8de0c208cfff3e6049493e649a4d17d94e3f7aa4b53ee116c41f00e0f0e0f0e0f0e0f0e0f0e0f0e0f8205be0f003c703c7bf9866aac0bd98d42c335c03001f284b675d19364e4c3083459c6a11c0d9471dcdcba9203f9033a8010e81169c011bf40f63');
INSERT INTO cap_uploads_d20784 VALUES ('\x723fcf4625f950574a7f948e56be0c81', 20784, '\xde85cda974a9cb52a51e28f50480bcde', 2161025806369037895, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\x7af6c5022441a0a5239b697c22b1c3c0', 20784, '\x81acdd3978d29e71b09d3c5940132eaa', 2161025806369037895, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\x74b49a5c34abefe5f330227aa409479a', 20784, '\xdbc38a919fc1e1f84c3c6e6f2af06b5d', 2079769211887848717, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\x88247d0fa591492b7ef5f77b466595b7', 20784, '\x39ffe5de8ea1ad95e117a401f193af51', 2079769211887848717, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\x2e1393f7c9133a81f92464ba15515182', 20784, '\x7c46fe899e3bfaf06f08f35578ef6e7d', 4979328790175607591, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\xa1dca556e6fbf352251038dc60069bd2', 20784, '\x0b0a43a1a9437553a1131228cbf77a13', 4979328790175607591, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\xe2447b566b97fceb50f5832092e491d2', 20784, '\x4f2f54a3d5c9b50156d9d316e1681d52', -8938657565631240843, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\xf0f14fb8f4f6dd55cf314462166cc882', 20784, '\x2b40775bf0e9e2e17569cc8abdab0277', -8938657565631240843, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\xb116b7158b5fcfe8b3f824aa13450b4e', 20784, '\xe06acaa5bb5b121f3b89f62f8d8a48cb', 7872235679263704403, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\xb26792175af889831139c0c693093108', 20784, '\x20df2981b904427dfe6d9ef3b479375a', 7872235679263704403, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\x49fef0fb91cbab8795aace6c69424371', 20784, '\xdafe4d52dfbcce434475b59859532b90', 2610018362972785290, 1);
INSERT INTO cap_uploads_d20784 VALUES ('\x4c16102f814b63cad75cea6fc33b26aa', 20784, '\xe37bed9d3309834438522c986ac9a02b', 2610018362972785290, 1);
INSERT INTO caps_d20784 VALUES ('\x723fcf4625f950574a7f948e56be0c81', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\x7af6c5022441a0a5239b697c22b1c3c0', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\x74b49a5c34abefe5f330227aa409479a', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\x88247d0fa591492b7ef5f77b466595b7', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\x2e1393f7c9133a81f92464ba15515182', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\xa1dca556e6fbf352251038dc60069bd2', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\xe2447b566b97fceb50f5832092e491d2', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\xf0f14fb8f4f6dd55cf314462166cc882', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\xb116b7158b5fcfe8b3f824aa13450b4e', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\xb26792175af889831139c0c693093108', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\x49fef0fb91cbab8795aace6c69424371', 20784, 1);
INSERT INTO caps_d20784 VALUES ('\x4c16102f814b63cad75cea6fc33b26aa', 20784, 1);
INSERT INTO claim_marks_d20784 VALUES ('Old "game"', '\x1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9', 2, '\x674effba6c6cdb89f9f5d447d0e9a842', 5, 20784, '\x9d8acb40102cf065');
INSERT INTO claim_marks_d20784 VALUES ('Old "game"', '\xb3859264b2241261dd8deef5eeab99e3147d0b10767f9c59', 1, '\x674effba6c6cdb89f9f5d447d0e9a842', 5, 20784, '\xe1a51a910906de04');
INSERT INTO claim_marks_d20784 VALUES ('Old "game"', '\x1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9', 2, '\x674effba6c6cdb89f9f5d447d0e9a842', 5, 20784, '\xa4026a41dd8a258a');
INSERT INTO claim_marks_d20784 VALUES ('Old "game"', '\xb3859264b2241261dd8deef5eeab99e3147d0b10767f9c59', 1, '\x674effba6c6cdb89f9f5d447d0e9a842', 5, 20784, '\x3aacfe5941eb9fa5');
INSERT INTO coverage OVERRIDING SYSTEM VALUE VALUES ('Old "game"', 1795776588, 1, 5, 10, 10);
INSERT INTO databases VALUES ('Old "game"', '', '475adc3b473602d9db29e4b9751e374b639290b28c24c16985eb12b6e8264d66', NULL);
INSERT INTO epochs VALUES (1, 20784, '\xfc7617a71f7cfa522521d764075c64ac857daa084fcff742336105b278dca3a1');
INSERT INTO games VALUES ('Old "game"', 15, 6, '\x4e27fc385d737891c10a5a73b7d5f2d9');
INSERT INTO piecemeal_schema VALUES (1, 5);
INSERT INTO samples_d20784 VALUES ('Old "game"', 353361, 3677750452708966471, 20784, 150, 235795571140767256, '\x08204b7f6349cc5f6d47b3859264b2241261dd8deef5eeab99e3147d0b10767f9c59000100080000000000050005001001e8077d01010001c901641a00019103c801330001d904ac024c0001a10690036508204b7f6349cc5f6d3b1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9000200080000000000050005005001e8077d6500416514004165280041653c00416550');
INSERT INTO samples_d20784 VALUES ('Old "game"', 353361, 3677750452718784225, 20784, 151, 4148115427346540098, '\x08097a0aed24a01eb148b3859264b2241261dd8deef5eeab99e3147d0b10767f9c59000100080000000000050005000001e8077d0201010001ca01651a00019203c901330001da04ad024c0001a20691036508097a0aed24a01eb13b1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9000200080000000000050005005001e8077d6600416614004166280041663c00416650');
INSERT INTO samples_d20784 VALUES ('Old "game"', 353361, 3677750452723270126, 20784, 151, 2546395064217619813, '\x08fbb32f628f5f6cdd48b3859264b2241261dd8deef5eeab99e3147d0b10767f9c59000100080000000000050005000001e8077d0301010001cb01651a00019303c901330001db04ad024c0001a30691036508fbb32f628f5f6cdd3b1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9000200080000000000050005005001e8077d6700416714004167280041673c00416750');
INSERT INTO samples_d20784 VALUES ('Old "game"', 353361, 3677750452741001497, 20784, 151, -2939279581949642253, '\x087a58e89f4d758d2548b3859264b2241261dd8deef5eeab99e3147d0b10767f9c59000100080000000000050005000001e8077d0402010001cc01661a00019403ca01330001dc04ae024c0001a406920365087a58e89f4d758d253b1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9000200080000000000050005005001e8077d6800416814004168280041683c00416850');
INSERT INTO samples_d20784 VALUES ('Old "game"', 353361, 3677750452778712376, 20784, 151, -6810286020800253610, '\x083c0a781dad4e6b7848b3859264b2241261dd8deef5eeab99e3147d0b10767f9c59000100080000000000050005000001e8077d0502010001cd01661a00019503ca01330001dd04ae024c0001a506920365083c0a781dad4e6b783b1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9000200080000000000050005005001e8077d6900416914004169280041693c00416950');
INSERT INTO samples_d20784 VALUES ('Old "game"', 353361, 3677750452875082752, 20784, 151, 485827317058637253, '\x087ba56667ff45798548b3859264b2241261dd8deef5eeab99e3147d0b10767f9c59000100080000000000050005000001e8077d0603010001ce01671a00019603cb01330001de04af024c0001a606930365087ba56667ff4579853b1ab92fbfaf3ca5389bbfbe5aaef5ff1aabb96564057c2fa9000200080000000000050005005001e8077d6a00416a1400416a2800416a3c00416a50');
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
