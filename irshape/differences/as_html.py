"""The structural difference of two models as a page: a single file that loads nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files

from ..diagnostics.renderers.as_html.markup import html_page, text
from ..model.graph import Layer
from ..spelling import counted
from ..version import __version__
from .result import Change, LayerDiff, ModelDiff, Unmatched

MAX_ENTRIES = 5_000
"""The maximum number of entries of each kind; a larger page would open slowly. The page says how
many it leaves out."""

_STYLE = """
.card.changed { border-left-color: var(--warning) }
.card.removed { border-left-color: var(--error) }
.card.added { border-left-color: var(--ok) }
.number.changed b { color: var(--warning) } .number.removed b { color: var(--error) }
.number.added b { color: var(--ok) } .number.zero b { color: var(--soft) }
table.changes { border-collapse: collapse; width: 100%; font-size: 13.5px }
.changes td { padding: 4px 18px; vertical-align: top; overflow-wrap: anywhere }
.changes td:first-child { color: var(--soft); width: 220px }
.changes td.old { color: var(--error) } .changes td.new { color: var(--ok) }
.changes td.old, .changes td.new { width: 40%; font-family: ui-monospace, Menlo, monospace }
p.ends { margin: 0; padding: 8px 18px; font-size: 13.5px; overflow-wrap: anywhere }
.card h3 { font-size: 14px; padding: 9px 18px } .card { margin-bottom: 10px }
"""


def page(diff: ModelDiff) -> str:
    """Returns the page, which is both HTML and well-formed XML."""
    renderer = "irshape.diagnostics.renderers.as_html"
    style = files(renderer).joinpath("report.css").read_text("utf-8") + _STYLE
    return html_page(f"{diff.first.path} and {diff.second.path}", style, _body(diff))


def _body(diff: ModelDiff) -> Iterator[str]:
    state, words = ("ok", "equal") if diff.equal else ("warning", "different")
    yield f'<header>\n<h1>irshape diff <span class="verdict {state}">{words}</span></h1>\n'
    yield f"<p><code>{text(diff.first.path)}</code> → <code>{text(diff.second.path)}</code></p>\n"
    yield '<div class="numbers">'
    for name, count in diff.summary.items():
        kind = name if count else "zero"
        yield f'<div class="number {kind}"><b>{count:,}</b><span>{name}</span></div>'
    yield "</div>\n</header>\n<main>\n"
    for note in diff.notes:
        yield f'<p class="note">{text(note)}</p>\n'
    if diff.equal:
        yield '<div class="clean"><p class="big">✓</p><p>The models are equal.</p></div>\n'
    if diff.changes:
        yield f'<h2>Models</h2>\n<div class="card changed">{_table(diff.changes)}</div>\n'
    yield from _section("Changed", [each for each in diff.changed if not each.inherited])
    yield from _alone("Removed", diff.removed)
    yield from _alone("Added", diff.added)
    inherited = [each for each in diff.changed if each.inherited]
    if inherited:
        yield "<details>\n<summary>Types and shapes that follow from those of inputs: "
        yield f"{counted(len(inherited), 'layer')}</summary>\n"
        yield from _section("", inherited)
        yield "</details>\n"
    yield f"</main>\n<footer><p>irshape {text(__version__)}</p></footer>\n"


def _section(title: str, changed: Sequence[LayerDiff]) -> Iterator[str]:
    if not changed:
        return
    if title:
        yield f"<h2>{title} <small>{counted(len(changed), 'layer')}</small></h2>\n"
    for each in changed[:MAX_ENTRIES]:
        yield f'<div class="card changed"><h3>{_layer(each.first)}'
        if each.first.label != each.second.label:
            yield f" → {_layer(each.second)}"
        yield f"</h3>{_table(each.changes)}</div>\n"
    yield _rest(len(changed))


def _alone(title: str, layers: Sequence[Unmatched]) -> Iterator[str]:
    shown = [each for each in layers if not each.constant]
    if not shown:
        return
    more = len(layers) - len(shown)
    with_constants = f", with {counted(more, 'constant')}" if more else ""
    yield f"<h2>{title} <small>{counted(len(shown), 'layer')}{with_constants}</small></h2>\n"
    for each in shown[:MAX_ENTRIES]:
        yield f'<div class="card {title.lower()}"><h3>{_layer(each.layer)}</h3>'
        for word, ends in (("takes", each.inputs), ("feeds", each.users)):
            if ends:
                yield f'<p class="ends">{word} {", ".join(map(_layer, ends[:8]))}'
                yield f"{', …' if len(ends) > 8 else ''}</p>"
        yield "</div>\n"
    yield _rest(len(shown))


def _rest(count: int) -> str:
    left = count - MAX_ENTRIES
    return f'<p class="note">{left:,} more are not shown.</p>\n' if left > 0 else ""


def _table(changes: Sequence[Change]) -> str:
    rows = "".join(
        f'<tr><td>{text(change.what)}</td><td class="old">{_value(change.old)}</td>'
        f'<td class="new">{_value(change.new)}</td></tr>'
        for change in changes
    )
    return f'<table class="changes"><tbody>{rows}</tbody></table>'


def _value(value: str | None) -> str:
    return "<i>none</i>" if value is None else text(value)


def _layer(layer: Layer) -> str:
    place = "/".join([*layer.path, layer.id])
    return f"{text(layer.type)} <code>{text(layer.name)}</code> <small>id {text(place)}</small>"
