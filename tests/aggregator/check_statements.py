#!/usr/bin/env python3
"""What tests before it (with_postgres.sh) said to the engine: does every statement bind the game with equality, so that it
is one shard's where tables are distributed by game? Those that are of no game are listed here, by hand. And are samples
folded in the transaction that holds their part's row?"""
import os
import re
import sys

# Tables whose rows are of no one game, and what binds them instead.
OTHER = {'caps': r'\(mark, day, n\) VALUES', 'cap_uploads': r'\(mark, day, id, attempt, counts\) VALUES|mark = \$1', 'bodies': r'etag = \$|\(etag, part, d\)', 'epochs': r'\(one, day, key\) VALUES',
         'piecemeal_schema': r''}
# Reads over all games: of the dashboard, of who looks for work, and of what is set aside.
OVER_ALL = [
    r'SELECT game, sum\(uploads\)::bigint FROM games GROUP BY game ORDER BY game$',
    r'SELECT count\(DISTINCT game\) FROM games$',
    r'SELECT game, part, count\(\*\), sum\(size\)::bigint FROM samples GROUP BY game, part ORDER BY game, part$',
    r'SELECT time, game, reason, body FROM quarantine ORDER BY row DESC$',
    r'DELETE FROM quarantine AS q USING \(SELECT game, row, row_number\(\)',
    r'SELECT pg_database_size\(current_database\(\)\)$',
    # What is swept away, found by two reads of all.
    r'SELECT DISTINCT etag FROM bodies$',
    r'SELECT etag FROM databases UNION SELECT previous_etag FROM databases$',
    # The catalog, where a day's partitions are.
    r"SELECT to_regclass\('\w+_d\d+'\)::text$",
    r'SELECT c\.relname::text FROM pg_inherits ',
    r'SELECT 1 FROM \w+_d\d+ LIMIT 1$',
]
FORBIDDEN = r'\badvisory|\bMERGE\b|\bunnest\b|\bLOCK TABLE\b'
# Large samples alone are made of arrays: all other rows would go shard by shard.
LARGE = r'INSERT INTO samples \(game, [a-z, ]*\) SELECT \$1, [a-z, ]* FROM unnest\([$\d, ]*\) AS large \([a-z, ]*\)$'
PLAIN = r'(BEGIN|COMMIT|ROLLBACK|SET |CREATE |ALTER |INSERT INTO piecemeal_schema|UPDATE piecemeal_schema)'


def is_bound(sql):
    if re.match(PLAIN, sql) or any(re.match(one, sql) for one in OVER_ALL):
        return True
    table = re.search(r'\b(?:FROM|INTO|UPDATE) (\w+)', sql)
    if table and table[1] in OTHER:
        return re.search(OTHER[table[1]], sql) is not None
    if sql.startswith('INSERT'):
        return re.match(r'INSERT INTO \w+( AS \w+)? \(game, .*?\) (VALUES \(\$|SELECT \$1)', sql) is not None
    # Each part that reads a table of its own.
    parts = re.split(r' UNION ALL | UNION ', sql)
    return all(re.search(r"\bgame = (\$\d|')", part) for part in parts)


def main():
    seen, wrong = set(), set()
    held, folded, apart = set(), 0, 0  # processes whose transaction holds a part; DELETEs in one, and others
    for line in open(os.path.join(os.environ['PM_TEST_ENGINE'], 'log'), encoding='utf-8', errors='replace'):
        process = re.search(r'\[(\d+)\] LOG: ', line)
        found = re.search(r'LOG:  execute <unnamed>: (.*)', line)
        if process and re.search(r'LOG:  statement: (BEGIN|COMMIT|ROLLBACK)', line):
            held.discard(process[1])
        if not found:
            continue
        if found[1].startswith('SELECT 1 FROM leases '):
            held.add(process[1])
        if re.match(r'DELETE FROM samples WHERE game = \$1 AND part = ', found[1]):
            folded += process[1] in held
            apart += process[1] not in held
        # Rows of one statement are alike.
        sql = re.sub(r'(\(\$\d+[^()]*\))(, \(\$\d+[^()]*\))+', r'\1', found[1].strip())
        seen.add(re.sub(r'\$\d+', '$', sql))
        if re.search(FORBIDDEN, sql) and not re.match(LARGE, sql) or not is_bound(sql):
            wrong.add(sql)
    for sql in sorted(wrong):
        print('is not of one game: ' + sql)
    print(f'{len(seen)} statements looked at; samples were deleted {folded} times by who held their part, else {apart} times')
    # Who waited in vain for the part, or lost the connection that held it, folds without.
    return 1 if wrong or len(seen) < 20 or folded < 10 * apart or folded == 0 else 0


sys.exit(main())
