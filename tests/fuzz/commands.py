"""What is done with a mutant: the commands of irshape, in this process, as a shell calls them."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from zlib import crc32

import click

from irshape.diagnostics.renderers import formats

from .case import PARTS, Case
from .seeds import beside

LIMITS = ("--max-memory", "100M", "--max-iterations", "1000")
WORDS = {
    "LIMITS": LIMITS,
    "MEMORY": LIMITS[:2],
    "ALONE": ("--isolated", "--no-cache"),
    "OUT": ("-o", "out.xml"),
    "PAGE": ("-o", "page.html"),
}

Form = tuple[str, ...]


def forms(text: str) -> dict[str, list[Form]]:
    """The forms of commands by name, from rows `NAME | ARGUMENTS`: a name begins with a command."""
    table: dict[str, list[Form]] = {}
    for row in text.strip().splitlines():
        name, arguments = row.split(" | ")
        words = name.split()[:1] + arguments.split()
        form = tuple(part for word in words for part in WORDS.get(word, (word,)))
        table.setdefault(name, []).append(form)
    return table


VALIDATE = [f"validate | {{}} -v ALONE --format {name}" for name in formats()]
MODEL = forms("\n".join(VALIDATE)) | forms("""
infer | {}
infer | {} --format json
infer | {} OUT
infer | {} --symbols
infer | {} --symbols --format json
run | {} --random LIMITS
run | {} --random --force --stats LIMITS
run | {} --random --force --simulate f16 --outputs all LIMITS
run | {} --input x.npy --format json LIMITS
fix | {} --diff
fix | {} OUT
fix | {} --unsafe-fixes OUT
requires | {}
requires | {} --format json
convert | {} OUT
convert | {} OUT --force
compare | {} right.xml --runtime irshape MEMORY
compare | {} {} --runtime irshape --force MEMORY
compare | right.xml {} --runtime irshape -f json MEMORY
crosscheck | {} --replay right.npz MEMORY
crosscheck | {} --replay right.npz --force -v MEMORY
inspect | {}
inspect | {} --format json --sort parameters
explain | {}
explain | {} --format json
explain | {} 2 --format html
explain | {} 1 --axis 0
diff | {} right.xml
diff | right.xml {} --format json
edit | {} --fold --clean --f16 OUT
edit | {} --drop-fake-quantize --batch 1..8 --compress-to-f16 OUT
edit | {} --make-stateless --seq 4 --strip-weights OUT
edit | {} --inline 2 --max-iterations 20 OUT
edit | {} --outline 2 OUT
edit | {} --restore-weights right.xml --remove 2 OUT
edit | {} --cut 0 --add-output 1 --drop-unused-inputs OUT
extract | {} --around 2 --distance 1 OUT
extract | {} --to 1 OUT
extract | {} --from 1 OUT
merge | {} right.xml --prefix b/ OUT
merge | right.xml {} OUT
split | {} --at 1 -o part.xml
view | {} PAGE
view | {} --histograms --target 2024.1 PAGE
view | {} --beside right.xml PAGE
view | right.xml --beside {} --no-symbols PAGE
validate several | right.xml {} wrong.xml -v ALONE --format jsonl
validate several | {} export -v ALONE --jobs 1 --statistics
""")
MODEL |= {name: [("{}",)] for name in ("graph", "query", "again", "reduce", "remote", "device")}
"""The forms of every command that takes a model; `{}` is the mutant. Those with one word are
functions below: a process for each mutant, as `query` and `reduce` start one, would take most of
the time."""

OTHERS = {
    "configuration": forms("""
validate | wrong.xml --config {} --no-cache
validate a sound model | right.xml --config {} --no-cache
validate a sound model | wide.xml --config {} --no-cache
"""),
    "baseline": forms("""
validate | wrong.xml --isolated --baseline {} --no-cache
validate --update-baseline | wrong.xml --baseline {} --update-baseline --isolated
"""),
    "recording": forms("""
crosscheck | right.xml --replay {} MEMORY
crosscheck | right.xml --replay {} --format json MEMORY
"""),
    "result": forms("""
view --crosscheck | right.xml --crosscheck {} PAGE
view --stats | right.xml --stats {} PAGE
view --node-data | right.xml --node-data {} PAGE
view --compare | right.xml --beside wide.xml --compare {} PAGE
"""),
    "array": forms("""
run | right.xml --input {} LIMITS
run | {} --random
"""),
}

OPTIONS = {
    name: form
    for name, (form,) in forms("""
