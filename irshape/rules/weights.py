"""IR5xx: the .bin, and the constants in it."""

from __future__ import annotations

from collections.abc import Iterator

from ..inference.result import Mismatch
from ..model.graph import Finding
from ..model.weights import Weights, strings_fault
from ..spelling import with_noun
from .base import Rule
from .context import Context


class MissingWeights(Rule):
    """The .bin is missing, empty, unreadable or a Git LFS pointer.

    ## What it does
    Reports, once for each file, that the constants of the model have no data: the .bin is missing,
    empty, unreadable, or a Git LFS pointer.

    ## Why it matters
    The model cannot be run, and irshape cannot check anything that depends on the values of
    constants.

    ## What OpenVINO does
    Rejects the model without naming the file: "Empty weights data in bin file or bin file cannot be
    found!" or, for an empty .bin, "Incorrect weights in bin file!".

    ## Example
    ```xml
    <!-- model.xml, without a model.bin beside it -->
    <data element_type="i64" shape="1" offset="0" size="8"/>
    ```

    ## How to fix it
    Put the .bin beside the .xml under the same name, or pass it with `--weights FILE`. For a Git
    LFS pointer, run `git lfs pull`. `--weights none` checks the .xml alone.
    """

    doubt = "values"
    refused = True

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        weights = context.model.weights
        if weights is None or weights.state in ("ready", "absent"):
            return
        # OpenVINO reads an empty .bin if no constant has bytes, but needs the file
        least = 0 if weights.state == "missing" else 1
        needing = [each for each in context.constants if each[1].size >= least]
        if not needing:
            return
        total = max(constant.offset + constant.size for _, constant in needing)
        verb = "needs" if len(needing) == 1 else "need"
        size = with_noun(total, "byte")
        count = f"{with_noun(len(needing), 'constant')} {verb} {size} from it"
        name = _name(weights)
        messages = {
            "missing": f"there is no {name} next to the .xml; {count}",
            "empty": f"{name} is empty; {count}",
            "lfs": f"{name} is a Git-LFS pointer, not the weights themselves; {count}",
            "unreadable": f"{name} cannot be read: {weights.detail}",
        }
        layer, _ = needing[0]
        total = max(total, 1)
        yield cls.finding(
            messages[weights.state],
            layer,
            expected=with_noun(total, "byte"),
            actual=weights.state,
            help="run `git lfs pull`"
            if weights.state == "lfs"
            else "name the .bin with --weights FILE, or check the model without it with --weights "
            "none",
        )


def _name(weights: Weights) -> str:
    """Returns the file name of the .bin, without its folder."""
    return (weights.path or "the .bin").replace("\\", "/").rpartition("/")[2]


class ConstantOutOfRange(Rule):
    """A constant lies outside the .bin.

    ## What it does
    Reports a Const whose `offset` and `size` extend past the end of the .bin.

    ## Why it matters
    If the .bin was truncated or belongs to another model, every constant may be wrong. Otherwise,
    the offset or the size is wrong.

    ## What OpenVINO does
    Rejects the model without saying which constant it is or how many bytes are missing: "Incorrect
    weights in bin file!".

    ## Example
    ```xml
    <!-- with a .bin of 8 bytes -->
    <data element_type="i64" shape="1" offset="8" size="8"/>
    ```

    ## How to fix it
    Get the .bin that belongs to the .xml, or correct offset and size.

    ## Use instead
    ```xml
    <data element_type="i64" shape="1" offset="0" size="8"/>
    ```
    """

    doubt = "values"
    suspects = ("constants",)
    refused = True

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        weights = context.model.weights
        if weights is None or weights.state != "ready":
            return
        if context.constants_end <= weights.size:
            return
        for layer, constant in context.constants:
            end = constant.offset + constant.size
            if end > weights.size:
                yield cls.finding(
                    f"the constant ends at byte {end}, but {_name(weights)} has "
                    f"{with_noun(weights.size, 'byte')}: {end - weights.size} too few",
                    layer.data_offset,
                    layer,
                    expected=f"at most {weights.size}",
                    actual=str(end),
                    help="the .bin is truncated or belongs to another model, or offset and size "
                    "are wrong",
                )


class ConstantSize(Rule):
    """The size of a constant does not fit its shape and element type.

    ## What it does
    Compares `size` with the number of elements and the width of the element type, also of packed
    types such as u4. For strings, compares their number and offsets, which the .bin contains, with
    the shape and the size.

    ## Why it matters
    The size, the shape or the element type is wrong, so the values are not the intended ones.

    ## What OpenVINO does
    Rejects a size that is too small, without naming the layer: "Attribute and shape size are
    inconsistent for Const op!4, 8, 8". If the size is too large, it silently uses the first
    bytes.

    ## Example
    ```xml
    <data element_type="i64" shape="1" offset="0" size="4"/>
    ```

    ## How to fix it
    Correct the size, the shape or the element type.

    ## Use instead
    ```xml
    <data element_type="i64" shape="1" offset="0" size="8"/>
    ```
    """

    suspects = ("constants",)
    doubt = "layer"

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for layer, constant in context.constants:
            if constant.element_type.kind == "string":
                fault = strings_fault(constant)
                if fault is not None:
                    yield cls.finding(
                        fault,
                        layer.data_offset,
                        layer,
                        expected=f"{constant.elements} strings",
                        help="the .bin belongs to another model, or offset, size or shape are "
                        "wrong",
                    )
                continue
            if constant.element_type.kind == "dynamic":
                continue
            needed = constant.element_type.byte_size(constant.elements)
            if constant.size == needed or (not constant.elements and constant.size == 1):
                continue  # OpenVINO's writer gives a constant without elements one byte
            size = with_noun(needed, "byte")
            surplus = f"; OpenVINO silently uses only the first {size}"
            yield cls.finding(
                f"{constant.element_type} {constant.partial_shape} takes {size}, but size "
                f"is {constant.size}{surplus if constant.size > needed else ''}",
                context.model.source.attribute(layer.data_offset, "size"),
                layer,
                expected=str(needed),
                actual=str(constant.size),
                help=f'write size="{needed}", or correct shape or element_type',
            )


