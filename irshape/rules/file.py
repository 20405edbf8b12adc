"""IR0xx: the file and its XML."""

from __future__ import annotations

from .base import Rule


class MalformedXml(Rule):
    """The file is not well-formed XML.

    ## What it does
    Reports the first place where an XML parser has to give up: a tag that is not closed, an
    attribute that is not quoted or is given twice, a bare `&` or `<` in a value, a character that
    XML does not allow, bytes that do not match the declared encoding, or a file that ends in the
    middle.

    ## Why it matters
    Nothing after that place can be read, so nothing after it is checked. The place shows whether
    the file is a truncated download or was edited by mistake.

    ## What OpenVINO does
    Its parser (pugixml) rejects tags that do not match and unquoted attributes, with a byte offset.
    It silently accepts an attribute that is given twice, a bare `&` or `<` in a value, control
    characters, and text or elements after `</net>`. Other tools and later versions may reject
    these files.

    ## Example
    ```xml
    <layer id=2 name="mean" type="ReduceMean" version="opset1">
    ```

    ## How to fix it
    Repair the XML at that place. If the file ends too early, download it again.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
    ```
    """

    fatal = True


class Doctype(Rule):
    """The file has a DOCTYPE.

    ## What it does
    Rejects a file with a document type declaration, before anything in it is expanded.

    ## Why it matters
    A DOCTYPE can define entities, which can expand without bound or refer to other files. No
    program that writes IRs emits a DOCTYPE.

    ## What OpenVINO does
    Skips it silently, and expands nothing.

    ## Example
    ```xml
    <?xml version="1.0"?>
    <!DOCTYPE net [<!ENTITY a "aaaaaaaaaa">]>
    <net name="model" version="11">
    ```

    ## How to fix it
    Delete the declaration. If you did not write the declaration, find out where the file came from.
    """

    fatal = True


class NotAnIr(Rule):
    """The file is not an IR.

    ## What it does
    Reports a file that contains something else: nothing at all, binary data (often the .bin instead
    of the .xml), a Git LFS pointer, or XML with another root element.

    ## Why it matters
    The two files of a model have the same name and are easily confused. A Git LFS pointer stands
    for a file that was never downloaded.

    ## What OpenVINO does
    Rejects the file, whatever it is: "Unable to read the model … Please check that model format:
    ".xml" is supported".

    ## Example
    ```xml
    <model name="model" version="11">
    ```

    ## How to fix it
    Pass the .xml of the model. For a Git LFS pointer, run `git lfs pull`.

    ## Use instead
    ```xml
    <net name="model" version="11">
    ```
    """

    fatal = True


class SizeLimit(Rule):
    """The model is larger than irshape allows.

    ## What it does
    Rejects an .xml of more than 1 GiB, and an ONNX model whose functions expand to more than
    200,000 nodes.

    ## Why it matters
    The .xml contains only the structure; 35,000 layers take 17 MB. A file of more than a gigabyte
    is not a model, and reading it would exhaust the memory of the machine.

    ## What OpenVINO does
    Tries to load the whole file.

    ## Example
    ```xml
    <net name="model" version="11"><layers><!-- a gigabyte of anything --></layers></net>
    ```

    ## How to fix it
    Check what the file is and where it came from. Constants belong in the .bin.
    """

    fatal = True


class NestingLimit(Rule):
    """The bodies of a file are nested deeper than irshape allows.

    ## What it does
    Rejects a file in which bodies of If, Loop or TensorIterator are nested more than 83 deep, and a
    oneDNN graph whose JSON is nested too deeply. In an ONNX model, reports functions and graphs
    that are nested more than 16 deep.

    ## Why it matters
    irshape processes nested bodies recursively: without a limit, a small file exhausts the stack.

    ## What OpenVINO does
    Has no limit, and crashes with a segmentation fault when its stack is exhausted.

    ## Example
    ```xml
    <body><layers><layer id="0" name="loop" type="Loop" version="opset5">
        <body><layers><!-- and so on --></layers></body>
    </layer></layers></body>
    ```

    ## How to fix it
    No real network is nested so deeply. Check where the file came from.
    """

    fatal = True


class UnknownElement(Rule):
    """An element has no meaning at this place.

    ## What it does
    Reports an XML element that is not part of the IR format at that place. irshape ignores it.

    ## Why it matters
    The element has no effect, whatever its author intended.

    ## What OpenVINO does
    Ignores it silently.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <attributes keep_dims="true"/>
    ```

    ## How to fix it
    Remove the element, or correct its name.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <data keep_dims="true"/>
    ```
    """


