"""Why a file is inconsistent: what takes back, or has in common, what the rules report.

1. `causes.diagnose` takes the findings of the rules. What lies in the file as a whole is looked for
   first: a .bin of another model, another batch, ids that were renumbered (`whole_file/`), elements
   and texts that stand where none belong (`text/`).
2. `search.Search` goes from finding to finding. `elements/slips.py` names the kinds of slips that
   may be behind one; each makes `Candidate`s, edits that would take it back, likeliest first.
3. Each candidate is proven: `elements/alone.py` refutes what the layer by itself contradicts, then
   `trials/` reads, infers and checks the part of the model that it concerns again. A candidate
   after which findings are gone, and no new ones are there, explains those that are gone.
4. The candidate that explains most is a cause: a `Diagnosis`, with the next best beside it.
5. What is left, and causes that have something in common, are told as one (`together/`, where
   `told.Causes` is what is told so far): edges and layers that are missing, what one input, layer
   or text is behind, at last the one layer without which nothing would be left (`suspects.py`).
6. `telling.py` words each diagnosis, and `irshape.checking` reports it in place of the findings
   that it explains. `fix` applies its first candidate, if that is certain.

A text that is not well-formed has no model: `text/well_formed.py` finds its cause alone.
"""

from .candidate import Candidate, Diagnosis
from .causes import diagnose

__all__ = ["Candidate", "Diagnosis", "diagnose"]
