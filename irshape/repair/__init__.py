"""Finds possible causes and fixes of findings, for `validate` and `irshape fix`.

1. A rule names the possible origins of its findings (`Rule.suspects`). For each origin, one
function proposes `Change`s of the text, likeliest first: see `attributes`, `operations`, `edges`,
`constants`, `notations`.
2. `site` infers one layer with a change. Most changes are rejected there.
3. `proof` reads, infers and checks the file with a change. If findings disappear and no new ones
appear, the change is a `Cause` of the findings that disappear.
4. `search` searches for the causes of each finding, and groups the findings that one change
removes.
5. `ports` makes ports agree with the model that OpenVINO reads. `fixing` applies changes, round by
round.
6. `text` handles a file that is not well-formed, `weights` a .bin of another model.

The meaning of a file is the model that OpenVINO reads; ports are only declarations. A change is
`safe` if OpenVINO reads the same model before and after, or if it refuses the file and the text
leaves no other choice. Every other change is `unsafe`.
"""
