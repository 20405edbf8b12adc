#!/usr/bin/env bash
# Checks style, types and the order of imports, and runs the tests.
#
#   bash tests/run.sh [ARGUMENT OF PYTEST...]
#
# Installs irshape and all that it is developed with into a virtual environment, .venv-dev; PYTHON
# names the interpreter to use.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for python in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}; do
    "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null && break
    python=
done
[ -n "$python" ] || { echo "this needs Python 3.11 to 3.14, which OpenVINO has wheels for; name one: PYTHON=… bash $0" >&2; exit 2; }

"$python" -m venv .venv-dev
bin=.venv-dev/bin
[ -d "$bin" ] || bin=.venv-dev/Scripts # on Windows
"$bin/python" -m pip install --quiet --no-compile --upgrade 'pip>=25.1' # the first that knows --group
"$bin/python" -m pip install --quiet --no-compile --editable . --group dev

unset PYTHONDONTWRITEBYTECODE # the tests start the command hundreds of times

"$bin/ruff" check
"$bin/ruff" format --check
("$bin/mypy" && "$bin/lint-imports") & # beside the tests, which keep no processor busy all the time
types=$!
# one worker more than processors: they wait for OpenVINO, browsers and servers
workers=$("$bin/python" -c 'import os; print((os.cpu_count() or 1) + 1)')
"$bin/python" -m pytest -n "$workers" --dist worksteal "$@"
wait "$types"
