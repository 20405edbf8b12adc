"""IR0xx: the file and its XML."""

from __future__ import annotations

from ..rule_ids import (
    DOCTYPE,
    INTERNAL_ERROR,
    LEFT_OUT,
    MALFORMED_XML,
    MISSPELT_ELEMENT,
    NESTING_LIMIT,
    NOT_AN_IR,
    REPAIRED_XML,
    REPEATED_ELEMENT,
    SIZE_LIMIT,
    UNKNOWN_ELEMENT,
)
from .base import Rule


class MalformedXml(Rule):
    """The file is not well-formed XML.

    ## What it does
    Reports the first place at which an XML parser has to give up: a tag that is not closed, an attribute without quotes or given twice, a bare `&` or `<` in a value, a
    character that XML does not allow, bytes that are not in the declared encoding, a file that ends in the middle.

    ## Why it matters
    Nothing past that place can be read, so nothing past it is checked. A truncated download and a slip of the hand look alike here; the place tells them apart.

    ## What OpenVINO does
    Its parser (pugixml) refuses tags that do not match and unquoted attributes with a byte offset, but takes an attribute given twice, a bare `&` or `<` in a value, control
    characters and anything behind `</net>` in silence. Another tool, or the next version, need not.

    ## Example
    ```xml
    <layer id=2 name="mean" type="ReduceMean" version="opset1">
    ```

    ## How to fix it
    Repair the XML at that place; where the file ends too early, fetch it again.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
    ```
    """

    id = MALFORMED_XML


class Doctype(Rule):
    """The file has a DOCTYPE.

    ## What it does
    Refuses a file with a document type declaration, before anything in it is expanded.

    ## Why it matters
    A DOCTYPE can define entities: texts that grow without bound when they are expanded, or that name other files. No writer of IRs puts one there.

    ## What OpenVINO does
    Reads past it in silence, and expands nothing.

    ## Example
    ```xml
    <?xml version="1.0"?>
    <!DOCTYPE net [<!ENTITY a "aaaaaaaaaa">]>
    <net name="model" version="11">
    ```

    ## How to fix it
    Delete the declaration. If you did not put it there, ask where the file came from.
    """

    id = DOCTYPE


class NotAnIr(Rule):
    """The file is no IR.

    ## What it does
    Reports a file that holds something else: nothing at all, binary data (often the .bin in place of the .xml), a Git-LFS pointer, or XML with another root element.

    ## Why it matters
    The two files of a model have the same name and are easily swapped; a Git-LFS pointer takes the place of a file that was never downloaded.

    ## What OpenVINO does
    Refuses it: "Unable to read the model … Please check that model format is supported", whatever the file is.

    ## Example
    ```xml
    <model name="model" version="11">
    ```

    ## How to fix it
    Give the .xml of the model. For a Git-LFS pointer, run `git lfs pull`.

    ## Use instead
    ```xml
    <net name="model" version="11">
    ```
    """

    id = NOT_AN_IR


class SizeLimit(Rule):
    """The file is larger than the limit.

    ## What it does
    Refuses an .xml of more than 1 GiB.

    ## Why it matters
    The .xml holds the structure only; 35,000 layers take 17 MB. A file of more than a gigabyte is no model, and reading it would take the memory of the machine.

    ## What OpenVINO does
    Tries to load it whole.

    ## Example
    ```xml
    <net name="model" version="11"><layers><!-- a gigabyte of anything --></layers></net>
    ```

    ## How to fix it
    Check what the file is and where it came from. Constants belong into the .bin.
    """

    id = SIZE_LIMIT


class NestingLimit(Rule):
    """Elements are nested deeper than the limit.

    ## What it does
    Refuses a file in which bodies (of If, Loop and TensorIterator) stand inside one another more than some 60 deep: 256 elements.

    ## Why it matters
    Every body is worked through inside the one around it. Without a limit, a small file could exhaust the stack.

    ## What OpenVINO does
    Has no limit, and crashes (segmentation fault) once its stack is used up.

    ## Example
    ```xml
    <body><layers><layer id="0" name="loop" type="Loop" version="opset5"><body><layers><!-- and so on --></layers></body></layer></layers></body>
    ```

    ## How to fix it
    No real network needs this; check where the file came from.
    """

    id = NESTING_LIMIT


