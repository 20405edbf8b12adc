"""Finds possible causes and fixes of findings, for `validate` and `irshape fix`.

1. A rule names the possible origins of its findings (`Rule.suspects`), e.g. `edges`. For each
origin, one function proposes `Change`s of the text, likeliest first: see `attributes`,
`operations`, `edges`, `constants`, `notations`.
2. `site` infers one layer with a change. Most changes are rejected at this step.
3. `proof` reads, infers and checks the whole file with a change. If findings disappear and no new
ones appear, the change is a `Cause` of the findings that disappear.
4. `search` searches for the causes of each finding, and groups the findings that one change
removes.
5. `ports` changes declared ports to the inferred types and shapes. `fixing` applies changes, round
by round.
6. `text` handles files that are not well-formed XML; `weights` detects the .bin of another model.

The meaning of a file is the model that OpenVINO reads, which ignores declared ports. A change is
`safe` if OpenVINO reads the same model before and after it, or if OpenVINO refuses the file and
only this change is possible. Every other change is `unsafe`.
"""
