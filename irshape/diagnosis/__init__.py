"""Why a file is inconsistent: the single slip that explains what the rules report."""

from .candidate import Candidate, Diagnosis
from .causes import diagnose

__all__ = ["Candidate", "Diagnosis", "diagnose"]