class UnusedWeights(Rule):
    """The .bin is longer than the constants need.

    ## What it does
    Reports bytes after the last constant.

    ## Why it matters
    The .bin may belong to another model, or constants were removed from the .xml.

    ## What OpenVINO does
    Accepts it silently.

    ## Example
    ```xml
    <!-- with a .bin of 16 bytes -->
    <data element_type="i64" shape="1" offset="0" size="8"/>
    ```

    ## How to fix it
    Check that the two files belong together. Reading and saving the model with OpenVINO drops
    unused bytes.
    """

    trifling = True

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        weights = context.model.weights
        if weights is None or weights.state != "ready":
            return
        end = context.constants_end
        if weights.size > max(end, 1):  # a file that holds no data may have one byte
            yield cls.finding(
                f"{_name(weights)} has {with_noun(weights.size, 'byte')}, but its constants end at "
                f"byte {end}, which leaves {with_noun(weights.size - end, 'byte')} unused",
                0,
                expected=str(end),
                actual=str(weights.size),
                help="check that the .bin belongs to this .xml",
            )


class OverlappingConstants(Rule):
    """Two constants share some of their bytes, but not all.

    ## What it does
    Reports one of two constants that overlap: the one that does not lie directly beside a third
    constant, otherwise the later one. Constants that share all of their bytes are not reported.

    ## Why it matters
    No writer does this on purpose: an offset is probably wrong.

    ## What OpenVINO does
    Accepts it silently.

    ## Example
    ```xml
    <data element_type="i64" shape="2" offset="0" size="16"/>
    <data element_type="i64" shape="2" offset="8" size="16"/>
    ```

    ## How to fix it
    Correct the wrong offset.

    ## Use instead
    ```xml
    <data element_type="i64" shape="2" offset="0" size="16"/>
    <data element_type="i64" shape="2" offset="16" size="16"/>
    ```
    """

    suspects = ("constants",)

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        users = {
            (constant.offset, used): layer
            for layer, constant in reversed(context.constants)
            if (used := min(constant.size, constant.element_type.byte_size(constant.elements)))
        }  # the first of those that share bytes
        starts = {offset for offset, _ in users}
        ends = {0, *(offset + size for offset, size in users)}
        last = (0, 0)
        faults: dict[tuple[int, int], tuple[int, int]] = {}
        for place in sorted(users):
            if place[0] < sum(last):
                # another constant lies directly before or after one that is right
                loose = [each[0] not in ends and sum(each) not in starts for each in (last, place)]
                wrong, right = (last, place) if loose == [True, False] else (place, last)
                faults.setdefault(wrong, right)
            last = max(last, place, key=sum)
        for wrong, right in faults.items():
            layer, other = users[wrong], users[right]
            yield cls.finding(
                f"the constant's bytes {wrong[0]} to {sum(wrong)} overlap bytes {right[0]} to "
                f"{sum(right)} of '{other.name}' (id {other.id})",
                context.model.source.attribute(layer.data_offset, "offset"),
                layer,
                expected="bytes that no other constant uses, or all bytes of another constant",
                actual=str(wrong[0]),
                help="correct the wrong offset",
            )


class ConstantType(Rule):
    """A constant declares another element type than the ports around it.

    ## What it does
    Reports a Const whose `element_type` differs both from the type of its own port and from the
    type of a port that it feeds. If only its own port differs, the finding is IR202.

    ## Why it matters
    OpenVINO interprets the bytes as another type, for example the four bytes of an f32 as an i32.

    ## What OpenVINO does
    Silently uses `element_type`, or rejects the layer that the constant feeds: "Arguments do not
    have the same element type (arg0 element type: f32, arg1 element type: i32)."

    ## Example
    ```xml
    <layer id="1" name="axes" type="Const" version="opset1">
        <data element_type="f32" shape="1" offset="0" size="4"/>
        <output><port id="0" precision="I32"><dim>1</dim></port></output>
        <!-- and feeds a port of I32 -->
    </layer>
    ```

    ## How to fix it
    If the bytes have the type that the ports declare, write it as `element_type`. If they have the
    type in `element_type`, declare it in the ports, as `irshape fix` does.

    ## Use instead
    ```xml
    <layer id="1" name="axes" type="Const" version="opset1">
        <data element_type="i32" shape="1" offset="0" size="4"/>
        <output><port id="0" precision="I32"><dim>1</dim></port></output>
    </layer>
    ```
    """

    doubt = "values"
    suspects = ("ports", "constants")

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if not context.mistyped:
            return
        for layer, mismatch in context.observed(Mismatch):
            if layer in context.mistyped:
                given, meant = mismatch.inferred.element_type, mismatch.declared.element_type
                yield cls.finding(
                    f"element_type is {given}, but the output port of the constant and the input "
                    f"ports that it feeds declare {meant.precision}",
                    context.model.source.attribute(layer.data_offset, "element_type"),
                    layer,
                    port=("output", layer.outputs[mismatch.position].id),
                    expected=str(meant),
                    actual=str(given),
                    help=f'write element_type="{meant}" if the bytes are {meant}; if they are '
                    f"{given}, declare {given.precision} in the ports, as `irshape fix` does",
                )
