"""Running commands, and using an installed zarrcore."""
import os
import subprocess

from toolchain import COMPILER, CONFIGURE, ROOT

__all__ = ["COMPILER", "CONFIGURE", "ROOT", "Installed", "run"]


def run(*command, code=0, **environment):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            timeout=900, env=os.environ | environment)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


class Installed:
    """A prefix with zarrcore, and how to build programs against it."""

    def __init__(self, prefix, build, is_shared):
        self.prefix, self.build, self.is_shared = prefix, build, is_shared

    @property
    def library(self):
        (found,) = self.prefix.glob("lib*/libzarrcore.so" if self.is_shared
                                    else "lib*/libzarrcore.a")
        return found

    def pkg_config(self, *options):
        return run("pkg-config", *options, "zarrcore",
                   PKG_CONFIG_PATH=str(self.library.parent / "pkgconfig")).split()

    def compile(self, source, program, *options):
        """With pkg-config; warnings are errors."""
        run(COMPILER, "-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", source, "-o", program,
            *self.pkg_config("--cflags", "--libs"), f"-Wl,-rpath,{self.library.parent}", *options)
        return program
