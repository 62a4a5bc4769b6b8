"""What a store promises reaches through the stores in front of it."""
import re

from tree import text


def test_forwarding_stores_forward_every_operation():
    store = text("zarrcore/store/store.h")
    store = store[store.index("class ZARRCORE_API Store {"):]
    every = set(re.findall(r"virtual [^;{(]*?(\w+)\(", store)) - {"Store"}
    assert 16 <= len(every) <= 20  # what distinguishes requests is in their options
    for path in ("zarrcore/store/forwarding_store.h",
                 "autotest/cpp/store/forwarding_store_test.cpp"):
        overridden = re.findall(r"(\w+)\([^;{}]*\) (?:const )?override", text(path))
        assert every <= set(overridden), path
