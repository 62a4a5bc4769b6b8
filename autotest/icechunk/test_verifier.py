"""The verifier accepts what the reference writes, and finds what is wrong."""
import shutil

import pytest
from flat_buffers import Table
from model import GROUP, array, for_call
from verifier import verify


@pytest.fixture(params=[1, 2])
def made(request, tmp_path, judge):
    """A repository of the reference."""
    at = tmp_path / "repository"
    judge.create(at=at, format=request.param)

    def commit(branch, *changes, **options):
        return judge.commit(at=at, branch=branch, changes=for_call(changes), **options)

    first = commit("main", ("set", "zarr.json", GROUP), ("set", "g/zarr.json", GROUP),
                   ("set", "g/a/zarr.json", array([4, 3], [2, 2], dimension_names=["y", None])),
                   ("set", "g/a/c/0/0", b"inline"), ("set", "g/a/c/1/0", bytes(600)))
    judge.create_tag(at=at, name="kept", snapshot=first)
    judge.create_tag(at=at, name="deleted", snapshot=first)
    judge.delete_tag(at=at, name="deleted")
    for name in ("dev", "gone"):
        judge.create_branch(at=at, name=name, snapshot=first)
    commit("dev", ("set", "g/a/zarr.json", array([2, 3], [2, 2])), ("set", "a/zarr.json", GROUP))
    commit("dev", ("delete_folder", "g/a"))
    if request.param == 2:
        commit("main", ("move", "g", "h"))
        commit("main", ("set", "x/zarr.json", GROUP))
        commit("main", ("set", "y/zarr.json", GROUP), amend=True)
    judge.reset_branch(at=at, name="dev", snapshot=first)
    judge.delete_branch(at=at, name="gone")
    return at


def test_the_reference(made):
    repository = verify(made, is_ours=False)
    assert set(repository.branches) == {"main", "dev"}
    assert set(repository.tags) == {"kept"} and repository.deleted_tags == ["deleted"]
    shapes = [node.counts for snapshot in repository.snapshots.values()
              for node in snapshot.nodes.values() if node.refs]
    assert (2, 2) in shapes


@pytest.mark.parametrize("folder", ["snapshots", "manifests", "transactions", "chunks"])
def test_missing_files(made, folder):
    shutil.rmtree(made / folder)
    with pytest.raises((AssertionError, OSError)):
        verify(made, is_ours=False)


def test_leftovers(made):
    (made / "repo#1").touch()
    with pytest.raises(AssertionError):
        verify(made, is_ours=False)
    verify(made, is_ours=False, may_have_leftovers=True)


def table(*fields):
    """A buffer with one table of numbers of 32 bits."""
    size = 4 + 4 * len(fields)
    field_table = b"".join(number.to_bytes(2, "little") for number in (
        4 + 2 * len(fields), size, *(4 + 4 * i for i in range(len(fields)))))
    start = 8 + len(field_table) + -len(field_table) % 4
    content = (start - 8).to_bytes(4, "little") + b"".join(
        field.to_bytes(4, "little") for field in fields)
    return b"\0" * 8 + field_table.ljust(start - 8, b"\0") + content, start


def test_tables():
    buffer, start = table(7, 8)
    found = Table(buffer, start)
    assert [found.number(i, "I") for i in range(3)] == [7, 8, 0]
    with pytest.raises(AssertionError, match="not aligned"):
        found.number(0, "Q")
    with pytest.raises(AssertionError):
        Table(buffer[:-1], start)
