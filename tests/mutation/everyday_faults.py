"""Single faults of everyday editing: in ids, in what stands in which body, and in single words."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import ExitStack
from copy import deepcopy
from itertools import combinations, pairwise

from absence_faults import inner_bodies
from faults import Fault, Tree, Where, changed, layer_of, layers, removed, where
from single_faults import bodies, members
from slip_faults import lines
from structure_faults import entries
from text_faults import Slip, TextFault, matches

EVERYDAY_FAULTS: dict[str, Fault] = {}
EVERYDAY_SLIPS: dict[str, TextFault] = {}
_HEADER = 200
"""So many bytes from the beginning are left alone."""


def everyday_fault(planted: Fault) -> Fault:
    EVERYDAY_FAULTS[planted.__name__.replace("_", "-")] = planted
    return planted


def everyday_slip(planted: TextFault) -> TextFault:
    EVERYDAY_SLIPS[planted.__name__.replace("_", "-")] = planted
    return planted


def _renamed(body: Tree, number: str, other: str) -> ExitStack:
    """Every edge of a body that names one layer names another."""
    stack = ExitStack()
    for edge in body.findall("edges/edge"):
        for name in ("from-layer", "to-layer"):
            if edge.get(name) == number:
                stack.enter_context(changed(edge, name, other))
    return stack


@everyday_fault
def id_changed_in_the_edges(tree: Tree) -> Iterator[Where]:
    """All edges at a layer name one that is not there, or the one behind it."""
    for body in list(bodies(tree)):
        numbers = list(members(body))
        for at, (number, layer) in enumerate(members(body).items()):
            for other in (str(len(numbers) + 400), *numbers[at + 1 : at + 2]):
                with _renamed(body, number, other):
                    yield where(layer)


@everyday_fault
def inner_edge_in_the_outer_net(tree: Tree) -> Iterator[Where]:
    for body, holder in list(inner_bodies(tree)):
        outer = holder.xpath("../../edges")[0]
        for edge in body.findall("edges/edge"):
            with removed(edge):
                outer.append(edge)
                yield where(holder)
                outer.remove(edge)


@everyday_fault
def outer_edge_in_the_body(tree: Tree) -> Iterator[Where]:
    for body, holder in list(inner_bodies(tree)):
        around = holder.xpath("../..")[0]
        group = body.find("edges")
        for edge in around.findall("edges/edge") if group is not None else ():
            with removed(edge):
                group.append(edge)
                yield where(layer_of(around, edge.get("to-layer")))
                group.remove(edge)


@everyday_fault
def body_ids_moved(tree: Tree) -> Iterator[Where]:
    """The layers of a body have ids that neither its edges nor the port map name."""
    for body, holder in list(inner_bodies(tree)):
        for by in (100, 1000):
            with ExitStack() as stack:
                for layer in body.findall("layers/layer"):
                    number = int(str(layer.get("id")))
                    stack.enter_context(changed(layer, "id", str(number + by)))
                yield where(holder)


@everyday_fault
def port_map_entry_in_the_other_branch(tree: Tree) -> Iterator[Where]:
    for layer, entry in list(entries(tree)):
        for name in ("then_port_map", "else_port_map"):
            other = layer.find(name)
            if other is not None and other is not entry.getparent():
                with removed(entry):
                    other.append(entry)
                    yield where(layer)
                    other.remove(entry)


@everyday_fault
def parts_of_the_bodies_exchanged(tree: Tree) -> Iterator[Where]:
    """The two bodies of an If have each other's layers, or each other's edges."""
    for layer in list(layers(tree)):
        for tag in ("layers", "edges"):
            one, other = (layer.find(f"{name}_body/{tag}") for name in ("then", "else"))
            if one is not None and other is not None:
                _exchange(one, other)
                yield where(layer)
                _exchange(one, other)


def _exchange(one: Tree, other: Tree) -> None:
    """What two elements hold changes place."""
    held = list(one), list(other)
    one[:], other[:] = held[1], held[0]


@everyday_fault
def ports_numbered_from_ten(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        with ExitStack() as stack:
            for port in (*layer.findall("input/port"), *layer.findall("output/port")):
                stack.enter_context(changed(port, "id", str(int(str(port.get("id"))) + 10)))
            yield where(layer)


# the text


@everyday_slip
def attribute_without_a_value(data: bytes) -> Iterator[Slip]:
    """An attribute other than a name is empty."""
    for match in matches(r' (?!name)[\w-]+="([^"<>]+)"', data):
        if match.start() > _HEADER:
            yield match.start(1), match.end(1), b""


@everyday_slip
def attribute_name_in_another_case(data: bytes) -> Iterator[Slip]:
    forms = (bytes.upper, bytes.title, lambda name: name.replace(b"-", b"_").capitalize())
    for index, match in enumerate(matches(r' ([\w-]+)="', data)):
        if match.start() > _HEADER:
            yield match.start(1), match.end(1), forms[index % 3](match[1])


@everyday_slip
def blank_in_a_value(data: bytes) -> Iterator[Slip]:
    """A value begins or ends with a blank, or ends with the line."""
    for index, match in enumerate(matches('="([^"<>]+)"', data)):
        if match.start() > _HEADER:
            forms = (b" " + match[1], match[1] + b" ", match[1] + b"\n")
            yield match.start(1), match.end(1), forms[index % 3]


@everyday_slip
def letter_in_a_number(data: bytes) -> Iterator[Slip]:
    for match in matches(r'="(\d*[01]\d*)"', data):
        if match.start() > _HEADER:
            zero = b"0" in match[1]
            other = match[1].replace(*((b"0", b"O") if zero else (b"1", b"l")), 1)
            yield match.start(1), match.end(1), other


@everyday_slip
def full_width_digits(data: bytes) -> Iterator[Slip]:
    for match in matches(r'(?<==")\d+(?=")|(?<=<dim>)\d+(?=<)', data):
        if match.start() > _HEADER:
            other = "".join(chr(0xFF10 + int(digit)) for digit in match[0].decode())
            yield match.start(), match.end(), other.encode()


@everyday_slip
def comma_for_point(data: bytes) -> Iterator[Slip]:
    for match in matches(r'="[^"<>]*?\d(\.)\d', data):
        if match.start() > _HEADER:
            yield match.start(1), match.end(1), b","


def _blocks(data: bytes, most: int) -> Iterator[tuple[random.Random, list[tuple[int, int]], int]]:
    """For each line a random choice, some lines from it on, and the index of the line."""
    rows = list(lines(data))
    drawn = random.Random(len(data))
    for at in range(2, len(rows) - 40):
        yield drawn, rows[at : at + drawn.randint(1, most)], at


@everyday_slip
def lines_cut_and_pasted_below(data: bytes) -> Iterator[Slip]:
    rows = list(lines(data))
    for drawn, block, at in _blocks(data, 5):
        stop = rows[at + len(block) - 1 + drawn.randint(1, 12)][1]
        start, end = block[0][0], block[-1][1]
        yield start, stop, data[end:stop] + data[start:end]


@everyday_slip
def lines_copied_elsewhere(data: bytes) -> Iterator[Slip]:
    rows = list(lines(data))
    for drawn, block, at in _blocks(data, 6):
        place = rows[at + len(block) + drawn.randint(1, 30)][0]
        yield place, place, data[block[0][0] : block[-1][1]]


@everyday_slip
def some_lines_deleted(data: bytes) -> Iterator[Slip]:
    for _, block, _ in _blocks(data, 6):
        yield block[0][0], block[-1][1], b""


def _inside(data: bytes) -> Iterator[tuple[random.Random, int, int]]:
    """For each line a random choice, and where its words begin and end."""
    drawn = random.Random(len(data))
    for start, end in lines(data):
        words = data[start:end]
        begin = start + len(words) - len(words.lstrip())
        stop = start + len(words.rstrip())
        if start > _HEADER and stop - begin > 3:
            yield drawn, begin, stop


@everyday_slip
def end_of_a_line_lost(data: bytes) -> Iterator[Slip]:
    for drawn, start, end in _inside(data):
        yield drawn.randint(start + 1, end - 1), end, b""


@everyday_slip
def beginning_of_a_line_lost(data: bytes) -> Iterator[Slip]:
    for drawn, start, end in _inside(data):
        yield start, drawn.randint(start + 1, end - 1), b""


@everyday_slip
def typed_by_accident(data: bytes) -> Iterator[Slip]:
    """A key of an editor was pressed somewhere in a line."""
    for drawn, start, end in _inside(data):
        at = drawn.randint(start + 1, end - 1)
        yield at, at, drawn.choice((b"j", b"x", b"asdf", b":w", b" ", b"\n", b"\\", b"~"))


@everyday_slip
def selection_deleted(data: bytes) -> Iterator[Slip]:
    """From a place in a line on, some characters are gone."""
    for drawn, start, end in _inside(data):
        at = drawn.randint(start, end - 1)
        yield at, min(at + drawn.randint(2, 60), len(data) - 1), b""


@everyday_slip
def other_quotes(data: bytes) -> Iterator[Slip]:
    pairs = ("``", "''"), ("«", "»"), ("`", "`"), ("′′", "′′"), ("'", '"'), ('"', "''")
    for index, match in enumerate(matches('="([^"<>]*)"', data)):
        if match.start() > _HEADER:
            one, other = pairs[index % len(pairs)]
            yield match.start() + 1, match.end(), one.encode() + match[1] + other.encode()


@everyday_slip
def line_escaped(data: bytes) -> Iterator[Slip]:
    for start, end in lines(data):
        line = data[start:end].replace(b"&", b"&amp;").replace(b"<", b"&lt;")
        if start > _HEADER:
            yield start, end, line.replace(b">", b"&gt;")


@everyday_slip
def line_in_another_case(data: bytes) -> Iterator[Slip]:
    for index, (start, end) in enumerate(lines(data)):
        line = data[start:end]
        other = line.upper() if index % 2 else line.lower()
        if start > _HEADER and other != line:
            yield start, end, other


@everyday_slip
def values_swapped_in_a_tag(data: bytes) -> Iterator[Slip]:
    drawn = random.Random(len(data))
    for tag in matches("<(?:layer|edge|port|data|input|output) [^<>]*>", data):
        values = list(re.finditer(rb'="([^"]*)"', tag[0]))
        pairs = [(a, b) for a, b in combinations(values, 2) if a[1] != b[1]]
        if pairs:
            one, other = drawn.choice(pairs)
            start = tag.start()
            between = tag[0][one.end(1) : other.start(1)]
            yield start + one.start(1), start + other.end(1), other[1] + between + one[1]


@everyday_slip
def line_replaced_by_a_near_one(data: bytes) -> Iterator[Slip]:
    rows = list(lines(data))
    drawn = random.Random(len(data))
    for at in range(20, len(rows) - 20):
        other = data[slice(*rows[at + drawn.choice((-9, -5, -3, -2, 2, 3, 5, 9))])]
        if data[slice(*rows[at])].strip() != other.strip():
            yield *rows[at], other


@everyday_slip
def name_misspelt_in_a_window(data: bytes) -> Iterator[Slip]:
    """Search and replace in some lines."""
    rows = list(lines(data))
    drawn = random.Random(len(data))
    for at in range(4, len(rows) - 30, 3):
        start, end = rows[at][0], rows[at + drawn.randint(4, 25)][1]
        name, other = drawn.choice(((b"port", b"prot"), (b"<dim>", b"<din>"), (b"dim>", b"Dim>")))
        replaced = data[start:end].replace(name, other)
        if replaced != data[start:end]:
            yield start, end, replaced


@everyday_slip
def edges_doubled(data: bytes) -> Iterator[Slip]:
    for group in matches(r"(?:[ \t]*<edge [^<>]*/>\r?\n){3}", data):
        yield group.end(), group.end(), group[0]


@everyday_slip
def edges_deleted(data: bytes) -> Iterator[Slip]:
    for group in matches(r"(?:[ \t]*<edge [^<>]*/>\r?\n){3}", data):
        yield group.start(), group.end(), b""


@everyday_slip
def layer_pasted_inside_another(data: bytes) -> Iterator[Slip]:
    rows = list(matches(r"(?s)<layer [^<>]*>(?:(?!</?layer).)*?</layer>", data))
    drawn = random.Random(len(data))
    for one, other in zip(rows, rows[2:], strict=False):
        place = other.start() + drawn.choice([m.end() for m in re.finditer(rb">\n", other[0])])
        yield place, place, one[0] + b"\n"


@everyday_slip
def tag_moved_by_lines(data: bytes) -> Iterator[Slip]:
    rows = list(lines(data))
    drawn = random.Random(len(data))
    for at in range(8, len(rows) - 8):
        start, end = rows[at]
        if not data[start:end].strip().startswith((b"<dim", b"<edge")):
            way = drawn.randint(2, 4)
            before, behind = rows[at - way][0], rows[at + way][1]
            if at % 2:
                yield before, end, data[start:end] + data[before:start]
            else:
                yield start, behind, data[end:behind] + data[start:end]


@everyday_fault
def body_layer_renumbered(tree: Tree) -> Iterator[Where]:
    """A Parameter or Result of a body has another id, which its edges name, too."""
    for body, holder in list(inner_bodies(tree)):
        free = str(max(map(int, members(body))) + 3)
        for number, layer in list(members(body).items()):
            if layer.get("type") in ("Parameter", "Result"):
                with changed(layer, "id", free), _renamed(body, number, free):
                    yield where(holder)


@everyday_fault
def body_deleted(tree: Tree) -> Iterator[Where]:
    for body, holder in list(inner_bodies(tree)):
        with removed(body):
            yield where(holder)


@everyday_slip
def some_lines_in_a_comment(data: bytes) -> Iterator[Slip]:
    for _, block, _ in _blocks(data, 9):
        start, end = block[0][0], block[-1][1]
        if b"<!--" not in data[start:end]:
            yield start, end, b"<!--" + data[start:end].rstrip(b"\n") + b"-->\n"


@everyday_slip
def far_lines_exchanged(data: bytes) -> Iterator[Slip]:
    rows = list(lines(data))
    drawn = random.Random(len(data))
    for at in range(4, len(rows) - 40):
        other = at + drawn.randint(4, 30)
        (start, middle), (last, end) = rows[at], rows[other]
        if data[start:middle].strip() != data[last:end].strip():
            yield start, end, data[last:end] + data[middle:last] + data[start:middle]


@everyday_slip
def two_lines_into_one(data: bytes) -> Iterator[Slip]:
    """The end of a line and the beginning of the next are lost."""
    drawn = random.Random(len(data))
    for (start, _), (_, end) in pairwise(lines(data)):
        one, other = data[start:end].split(b"\n")[:2]
        if start > _HEADER and min(len(one.strip()), len(other.strip())) > 5:
            kept = len(one) - drawn.randint(1, len(one.strip()) - 2)
            gone = len(other) - drawn.randint(2, len(other.strip()) - 1)
            yield start + kept, start + len(one) + 1 + gone, b""


@everyday_slip
def mark_behind_a_tag(data: bytes) -> Iterator[Slip]:
    marks = (b",", b";", b".", b'"', b"'", b"\\", b" |", b">")
    for index, match in enumerate(matches(r"</?\w+[^<>]*>(?=\s*\n)", data)):
        if match.start() > _HEADER:
            yield match.end(), match.end(), marks[index % len(marks)]


@everyday_slip
def prefix_of_some_lines(data: bytes) -> Iterator[Slip]:
    """Lines of a letter, of a patch, or of a listing."""
    for drawn, block, at in _blocks(data, 9):
        prefix = drawn.choice((b"> ", b"+", b"# ", b"// ", b"| ", b"%d: "))
        text = b"".join(
            (prefix % (at + number) if b"%" in prefix else prefix) + data[start:end]
            for number, (start, end) in enumerate(block)
        )
        yield block[0][0], block[-1][1], text


@everyday_fault
def entries_of_a_port_map_shifted(tree: Tree) -> Iterator[Where]:
    """All entries of a port map name the port, or the layer, behind their own."""
    for layer in list(layers(tree)):
        for group in (layer.find(f"{prefix}port_map") for prefix in ("", "then_", "else_")):
            for name in ("external_port_id", "internal_layer_id") if group is not None else ():
                with ExitStack() as stack:
                    for entry in group:
                        text = str(entry.get(name))
                        if text.isdigit():
                            stack.enter_context(changed(entry, name, str(int(text) + 1)))
                    yield where(layer)


@everyday_fault
def dimensions_of_the_port_before(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        for one, other in pairwise((*layer.findall("input/port"), *layer.findall("output/port"))):
            if [dim.text for dim in one] != [dim.text for dim in other]:
                kept = list(other)
                other[:] = [deepcopy(dim) for dim in one]
                yield where(layer)
                other[:] = kept


@everyday_slip
def lines_carried_into_another_layer(data: bytes) -> Iterator[Slip]:
    """Some lines are cut, and pasted before a line that stands much further on, or far before."""
    rows = list(lines(data))
    drawn = random.Random(len(data))
    for at in range(4, len(rows) - 70, 2):
        start, end = rows[at][0], rows[at + drawn.choice((0, 0, 1, 3))][1]
        place = rows[at + drawn.randint(30, 60)][0]
        if at % 4:
            yield start, place, data[end:place] + data[start:end]
        else:
            block = data[rows[at + 60][0] : rows[at + 60][1]]
            yield start, rows[at + 60][1], block + data[start : rows[at + 60][0]]


@everyday_slip
def beginning_twice(data: bytes) -> Iterator[Slip]:
    for start, _ in lines(data):
        if start > _HEADER:
            yield 0, 0, data[:start]


@everyday_slip
def declaration_in_another_notation(data: bytes) -> Iterator[Slip]:
    root = data.index(b"<net")
    for text in (
        *('<?xml version="1,0"?>', "<?xml version=1.0?>", '<xml version="1.0"?>'),
        *('<?xml version="1.0">', '?xml version="1.0"?>', '<?xml version="1.0"??>'),
    ):
        yield 0, root, text.encode() + b"\n"


@everyday_slip
def letter_of_an_id_lost(data: bytes) -> Iterator[Slip]:
    for index, match in enumerate(matches("<port (id)=", data)):
        yield match.start(1), match.end(1), b"id"[index % 2 :][:1]


@everyday_slip
def word_replaced_everywhere(data: bytes) -> Iterator[Slip]:
    for word in (b"dim", b"output", b"input", b"port"):
        for other in (word.upper(), word[:-1] + b"e", b"new_" + word):
            yield 0, len(data), data.replace(word, other)


@everyday_slip
def end_tag_added_by_the_editor(data: bytes) -> Iterator[Slip]:
    for match in matches(r"<(layer|port|input|output)\b[^<>]*[^<>/]>(?=\s*<[a-z])", data):
        yield match.end(), match.end(), b"</" + match[1] + b">"
