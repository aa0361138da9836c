# Some fifty of piglit's shader tests through zink: loops, switches, discard, derivatives.
client_needs="piglit Xvfb python3"
client_calls=few

client_prepare() {
    display
    export GALLIUM_DRIVER=zink MESA_LOADER_DRIVER_OVERRIDE=zink LIBGL_ALWAYS_SOFTWARE=true PIGLIT_NO_FAST_SKIP=1
    # Now and then zink on lavapipe reads a picture too early, without us too; less often with one thread.
    export LP_NUM_THREADS=0
}

# piglit_once FOLDER FILTER...
piglit_once() {
    local out=$1
    shift
    rm -rf "$out"
    # unroll-explosion crashes on lavapipe without us.
    run_quietly "$scratch/log" piglit run -p glx -j2 shader -o -x unroll-explosion "$@" "$out"
}

# A test passes if it does in one of three runs.
client_run() {
    local folders=("$scratch/piglit-1") run failed
    piglit_once "$scratch/piglit-1" -t 'spec@glsl-1.(10|20|30)@execution@(loops|switch|discard|derivatives)@'
    for run in 2 3; do
        mapfile -t failed < <(python3 "$PM_SOURCE/tests/system/piglit_results.py" --failed "${folders[@]}")
        [ ${#failed[@]} -gt 0 ] || break
        piglit_once "$scratch/piglit-$run" $(printf -- '-t ^%s$ ' "${failed[@]}")
        folders+=("$scratch/piglit-$run")
    done
    python3 "$PM_SOURCE/tests/system/piglit_results.py" "${folders[@]}" >"$1/results.txt" ||
        fail "piglit's results say nothing"
}