class UnknownElement(Rule):
    """An element that has no meaning where it stands.

    ## What it does
    Reports an XML element that no reader of IRs knows at that place. What it holds is passed over.

    ## Why it matters
    What somebody wrote there has no effect, and nobody says so.

    ## What OpenVINO does
    Passes over it in silence.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <attributes keep_dims="true"/>
    ```

    ## How to fix it
    Remove it, or give it the name that was meant.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <data keep_dims="true"/>
    ```
    """

    id = UNKNOWN_ELEMENT


class RepairedXml(Rule):
    """A layer on its own is not well-formed XML; it was read as it is meant.

    ## What it does
    Reports what had to be repaired in a layer on its own before it could be read: a missing end tag, quotes, a slash. Only what is clear is repaired; the rest is IR001.
    `...` inside a tag, which operation documents use for what they leave out, is no fault.

    ## Why it matters
    The layer can be checked all the same, so that its other faults show in the same run; but no other tool will read it.

    ## What OpenVINO does
    Does not read layers on their own.

    ## Example
    ```xml
    <layer id=1 type="ReduceMean" ...>
        <data keep_dims="true"/>
    ```

    ## How to fix it
    Make the repair that the finding names.

    ## Use instead
    ```xml
    <layer id="1" type="ReduceMean" ...>
        <data keep_dims="true"/>
    ```
    """

    id = REPAIRED_XML


class LeftOut(Rule):
    """A layer on its own leaves out ports, or what a Parameter is.

    ## What it does
    Reports an `<input>` or `<output>` of a layer on its own in which `...` stands for further ports: what depends on their number is then not checked. Reports a Parameter or
    constant without `shape` or `element_type` too, as documents print them inside bodies; what its output port declares is then taken.

    ## Why it matters
    Nothing can be said of ports that are not there, and a Parameter in a model has to say its shape itself.

    ## What OpenVINO does
    Does not read layers on their own.

    ## Example
    ```xml
    <input>
        <port id="0"><dim>2</dim></port>
        ...
    </input>
    ```

    ## How to fix it
    Write the ports, or the attributes.
    """

    id = LEFT_OUT


class MisspeltElement(Rule):
    """An element that looks like a misspelling of one that may stand there.

    ## What it does
    Reports an element that no reader knows at that place and whose name is close to one that is known.

    ## Why it matters
    All that it holds is lost: attributes take their defaults, layers or edges are not there.

    ## What OpenVINO does
    Passes over it in silence. A misspelt `<data>` gives the layer its default attributes, a misspelt `<layers>` an empty model.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <dat keep_dims="true"/>
    ```

    ## How to fix it
    Rename it.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <data keep_dims="true"/>
    ```
    """

    id = MISSPELT_ELEMENT
    doubt = "wiring"


class RepeatedElement(Rule):
    """An element that may stand there once stands there again.

    ## What it does
    Reports a second `<data>`, `<input>`, `<output>`, body or port map of a layer, and a second `<layers>` or `<edges>` of a net or a body. Only the first is read.

    ## Why it matters
    The file says two things about one matter, and what the second says is lost.

    ## What OpenVINO does
    Reads the first and passes over the others in silence, with all that they hold.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <data keep_dims="false"/>
        <data keep_dims="true"/>
    ```

    ## How to fix it
    Put what the second holds into the first, or remove it.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <data keep_dims="true"/>
    ```
    """

    id = REPEATED_ELEMENT
    doubt = "wiring"


class InternalError(Rule):
    """irshape itself failed on a layer.

    ## What it does
    Says that the declaration of an operation did not expect what a layer holds. The failure stays with that layer: what its ports declare is taken, and everything else is
    checked.

    ## Why it matters
    The layer has not been checked. This is a bug in irshape, not in the file.

    ## What OpenVINO does
    Has no part in this.

    ## Example
    Any layer can bring it out; none is known to.
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
    ```

    ## How to fix it
    Please report it with the layer. With `IRSHAPE_DEBUG=1` in the environment, the failure is raised where it happens.
    """

    id = INTERNAL_ERROR
