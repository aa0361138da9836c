#include "aggregator/storage/storage.h"

bool pm_storage_end(struct pm_storage *storage, bool done, struct pm_error *error)
{
    if (done)
        return storage->operations->commit(storage, error);
    storage->operations->rollback(storage);
    return false;
}
