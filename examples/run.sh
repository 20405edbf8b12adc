#!/usr/bin/env bash
# Validates, infers, runs and cross-checks every model in this folder.
#
#   bash examples/run.sh
#
# Installs irshape with OpenVINO into the virtual environment .venv. PYTHON can name the interpreter.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for python in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}; do
    "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null && break
    python=
done
[ -n "$python" ] || { echo "this needs Python 3.11 to 3.14, for which OpenVINO has wheels; name the interpreter: PYTHON=… bash $0" >&2; exit 2; }

"$python" -m venv .venv
bin=.venv/bin
[ -d "$bin" ] || bin=.venv/Scripts # on Windows
"$bin/python" -m pip install --quiet --editable '.[openvino]'

"$bin/irshape" validate examples/*.xml
for model in examples/*.xml; do
    echo "== $model"
    "$bin/irshape" infer "$model" | tail -n 2
    "$bin/irshape" run "$model" --random | sed -n 1,3p
    "$bin/irshape" crosscheck "$model"
done
