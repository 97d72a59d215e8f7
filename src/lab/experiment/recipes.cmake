# recipes/*.recipe become constant tables, recipe_rows.h, when CMake runs: `graphss reproduce`
# then works from anywhere.
file(GLOB recipes CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/recipes/*.recipe")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${recipes})
set(rows "")
foreach(path ${recipes})
    get_filename_component(name "${path}" NAME_WE)
    file(READ "${path}" hex HEX)
    file(SIZE "${path}" size)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(APPEND rows "{\"${name}\", (const unsigned char[]){${bytes}0}, ${size}},\n")
endforeach()
file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/generated/recipe_rows.h"
     CONTENT "/* Made from recipes/ by src/lab/experiment/recipes.cmake. */\n@rows@" @ONLY)
target_include_directories(graphss_lab_objects PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/generated")
