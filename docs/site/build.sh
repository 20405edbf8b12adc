#!/usr/bin/env bash
# Builds the documentation as a site. A broken link or a name that cannot be resolved is an error.
#
#   bash docs/site/build.sh [--playground] [FOLDER]
#
# The site is FOLDER/html (default: build/site), with the playground in FOLDER/html/playground if
# that is asked for, which needs npm. PYTHON names an interpreter that has irshape and
# the dependency group `docs`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

playground=
[ "${1:-}" = --playground ] && playground=yes && shift
folder=${1:-build/site}
python=${PYTHON:-python3}
"$python" -c 'import sphinx, myst_parser, furo, ml_dtypes, pytest' 2>/dev/null || {
    echo "$python lacks packages; name one that has them: PYTHON=… bash $0" >&2
    echo "They come with: python -m pip install --editable . --group docs" >&2
    exit 2
}
mkdir -p "$folder"
PYTHONPATH=$PWD "$python" docs/site/pages.py "$folder/source"
PYTHONPATH=$PWD "$python" -m sphinx -q -W --keep-going -j auto -b html "$folder/source" "$folder/html"
[ -z "$playground" ] || PYTHONPATH=$PWD "$python" playground/make_page.py "$folder/html/playground"
echo "$folder/html/index.html"
