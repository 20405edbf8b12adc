"""IR012 to IR015: files that cannot be opened, and faults of comments that silence findings."""

from __future__ import annotations

from .base import Rule


class UnreadableFile(Rule):
    """The file could not be opened.

    ## What it does
    If several files are checked, reports each file that cannot be opened: it does not exist, the
    user may not read it, or it is not a regular file. irshape still checks the other files. The
    exit status is 2.

    ## Why it matters
    The file has not been checked.

    ## What OpenVINO does
    Rejects it: "Model file … cannot be opened!".

    ## Example
    ```xml
    <!-- a file without permission to read -->
    <net name="model" version="11">
    ```

    ## How to fix it
    Correct the path or the permissions, or leave the file out.
    """

    fatal = True


class UnusedSuppression(Rule):
    """A comment disables a rule that reports nothing in its layer or file.

    ## What it does
    Reports a code in `<!-- irshape: disable=… -->` if no finding has this code in the layer or file
    to which the comment applies.

    ## Why it matters
    A comment that is no longer needed would hide a later finding.

    ## What OpenVINO does
    Ignores comments.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1"><!-- irshape: disable=IR301 -->
        <data keep_dims="true"/>
    ```

    ## How to fix it
    Remove the code, or the comment.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <data keep_dims="true"/>
    ```
    """


class UnknownSuppression(Rule):
    """A comment for irshape cannot be understood.

    ## What it does
    Reports a comment that begins with `irshape:` but does not have the form `disable=CODES` or
    `disable-file=CODES`. Also reports a code in such a comment if no rule has this code.

    ## Why it matters
    irshape still reports the finding that the comment should silence.

    ## What OpenVINO does
    Ignores comments.

    ## Example
    ```xml
    <!-- irshape: disable=IR0301 -->
    ```

    ## How to fix it
    Write codes, prefixes of codes or names, separated by commas; `irshape rule` lists them. A
    reason may follow after a colon.

    ## Use instead
    ```xml
    <!-- irshape: disable=IR301: our plugin reads it -->
    ```
    """


class MisplacedSuppression(Rule):
    """A comment silences nothing because it is not inside a layer.

    ## What it does
    Reports `<!-- irshape: disable=… -->` between layers, among edges, or after them. Inside a layer
    it applies to that layer and the bodies in it; before the first element it applies to the whole
    file. `disable-file` applies to the whole file wherever it is.

    ## Why it matters
    irshape still reports the finding that the comment should silence.

    ## What OpenVINO does
    Ignores comments.

    ## Example
    ```xml
    <layers>
        <!-- irshape: disable=IR301 -->
        <layer id="2" name="mean" type="ReduceMean" version="opset1">
    ```

    ## How to fix it
    Move the comment into the layer, or write `disable-file`.

    ## Use instead
    ```xml
    <layers>
        <layer id="2" name="mean" type="ReduceMean" version="opset1"><!-- irshape: disable=IR301 -->
    ```
    """
