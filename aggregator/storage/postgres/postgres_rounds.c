/* Rounds over the games of the PostgreSQL storage, in several transactions. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

#include "aggregator/storage/names.h"

bool pm_pg_enter_round(struct pm_storage *storage, struct pm_pg_round *round, uint32_t day,
                       struct pm_error *error)
{
    if (round->day == day && round->ended < round->games.count)
        return true;
    pm_names_finish(&round->games);
    *round = (struct pm_pg_round){.day = day};
    if (pm_names_of_games(&round->games, storage, NULL, error))
        return true;
    pm_names_finish(&round->games); /* some may be missing */
    return false;
}

static void end_round(struct pm_pg_round *round, bool committed)
{
    if (committed)
        round->ended = round->reached;
    else
        round->reached = round->ended;
}

void pm_pg_end_rounds(struct pm_postgres *postgres, bool committed)
{
    end_round(&postgres->pruning, committed);
    end_round(&postgres->settling, committed);
}

void pm_pg_forget_rounds(struct pm_postgres *postgres)
{
    pm_names_finish(&postgres->pruning.games);
    pm_names_finish(&postgres->settling.games);
}
