"""What is raised where a change would leave a graph that is not sound."""

from __future__ import annotations

from ..faults import Fault


class GraphError(ValueError):
    """A change that cannot be made; the graph is as it was before.

    operation: the type of the layer that refuses it. operand: the input or attribute to blame,
    where there is one.
    expected, actual: what the operation takes and what it would get.
    """

    def __init__(
        self,
        message: str,
        *,
        operation: str | None = None,
        operand: str | None = None,
        expected: str | None = None,
        actual: str | None = None,
        help: str | None = None,
    ) -> None:
        super().__init__(message if help is None else f"{message}; {help}")
        self.operation = operation
        self.operand = operand
        self.expected = expected
        self.actual = actual
        self.help = help

    @staticmethod
    def of(fault: Fault, operation: str, where: str) -> GraphError:
        """The error for a fault of a layer; `where` names the layer."""
        return GraphError(
            f"{where}: {fault.message}",
            operation=operation,
            operand=fault.at or None,
            expected=fault.expected,
            actual=fault.actual,
            help=fault.help or fault.rule.help,
        )
