"""Each builder names the archive, convention or program whose metadata it has."""
import re

import pytest
from builders import BUILDERS, SOURCES


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_a_source_has_a_name_a_licence_and_a_date(name):
    source = SOURCES[name]
    assert source.name and source.licence
    assert re.fullmatch(r"20\d\d(-(0[1-9]|1[0-2]))?", source.described)
    assert "://" not in source.name + source.licence


def test_each_source_has_a_builder():
    used = {builder.source for builder in BUILDERS.values()}
    assert not [name for name, source in SOURCES.items() if source not in used]


def test_each_builder_has_a_source():
    assert {builder.source for builder in BUILDERS.values()} <= set(SOURCES.values())