infer --shape | right.xml --shape={}
infer --value | wrong.xml --value={}
run --shape | right.xml --random --shape={} LIMITS
run --input | right.xml --input={}
run --max-memory | right.xml --random --max-memory={}
validate --select | wrong.xml ALONE --select={}
validate --ignore | wrong.xml ALONE --ignore={}
validate --per-file-ignores | wrong.xml ALONE --per-file-ignores={}
validate --target | right.xml ALONE --target={}
validate --extension | right.xml ALONE --extension={}
validate --shard | right.xml ALONE --shard={}
validate --value | wrong.xml ALONE --value={}
convert --shape | right.xml OUT --shape={}
crosscheck --rtol | right.xml --replay right.npz --rtol={}
infer --assume | wide.xml --symbols --shape=x=[batch,seq] --assume={}
infer --symbols | wide.xml --symbols --shape={}
explain --assume | wide.xml --shape=x=[batch,seq] --assume={}
explain | wide.xml -- {}
inspect --shape | right.xml --shape={}
edit --set | right.xml --set={} OUT
edit --bind | right.xml --bind={} OUT
edit --rename | right.xml --rename={} OUT
edit --reshape | right.xml --reshape={} OUT
edit --remove | right.xml --remove={} OUT
edit --cut | right.xml --cut={} OUT
edit --mean | right.xml --mean={} OUT
edit --input-layout | right.xml --input-layout={} OUT
edit --make-stateful | right.xml --make-stateful={} OUT
edit --keep | right.xml --f16 --keep={} OUT
extract --from | right.xml --from={} OUT
split --at | right.xml --at={} -o part.xml
merge --connect | right.xml right.xml --prefix=b/ --connect={} OUT
query | --timeout 1 -- {} right.xml
ops | -- {}
rule | -- {}
""").items()
}
"""The options whose values are mutated. None of them names a file that is written."""


class Failure(Exception):
    """A command did something that it never may, beside raising an exception."""


class Call(NamedTuple):
    """A command as it is called, or a function of the API under its name."""

    name: str
    arguments: tuple[str, ...]


def calls(case: Case, *, every: bool = False) -> Iterator[Call]:
    """What is done with a case: one of its commands, by its checksum.

    every: each form of each command.
    """
    if case.kind == "argument":
        name, value = case.parts[0].decode(), os.fsdecode(case.parts[1].replace(b"\0", b""))
        if name in OPTIONS:
            form = OPTIONS[name]
            yield Call(name, tuple(part.replace("{}", value, 1) for part in form))
        return
    file = PARTS[case.kind][0]
    commands = OTHERS.get(case.kind) or MODEL
    rows = [(name, form) for name, forms in commands.items() for form in forms]
    if not every:
        draw = crc32(b"".join(case.parts))
        first, *_ = names = list(commands)
        name = [first, first, first, *names][draw % (len(names) + 3)]  # the first most often
        rows = [(name, commands[name][draw // 32 % len(commands[name])])]
    for name, form in rows:
        yield Call(name, tuple(file if part == "{}" else part for part in form))


class Folder:
    """The folder in which the commands run, with the files that they read beside the mutant."""

    def __init__(self, path: Path) -> None:
        self.path = path
        for name, data in beside().items():
            (path / name).parent.mkdir(exist_ok=True)
            (path / name).write_bytes(data)
        self._open: dict[str, tuple[BinaryIO, bytes]] = {}

    def write(self, case: Case) -> None:
        """Puts the files of a case in the place of those of the one before."""
        if case.kind == "argument":
            return
        for name, data in zip(PARTS[case.kind], case.parts, strict=True):
            file, content = self._open.get(name, (None, b""))
            if not data and name == "m.bin":
                if file is not None:
                    file.close()
                    (self.path / name).unlink()
                    del self._open[name]
            elif file is None:
                file = self._open[name] = ((self.path / name).open("wb", buffering=0), data)
                file[0].write(data)
            elif content != data:  # a file that stays open is written in half the time
                os.pwrite(file.fileno(), data, 0)
                file.truncate(len(data))
                self._open[name] = (file, data)

    def check(self) -> None:
        """Raises `Failure` where a partly written file was left behind."""
        left = [name for name in os.listdir(self.path) if name.startswith(".")]
        for name in left:
            (self.path / name).unlink()
        if left:
            raise Failure(f"files were left behind: {left}")


def perform(call: Call) -> int:
    """Calls a command; its exit status. What it raises is a bug, and so is another status."""
    if len(call.arguments) == 1:
        API[call.name](call.arguments[0])
        return 0
    streams = [_stream("strict"), _stream("backslashreplace")]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        try:
            status = _status(call)
        finally:
            for stream in streams:
                stream.flush()
    if status not in (0, 1, 2):
        raise Failure(f"{call.name} ends with {status}")
    if status == 0 and "out.xml" in call.arguments:
        import irshape

        irshape.load("out.xml")  # what was written can be read
    return status


def _status(call: Call) -> int:
    """The exit status. What is the same for all mutants is parsed once: click takes a third of the
    time of a small file."""
    from irshape.cli import cli, main

    try:
        if call.name in OPTIONS:
            main(list(call.arguments))
        context = _contexts.get(call.arguments)
        if context is None:
            name, *arguments = call.arguments
            command = cli.get_command(click.Context(cli), name)
            assert command is not None
            context = _contexts[call.arguments] = command.make_context(name, arguments)
        assert context.command.callback is not None
        with context.scope(cleanup=False):
            context.command.callback(**context.params)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 1
    except click.exceptions.Exit as done:
        return done.exit_code
    except (click.ClickException, OSError):  # what `main` takes for no bug
        return 2
    return 0


_contexts: dict[tuple[str, ...], click.Context] = {}


def _stream(errors: str) -> io.TextIOWrapper:
    """As Python opens the standard streams: what cannot be written is an error on stdout only."""
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors=errors, newline="")


def _graph(path: str) -> None:
    """Loads a graph, changes it in every way that needs no name, saves it, loads it again."""
    import irshape

    try:
        graph = irshape.Graph.load(path)
    except (irshape.LoadError, irshape.GraphError):
        return
    copy = graph.copy()
    for change in (copy.clean, copy.fold, copy.strip_weights, copy.compress_to_f16, copy.to_f16):
        with contextlib.suppress(irshape.GraphError):
            change()
    for one in (graph, copy):
        try:
            one.save("graph.xml")
        except irshape.GraphError:
            continue
        again = irshape.validate("graph.xml")
        if not again.ok:
            raise Failure(f"a saved graph is not sound: {again.diagnostics[0]}")


class InProcess:
    """The worker of `irshape query` in this process; to talk to another takes most of the time."""

    def load(self, data: bytes, ports: Any, encoding: str | None) -> None:
        from lxml import etree

        from irshape.xpath.evaluator import XPathError
        from irshape.xpath.worker import ParsedDocument

        try:
            self._document = ParsedDocument(data, ports or {}, encoding)
        except (etree.LxmlError, ValueError) as problem:  # as the worker does
            raise XPathError(str(problem)) from None

    def find(self, xpath: str) -> Any:
        from irshape.xpath.evaluator import Matches, SelectedNode

        answer = self._document.evaluate(xpath)
        nodes = [SelectedNode(*row) for row in answer.get("matches", ())]
        return Matches(nodes, answer.get("value"))


def _query(path: str) -> None:
    """What `irshape query` does."""
    import irshape
    from irshape.cli.query import matches
    from irshape.xpath.evaluator import XPathError

    try:
        model = irshape.load(path)
    except irshape.LoadError:
        return
    expression = "//layer[shape(.)='[2,3]' or producer(.)] | //@offset | //*[text()]"
    with contextlib.suppress(XPathError):
        list(matches(model, expression, InProcess()))  # type: ignore[arg-type]


def _again(path: str) -> None:
    """The same file gives the same report, at places that exist; a second fix changes nothing."""
    import irshape

    first, second = irshape.validate(path), irshape.validate(path)
    if first.to_dict() != second.to_dict():
        raise Failure("the same file gives another report")
    if any(one.line < 1 or one.column < 1 for one in first.diagnostics):
        raise Failure("a finding has no place")
    str(first)
    if path != "m.xml":
        return
    fixes = irshape.fix(path)
    Path("fixed.xml").write_bytes(fixes.data)
    if fixes.data != Path(path).read_bytes() and not fixes.edits:
        raise Failure("a fix changes what it does not name")
    if os.path.exists("m.bin"):
        shutil.copyfile("m.bin", "fixed.bin")
    else:
        Path("fixed.bin").unlink(missing_ok=True)
    if fixes.edits and irshape.fix("fixed.xml").edits:
        raise Failure("a second fix finds something left")


def _reduce(path: str) -> None:
    """Reduces a model in a few tries that a checksum decides. A sound model stays sound."""
    import irshape

    try:
        model = irshape.load(path)
    except irshape.LoadError:
        return
    tries = 0

    def draw(candidate: irshape.Model) -> bool:
        nonlocal tries
        tries += 1
        return tries == 1 or crc32(b"%d %d" % (tries, len(candidate.net.layers))) % 3 > 0

    try:
        reduction = irshape.reduce(model, draw, max_tries=3)
    except ValueError:  # single layers; what cannot be written again
        return
    reduction.save("reduced.xml")
    if irshape.validate(path).ok and not (after := irshape.validate("reduced.xml")).ok:
        raise Failure(f"a sound model is reduced to one that is not: {after.diagnostics[0]}")


def _remote(path: str) -> None:
    """A model behind a URL has the findings that it has as a file."""
    import fsspec

    import irshape

    memory = fsspec.filesystem("memory")
    stem, suffix = os.path.splitext(path)
    for name in (path, f"{stem}.bin"):
        memory.store.pop(f"/{name}", None)
        if os.path.exists(name):
            memory.pipe_file(f"/{name}", Path(name).read_bytes())
    url = f"memory://{stem}{suffix}"
    with contextlib.suppress(irshape.LoadError):
        irshape.infer(url)
    reports = [irshape.validate(each).diagnostics for each in (path, url)]
    findings = [[(one.code, one.line, one.column) for one in each] for each in reports]
    if findings[0] != findings[1]:
        raise Failure(f"other findings behind a URL: {findings}")


def _device(path: str) -> None:
    """The cross-check of a model with a device that computes as irshape does, and is wrong by a
    little in some layers and by much in others, as checksums of their names decide."""
    import irshape
    from irshape.comparison.crosscheck_run import Circumstances
    from irshape.comparison.crosschecking import compared
    from irshape.comparison.progress import Progress
    from irshape.execution.inputs import random_inputs
    from irshape.execution.session import ExecutionError, Session

    limit = 100 << 20
    try:
        session = Session(irshape.load(path), max_memory=limit, max_iterations=1000)
        inputs = session.bind(random_inputs(session.model, 0, max_memory=limit))
        options = {"device": "CPU", "hint": None, "config": {}, "layers": "all"}
        device = WrongDevice()
        str(compared(session, inputs, Circumstances(device, options, Progress(), max_memory=limit)))
    except (irshape.LoadError, ExecutionError, ValueError):
        return


class WrongTensor(NamedTuple):
    """A value of `WrongDevice`."""

    values: Any

    def array(self) -> Any:
        return self.values


class WrongDevice:
    """Answers as a device of OpenVINO does, with irshape's values, some of them altered."""

    def ask(self, question: Any) -> Any:
        from irshape.comparison.answers import Answer
        from irshape.comparison.crosscheck_run import device_name
        from irshape.execution.session import ExecutionError, Session
        from irshape.numpy_types import element_type_of

        values: dict[tuple[str, int], WrongTensor] = {}
        shapes: dict[str, list[tuple[str, str]]] = {}

        def observe(layer: Any, _: Any, outputs: Any) -> None:
            name = device_name(layer)
            shapes[name] = []
            for port, given in enumerate(outputs):
                array = self._altered(given, crc32(f"{name} {question.label}".encode()))
                values[name, port] = WrongTensor(array)
                sizes = ",".join(map(str, array.shape))
                shapes[name].append((element_type_of(given).name, f"[{sizes}]"))

        session = Session(question.model, max_memory=100 << 20, max_iterations=1000)
        problem = None
        try:
            session.run(question.inputs, observe=observe)
        except ExecutionError as stopped:
            problem = str(stopped)
        return Answer("2026.4", "CPU", None, None, shapes, values, problem, "f32", {})

    @staticmethod
    def _altered(array: Any, draw: int) -> Any:
        import numpy as np

        if array.dtype.kind not in "fiu" or draw % 4 > 2:
            return array
        with np.errstate(all="ignore"):
            match draw // 4 % 4:
                case 0:
                    return (array * array.dtype.type(3)).astype(array.dtype)
                case 1:
                    return np.where(array == array.max(initial=0), array + 1, array)
                case 2 if array.ndim:
                    return array[:1]
        return array


API: dict[str, Callable[[str], None]] = {
    "graph": _graph,
    "query": _query,
    "again": _again,
    "reduce": _reduce,
    "remote": _remote,
    "device": _device,
}
