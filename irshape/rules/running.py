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
    Reports, where several files are checked, one that cannot be opened: it is gone, may not be read, or is no regular file. The others are checked all the same; the exit status is 2.

    ## Why it matters
    The file has not been checked.

    ## What OpenVINO does
    Refuses it: "Model file … cannot be opened!".

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
    """A comment silences a rule that finds nothing there.

    ## What it does
    Reports a code in `<!-- irshape: disable=… -->` that silences no finding: none of the rules that it covers found anything where the comment holds.

    ## Why it matters
    A comment that has outlived its reason hides the next finding.

    ## What OpenVINO does
    Passes over comments.

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
    """A comment for irshape that it does not understand.

    ## What it does
    Reports a comment that begins with `irshape:` and is not of the form `disable=CODES` or `disable-file=CODES`, and a code in one that no rule has.

    ## Why it matters
    The finding that it is meant to silence is still reported, or a misspelt code silences nothing.

    ## What OpenVINO does
    Passes over comments.

    ## Example
    ```xml
    <!-- irshape: disable=IR0301 -->
    ```

    ## How to fix it
    Write codes, beginnings of codes or names, with commas between them; `irshape rule` lists them. A reason may follow after a colon.

    ## Use instead
    ```xml
    <!-- irshape: disable=IR301: our plugin reads it -->
    ```
    """

    id = UNKNOWN_SUPPRESSION


class MisplacedSuppression(Rule):
    """A comment that silences nothing, because it stands in no layer.

    ## What it does
    Reports `<!-- irshape: disable=… -->` between layers, among edges, or after them. In a layer it holds for that layer and the bodies in it, before the first element for the whole
    file, and `disable-file` holds for the whole file wherever it stands.

    ## Why it matters
    The finding that it is meant to silence is still reported.

    ## What OpenVINO does
    Passes over comments.

    ## Example
    ```xml
    <layers>
        <!-- irshape: disable=IR301 -->
        <layer id="2" name="mean" type="ReduceMean" version="opset1">
    ```

    ## How to fix it
    Put it inside the layer, or write `disable-file`.

    ## Use instead
    ```xml
    <layers>
        <layer id="2" name="mean" type="ReduceMean" version="opset1"><!-- irshape: disable=IR301 -->
    ```
    """

    id = MISPLACED_SUPPRESSION
