"""Finds possible causes and fixes of findings, for `validate` and `irshape fix`.

1. A rule names what may be wrong in the file (`Rule.suspects`), e.g. `edges`. For each of these
names, one function proposes `Change`s of the text, likeliest first: see `attributes`,
`operations`, `edges`, `constants`, `notations`.
2. `site` infers a single layer with a change. This step rejects most changes.
3. `proof` reads, infers and checks the whole file with a change. If findings disappear and no new
ones appear, the change is a `Cause` of the findings that disappear.
4. `search` searches for the causes of each finding, and groups the findings that one change
removes.
5. `ports` changes declared ports to the inferred types and shapes. `fixing` applies changes, round
by round.
6. `text` handles files that are not well-formed XML; `weights` detects the .bin of another model.

OpenVINO ignores declared ports, so the model that it reads does not depend on them. A change is
`safe` if OpenVINO reads the same model before and after it, or if OpenVINO refuses the file and
only this change is possible. Every other change is `unsafe`.
"""
