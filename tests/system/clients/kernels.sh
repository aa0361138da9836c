# Generated kernels of 5,000 operations, whole and cut into passes by the program itself, which compares the bits of both.
client_operations="400 1000"
client_validated=no

client_run() {
    run_quietly "$scratch/log" "$PM_BUILD/bench/partition_kernels" kernels 1000 5000 5000
    # The times differ.
    cut -d '|' -f 2-5 "$scratch/log" >"$1/kernels"
    grep -q FFT "$1/kernels"
}
