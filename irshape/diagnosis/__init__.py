"""Why a file is inconsistent: the single slip that explains what the rules report.

`causes` asks in turn what lies in the file as a whole (`whole_file/`), in its text (`text/`) and in
single elements: there `search` tries the slips that `elements/` proposes, as `trials/` tells what
each would change.
"""

from .candidate import Candidate, Diagnosis
from .causes import diagnose

__all__ = ["Candidate", "Diagnosis", "diagnose"]
