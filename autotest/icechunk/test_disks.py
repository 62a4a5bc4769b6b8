"""A commit on a full disk is an error, and the branch stays as it was until there is space
again."""
import numpy as np
import pytest
from arrays import ArrayNode, contents_of, perform
from night import rounds
from repositories import closed, create_repository, open_root, open_to_write
from test_full_disk import file_system, fill
from verifier import verify

VALUES = np.random.default_rng(3).random(40_000)  # 320 KB

# Errors while an object is deleted become exceptions that Python can only print.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def write(path):
    """Returns the errors."""
    dataset = [open_to_write(path)]
    root = dataset[0].GetRootGroup()
    errors = []
    try:
        perform(root, "array", "a", ArrayNode([40_000], [1000], "f8"))
        perform(root, "write", "a", [0], VALUES)
        perform(root, "attribute", "", "n", 5)
    except RuntimeError as error:
        errors.append(str(error))
    root = None
    return errors + closed(dataset)


@pytest.mark.parametrize("version", [1, 2])
def test_old_or_new(tmp_path_factory, version):
    """Whatever is free: nothing, less than the chunks need, or not enough for the rest."""
    # Newer bindings cut errors that have others as their cause at 499 characters: short paths.
    with file_system(tmp_path_factory.mktemp("d") / "d", "2m") as disk:
        path = disk / "r"
        create_repository(path, version)
        before = verify(path).branches["main"]
        has_failed = []
        for free in range(0, 1_000_000, rounds(60_000, 4096)):
            fill(disk, free)
            errors = write(path)
            (disk / "filler").unlink()
            if not errors:
                break
            has_failed.append(free)
            assert any("No space left" in error for error in errors), errors
            assert verify(path).branches == {"main": before}
        assert len(has_failed) > 3 and not errors
        found = contents_of(open_root(f"ICECHUNK:{path}"))
        assert found["a"][3] == VALUES.tobytes()
        assert found[""] == ({"n": 5},)
        verify(path)
