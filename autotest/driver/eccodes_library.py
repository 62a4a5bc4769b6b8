"""GRIB messages by ECMWF's library eccodes, through its C functions: its Python module brings a
second PROJ into the process. `available()` is true if the library is installed."""
import ctypes
import ctypes.util

import numpy as np

DOUBLES = ctypes.POINTER(ctypes.c_double)


def load():
    name = ctypes.util.find_library("eccodes") or "libeccodes.so.0"
    try:
        library = ctypes.CDLL(name)
    except OSError:
        return None
    library.codes_handle_new_from_samples.restype = ctypes.c_void_p
    library.codes_handle_new_from_message_copy.restype = ctypes.c_void_p
    return library


LIBRARY = load()


def available():
    return LIBRARY is not None


class Message:
    def __init__(self, sample=None, message=None):
        if sample is not None:
            handle = LIBRARY.codes_handle_new_from_samples(None, sample.encode())
        else:
            handle = LIBRARY.codes_handle_new_from_message_copy(None, message,
                                                                ctypes.c_size_t(len(message)))
        assert handle, f"eccodes has no {sample}"
        self.handle = ctypes.c_void_p(handle)

    def __del__(self):
        LIBRARY.codes_handle_delete(self.handle)

    def call(self, function, key, *arguments):
        code = getattr(LIBRARY, f"codes_{function}")(self.handle, key.encode(), *arguments)
        assert code == 0, f"{function} of {key}: error {code}"

    def set(self, **keys):
        for key, value in keys.items():
            if isinstance(value, str):
                self.call("set_string", key, value.encode(),
                          ctypes.byref(ctypes.c_size_t(len(value))))
            elif isinstance(value, float):
                self.call("set_double", key, ctypes.c_double(value))
            else:
                self.call("set_long", key, ctypes.c_long(value))
        return self

    def long(self, key):
        value = ctypes.c_long()
        self.call("get_long", key, ctypes.byref(value))
        return value.value

    def set_values(self, values):
        values = np.ascontiguousarray(values, "f8").ravel()
        self.call("set_double_array", "values", values.ctypes.data_as(DOUBLES),
                  ctypes.c_size_t(values.size))
        return self

    def set_longs(self, key, values):
        self.call("set_long_array", key, (ctypes.c_long * len(values))(*values),
                  ctypes.c_size_t(len(values)))
        return self

    def doubles(self, key):
        size = ctypes.c_size_t()
        self.call("get_size", key, ctypes.byref(size))
        values = np.empty(size.value)
        self.call("get_double_array", key, values.ctypes.data_as(DOUBLES), ctypes.byref(size))
        return values

    def bytes(self):
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        code = LIBRARY.codes_get_message(self.handle, ctypes.byref(data), ctypes.byref(size))
        assert code == 0
        return ctypes.string_at(data, size.value)


def values_of(message):
    """As kerchunk's codec has them: missing ones are NaN."""
    values = Message(message=message).doubles("values")
    return np.where(values == 9999, np.nan, values)