class StrayText(Rule):
    """There is text between elements.

    ## What it does
    Reports text where an IR has only elements: the marker of a merge conflict, a line number or a
    `+` that was copied with the lines, a word typed by accident, or a tag that lost its `<`. The
    rule ignores comments, white space, and the contents of `<rt_info>`.

    ## Why it matters
    No writer of IRs puts text there. An accidental edit may have changed other parts, too.

    ## What OpenVINO does
    Ignores it silently.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
    =======
        <data keep_dims="true"/>
    ```

    ## How to fix it
    Remove the text, or give the tag its `<` back.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <data keep_dims="true"/>
    ```
    """


class RepairedXml(Rule):
    """A single layer is not well-formed XML; irshape repaired it and read it.

    ## What it does
    In a file that holds single layers instead of a network, reports each repair that irshape made
    in order to read a layer: a missing end tag, missing quotes, a missing slash. irshape makes only
    obvious repairs; it reports any other fault as IR001. It accepts `...` inside a tag, which the
    documentation of operations writes for omitted parts.

    ## Why it matters
    irshape can still check the layer and report its other faults. Other tools cannot read it.

    ## What OpenVINO does
    Does not read files of single layers.

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

    doubt = "values"


class LeftOut(Rule):
    """A single layer leaves out ports, or the shape or type of a Parameter.

    ## What it does
    Reports an `<input>` or `<output>` of a single layer in which `...` stands for further ports.
    irshape then checks nothing that depends on the number of ports. Also reports a Parameter or
    constant without `shape` or `element_type`, as the documentation prints them inside bodies.
    irshape then uses the declaration of its output port.

    ## Why it matters
    irshape cannot check missing ports, and a Parameter in a model has to declare its own shape.

    ## What OpenVINO does
    Does not read files of single layers.

    ## Example
    ```xml
    <input>
        <port id="0"><dim>2</dim></port>
        ...
    </input>
    ```

    ## How to fix it
    Write all ports; give the Parameter or constant its attributes.
    """


class MisspeltElement(Rule):
    """The name of an element looks like a misspelling.

    ## What it does
    Reports an element that is not part of the IR format at that place, if its name is similar to
    that of an allowed element.

    ## Why it matters
    Its contents are lost: attributes take their defaults, and layers or edges are missing.

    ## What OpenVINO does
    Ignores it silently. A misspelt `<data>` gives the layer its default attributes; a misspelt
    `<layers>` gives an empty model.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <dat keep_dims="true"/>
    ```

    ## How to fix it
    Correct the name of the element.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <data keep_dims="true"/>
    ```
    """

    doubt = "wiring"


class RepeatedElement(Rule):
    """An element that is allowed once is repeated.

    ## What it does
    Reports a second `<data>`, `<input>`, `<output>`, body or port map of a layer, and a second
    `<layers>` or `<edges>` of a net or a body. Only the first is read.

    ## Why it matters
    The file declares the same part twice, and the second declaration is lost.

    ## What OpenVINO does
    Reads the first element, and silently ignores the later ones with all their contents.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <data keep_dims="false"/>
        <data keep_dims="true"/>
    ```

    ## How to fix it
    Move the contents of the second element into the first, or remove the second element.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <data keep_dims="true"/>
    ```
    """

    doubt = "wiring"


class InternalError(Rule):
    """irshape itself failed on a layer.

    ## What it does
    Reports a layer whose inference failed with an exception in irshape. The failure affects only
    that layer: irshape uses the shapes that its ports declare, and checks everything else.

    ## Why it matters
    The layer has not been checked. The bug is in irshape or, if the message names a plugin, in the
    plugin; it is not in the file. irshape reports a failed rule of a plugin at the start of the
    file.

    ## What OpenVINO does
    OpenVINO is not involved.

    ## Example
    No layer is known to cause this; any layer could.
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
    ```

    ## How to fix it
    Please report the message together with the layer. In your own plugin, correct the line that the
    message names. With `IRSHAPE_DEBUG=1` in the environment, irshape raises the exception.
    """

    fatal = True


class Preprocessing(Rule):
    """The means in a `<pre-process>` are subtracted from an input of the model.

    ## What it does
    Reports a `<pre-process>` with a `<mean>`. The element is from IR versions before 10, but
    OpenVINO still reads it. irshape does not check its contents, and `run` and `crosscheck` refuse
    the model.

    ## Why it matters
    No layer shows the subtraction, and tools that read and write the model lose it.

    ## What OpenVINO does
    Inserts a Subtract after the Parameter that `reference-layer-name` names, or after the first
    Parameter of rank 4. Refuses means that do not fit the channels of the Parameter, and crashes if
    the means are in a missing .bin.

    ## Example
    ```xml
    <pre-process reference-layer-name="x">
        <channel id="0"><mean value="0.5"/></channel>
    </pre-process>
    ```

    ## How to fix it
    Write the Subtract as a layer: let OpenVINO read the model and save it again.
    """
