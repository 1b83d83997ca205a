# cmake -DNM=nm -DOBJECTS=A|B -DPATTERN=REGEX -P kernel_symbols.cmake: fail if an object file whose
# path matches PATTERN defines a weak symbol.
#
# The kernels are compiled for several instruction sets. Of a weak symbol, such as an inline function
# or an instance of a template, the linker keeps one copy for the whole program. The copy could use
# instructions that the CPU does not have.
string(REPLACE "|" ";" objects "${OBJECTS}")
list(FILTER objects INCLUDE REGEX "${PATTERN}")
if(NOT objects)
  message(FATAL_ERROR "no object file matches ${PATTERN}")
endif()
foreach(object IN LISTS objects)
  execute_process(COMMAND "${NM}" --demangle "${object}" OUTPUT_VARIABLE symbols
                  RESULT_VARIABLE failed)
  if(failed OR symbols STREQUAL "")
    message(FATAL_ERROR "${NM} cannot list the symbols of ${object}")
  endif()
  # W, w, V, and v: weak; u: unique in the process.
  string(REGEX MATCHALL "(^|\n)[0-9a-f ]+ [WwVvu] [^\n]*" weak "${symbols}")
  if(weak)
    message(NOTICE "weak symbols in ${object}: ${weak}")
    message(FATAL_ERROR "kernels must define no weak symbol")
  endif()
  message(STATUS "no weak symbol in ${object}")
endforeach()
