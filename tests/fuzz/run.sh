#!/usr/bin/env bash
# Tries mutants of every kind of file on every command.
#
#   bash tests/fuzz/run.sh --seconds 3600 --keep FOLDER [--jobs N]
#
# Installs irshape into a virtual environment, .venv-fuzz; PYTHON names the
# interpreter to use.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

"${PYTHON:-python3}" -m venv .venv-fuzz
bin=.venv-fuzz/bin
"$bin/python" -m pip install --quiet --upgrade 'pip>=25.1' # the first that knows --group
"$bin/python" -m pip install --quiet --editable . --group dev
exec "$bin/python" tests/fuzz/fuzz.py "$@"
