# Completion of gdal_zarr for bash: commands, options and files.
_gdal_zarr() {
  local words
  words=$(gdal_zarr completion "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _gdal_zarr gdal_zarr
