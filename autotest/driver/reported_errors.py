"""What GDAL reports while Python closes objects, where nothing can be caught."""
import sys


def reported_errors(body):
    """The texts of the errors that a call raises or reports."""
    texts = []
    hook, sys.unraisablehook = sys.unraisablehook, lambda ignored: texts.append(
        str(ignored.exc_value))
    try:
        body()
    except RuntimeError as error:
        texts.append(str(error))
    finally:
        sys.unraisablehook = hook
    return "\n".join(texts)
