"""IR012 to IR015: files that could not be opened, and comments that silence findings."""

from __future__ import annotations

from ..rule_ids import (
    MISPLACED_SUPPRESSION,
    UNKNOWN_SUPPRESSION,
    UNREADABLE_FILE,
    UNUSED_SUPPRESSION,
)
from .base import Rule


class UnreadableFile(Rule):
    """The file could not be opened.

    ## What it does
    When several files are checked, reports one that cannot be opened: it does not exist, may not be
    read, or is not a regular file. The others are still checked; the exit status is 2.

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

    id = UNREADABLE_FILE


class UnusedSuppression(Rule):
    """A comment silences a rule that reports nothing there.

    ## What it does
    Reports a code in `<!-- irshape: disable=… -->` that silences no finding: none of the rules that
    it covers reports anything in the scope of the comment.

    ## Why it matters
    A comment that is no longer needed hides the next finding.

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

    id = UNUSED_SUPPRESSION


class UnknownSuppression(Rule):
    """A comment for irshape cannot be understood.

    ## What it does
    Reports a comment that begins with `irshape:` and does not have the form `disable=CODES` or
    `disable-file=CODES`, and a code in such a comment that no rule has.

    ## Why it matters
    The finding that it is meant to silence is still reported, or a misspelt code silences nothing.

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

    id = UNKNOWN_SUPPRESSION


class MisplacedSuppression(Rule):
    """A comment silences nothing because it is not inside a layer.

    ## What it does
    Reports `<!-- irshape: disable=… -->` between layers, among edges, or after them. Inside a layer
    it applies to that layer and the bodies in it; before the first element it applies to the whole
    file. `disable-file` applies to the whole file wherever it is.

    ## Why it matters
    The finding that it is meant to silence is still reported.

    ## What OpenVINO does
    Ignores comments.

    ## Example
    ```xml
    <layers>
        <!-- irshape: disable=IR301 -->
        <layer id="2" name="mean" type="ReduceMean" version="opset1">
    ```

    ## How to fix it
    Move it into the layer, or write `disable-file`.

    ## Use instead
    ```xml
    <layers>
        <layer id="2" name="mean" type="ReduceMean" version="opset1"><!-- irshape: disable=IR301 -->
    ```
    """

    id = MISPLACED_SUPPRESSION
