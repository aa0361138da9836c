# What the tests of a client share, that compare what it draws with the layer and without; sourced (bash) after the
# test's own arguments are there: CLIENT DRIVER [ARGUMENT], CLIENT being a file of clients/ (invisible.sh says what is in
# one). Leaves the layer out, and what the client needs made.
client=$1 client_driver=$2 client_argument=${3-}
set -- "$(IFS=-; echo "$*")"
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/clients/$client.sh"

# shellcheck disable=SC2086  # one word a program
need ${client_needs-}
driver "$client_driver"
without_layer
if [ "$(type -t client_prepare)" = function ]; then
    client_prepare
fi
