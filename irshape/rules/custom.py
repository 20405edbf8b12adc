"""IR910 to IR949: rules that a team writes as XPath expressions in its configuration."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..faults import Fault
from ..model.graph import Finding, Layer, Model
from .base import Rule
from .context import Context
from .settings import CustomRule

if TYPE_CHECKING:
    from ..xpath.evaluator import Evaluator, SelectedNode

PLACEHOLDERS = ("id", "name", "type", "version", "text")
"""The placeholders of a message: fields of the layer, and the matched attribute or text."""

_evaluators: dict[int, Evaluator] = {}
"""Maps the id of each process to its XPath worker: a forked process needs its own worker."""


def evaluator() -> Evaluator:
    """Returns the worker process that evaluates XPath expressions on behalf of this process."""
    import atexit

    from ..xpath.evaluator import Evaluator

    known = _evaluators.get(os.getpid())
    if known is None:
        known = _evaluators[os.getpid()] = Evaluator()
        atexit.register(known.close)
    return known


def check_message(message: str) -> None:
    """Raises `ValueError` for an unknown placeholder in a message."""
    from string import Formatter

    for _, name, form, conversion in Formatter().parse(message):
        if name is not None and (name not in PLACEHOLDERS or form or conversion):
            known = ", ".join(f"{{{each}}}" for each in PLACEHOLDERS)
            raise ValueError(f"'{{{name}}}' is not a placeholder; a message may contain {known}")


class CustomRuleFailed(Rule):
    """The expression of a custom rule could not be evaluated on this model.

    ## What it does
    Reports a rule of `[[rules.custom]]` whose XPath takes too long on the model, needs too much
    memory, or calls a function that does not exist.

    ## Why it matters
    The model has not been checked against that rule.

    ## What OpenVINO does
    Has no rules of this kind.

    ## Example
    ```toml
    [[rules.custom]]
    code = "IR910"
    xpath = "//layer[no-such-function(.)]"
    message = "never said"
    ```

    ## How to fix it
    Try the expression with `irshape query`, and simplify it: `//*` inside a condition of another
    `//*` visits every pair of elements.

    ## Use instead
    ```toml
    [[rules.custom]]
    code = "IR910"
    xpath = "//layer[@type='Convert'][data/@destination_type='f64']"
    message = "converts to f64"
    ```
    """

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        enabled = context.settings.enabled
        custom = [
            rule for rule in context.settings.custom if enabled is None or rule.id.code in enabled
        ]
        if not custom:
            return
        from ..xpath.document import Document, ports
        from ..xpath.evaluator import XPathError

        document = Document(context.model)
        worker = evaluator()
        try:
            worker.load(document.data, ports(context.inference), document.encoding)
        except XPathError as problem:
            message = f"the custom rules could not be evaluated: {problem}"
            yield cls.finding(message, 0)
            return
        for rule in custom:
            try:
                matches = worker.find(rule.xpath)
            except XPathError as problem:
                message = f"the XPath of {rule.id.code} could not be evaluated: {problem}"
                yield cls.finding(message, 0, actual=rule.xpath)
                continue
            if matches.value:
                yield Finding(_fault(rule, context.model, None, None), 0)
            places = document.places(matches.nodes)
            reported: set[tuple[int, Layer | None, str | None]] = set()
            for match, (offset, layer) in zip(matches.nodes, places, strict=True):
                if (offset, layer, match.text) not in reported:
                    reported.add((offset, layer, match.text))
                    yield Finding(_fault(rule, context.model, layer, match), offset, layer)


def _fault(
    rule: CustomRule, model: Model, layer: Layer | None, match: SelectedNode | None
) -> Fault:
    message = rule.message.format(
        id=layer.id if layer is not None else "",
        name=layer.name if layer is not None else model.name,
        type=layer.type if layer is not None else "net",
        version=layer.version if layer is not None else str(model.version),
        text=(match.text if match is not None else None) or "",
    )
    return Fault(rule.id, message, help=rule.help)
