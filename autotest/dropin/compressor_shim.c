/* A codec that reverses the bytes of a chunk, for GDAL's registry of compressors. It rejects options
   that it does not get as its metadata declares them. */
#include <cpl_compressor.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <string.h>

static bool reverse(const void* input, size_t size, void** output, size_t* output_size,
                    CSLConstList options, void* user_data) {
  const char* level = CSLFetchNameValue(options, "level");
  (void)user_data;
  if (level != NULL && EQUAL(level, "9")) return false;
  if (output_size == NULL) return false;
  if (output == NULL) {
    *output_size = size;
    return true;
  }
  if (*output == NULL) *output = VSIMalloc(size);
  else if (*output_size < size) return false;
  for (size_t i = 0; i < size; ++i) {
    ((char*)*output)[i] = ((const char*)input)[size - 1 - i];
  }
  *output_size = size;
  return true;
}

/* Registers the codec; `directions` is "both", "compress" or "decompress". */
__attribute__((visibility("default"))) void register_codec(const char* id, const char* options,
                                                           const char* directions) {
  CPLCompressor codec;
  memset(&codec, 0, sizeof codec);
  codec.nStructVersion = 1;
  codec.eType = CCT_COMPRESSOR;
  codec.pszId = id;
  char** metadata = options != NULL ? CSLSetNameValue(NULL, "OPTIONS", options) : NULL;
  codec.papszMetadata = (CSLConstList)metadata;
  codec.pfnFunc = reverse;
  if (!EQUAL(directions, "decompress")) CPLRegisterCompressor(&codec);
  if (!EQUAL(directions, "compress")) CPLRegisterDecompressor(&codec);
  CSLDestroy(metadata);
}
