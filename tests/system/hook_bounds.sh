#!/bin/bash
# What our hooks add to a game's calls, in instructions by callgrind (bench/cost/draw_cost.sh, push_cost.sh), stays within its
# goals: 40 a call outside windows (4 a draw, 16 a bind), 40 a draw (50 while its shader is owed calls) and 115 a bind in one;
# and, where it is below its goal or misses it, near what it has reached. What begins and ends something is one, and so is
# "reset", a command buffer with the reset before it; "early" is executing a secondary before it is known that the game records
# anew, and its part of the submission (docs/results/cost.md).
. "$(dirname "$0")/lib.sh"
need valgrind

# bound ROW KINDS LIMIT...: a limit for each kind of that row
bound() {
    local row=$1 kinds=$2 kind found cells i=0
    shift 2
    cells=$(sed -n "s/^| $row | \\(.*\\) |\$/\\1/p" "$scratch/table" | tr -d ' ')
    [ -n "$cells" ] || { cat "$scratch/table" >&2; fail "there is no row: $row"; }
    IFS='|' read -ra found <<<"$cells"
    for kind in $kinds; do
        echo "$row: $kind: ${found[$i]}, at most $1"
        awk -v found="${found[$i]}" -v most="$1" 'BEGIN { exit !(found != "" && found <= most) }' ||
            { echo "too many" >&2; failed=1; }
        shift
        i=$((i + 1))
    done
}

failed=0
# measure P KINDS [PROGRAM]
measure() {
    PM_OTHERS=no PM_P=$1 PM_KINDS=$2 PM_FEW=${PM_FEW-5000} PM_MANY=${PM_MANY-55000} \
        "$PM_SOURCE/bench/cost/${3-draw_cost}.sh" "$PM_BUILD" >"$scratch/table" || fail "${3-draw_cost}.sh failed"
}

outside="Piecemeal, outside a window"
kinds="occlusion rendering pass execute early buffer reset sbuffer sreset ubuffer"
measure "" "$kinds"
bound "$outside" "$kinds" 40 40 40 20 45 40 40 40 40 40
# A device's first recordings, from which it is learned whether the game keeps them. These are so few that what differs
# between two starts may be some instructions of each: the best of three.
kinds="buffer reset" before=$failed
for _ in 1 2 3; do
    failed=$before
    PM_FEW=200 PM_MANY=1000 measure "" "$kinds"
    bound "$outside" "$kinds" 40 40
    [ $failed != "$before" ] || break
done
kinds="draw dispatch"
measure 0.01 "$kinds"
bound "$outside" "$kinds" 5 5
bound "Piecemeal, in a window, p = 0.01" "$kinds" 40 40
# Of a pipeline without a variant, whose shader is owed what was chosen of it.
PM_OWED=0.01 measure "" odraw
bound "Piecemeal, in a window, p = 0.01, variants for 2 pipelines" odraw 50
# Two pipelines in turn, where nothing stands for them and where variants do. In recordings that may be submitted again (k…)
# a bind also says how often its calls are chosen, outside windows too.
# Where statistics may be asked for (q…) every recording's binds are noted, for what would have to be bound again; the goal
# is 16 there, too (docs/results/cost.md).
kinds="bind2 gbind2 kbind2 kgbind2 qbind2 qgbind2"
PM_STANDS=0.01 measure 0.01 "$kinds"
bound "$outside" "$kinds" 10 10 60 60 10 10
bound "$outside, where variants stand" "$kinds" 20 20 65 65 38 38
bound "Piecemeal, in a window, p = 0.01" "$kinds" 45 45 70 70 45 45
bound "Piecemeal, in a window, p = 0.01, where variants stand" "$kinds" 45 45 70 70 45 45
# While there is a variant for values of push constants: a bind of its pipeline, one of others, executing a secondary.
kinds="bind others execute"
PM_FEW=2000 PM_MANY=12000 measure "" "$kinds" push_cost
bound "Piecemeal, with a variant" "$kinds" 220 40 70
# Queries that see no variant, as of occlusion, leave a record that is short as it is: with the bind they took 268.
PM_STANDS=0.01 measure "" qoccluded
bound "$outside, where variants stand" qoccluded 70
[ $failed = 0 ] || fail "more instructions than they may take"
