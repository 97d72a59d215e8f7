# Run at every build: the commit the program is made from goes to the header OUT, which is
# touched only when that changes. Empty outside of a clone.
cmake_minimum_required(VERSION 3.21)
set(commit "")
execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=12
    OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
file(CONFIGURE OUTPUT "${OUT}" CONTENT "#define GRAPHSS_COMMIT \"@commit@\"\n" @ONLY)
