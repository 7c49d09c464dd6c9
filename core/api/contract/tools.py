"""Installs the tools of make contract into a folder, exactly as package-lock.json and requirements.txt name them.

    tools.py FOLDER

What is there already and made from the same lists stays, so that a second run does nothing.
"""

import pathlib
import shutil
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent


def differs(name, folder):
    there = folder / name
    return not there.exists() or there.read_bytes() != (HERE / name).read_bytes()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    if differs("package-lock.json", folder):
        work = folder / "npm"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, work)
        subprocess.run(["npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=work, check=True)
        shutil.rmtree(folder / "node_modules", ignore_errors=True)
        (work / "node_modules").rename(folder / "node_modules")
        shutil.copy(HERE / "package-lock.json", folder)
    if differs("requirements.txt", folder):
        venv.create(folder / "py", clear=True, with_pip=True)
        subprocess.run([folder / "py/bin/pip", "install", "--quiet", "--no-deps", "-r", HERE / "requirements.txt"], check=True)
        shutil.copy(HERE / "requirements.txt", folder)


main()
