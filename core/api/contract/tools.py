"""Installs the tools of make contract exactly as package-lock.json and requirements.txt name them.

    tools.py CACHE

They go into a folder of CACHE that is named after the lists, and its path is printed: all checkouts with the same lists share
it, and a second run does nothing. Whoever comes while another one installs waits for it.
"""

import fcntl
import hashlib
import pathlib
import shutil
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
LISTS = ("package.json", "package-lock.json", "requirements.txt")


def install(folder):
    for name in LISTS:
        shutil.copy(HERE / name, folder)
    subprocess.run(["npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, check=True, stdout=sys.stderr)
    # It stays where it was made: the scripts in it name their folder.
    venv.create(folder / "py", clear=True, with_pip=True)
    pip = [folder / "py/bin/pip", "install", "--quiet", "--no-deps", "-r", folder / "requirements.txt"]
    subprocess.run(pip, check=True, stdout=sys.stderr)


def main():
    cache = pathlib.Path(sys.argv[1]).resolve()
    whole = hashlib.sha256(sys.version.encode())
    for name in LISTS:
        whole.update((HERE / name).read_bytes())
    folder = cache / f"contract-{whole.hexdigest()[:16]}"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "installed"
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            install(folder)
            done.touch()
    print(folder)


main()
