"""What may be behind a finding, what would take it away, and `irshape fix`.

1. A rule names what its findings may come from (`Rule.suspects`). For each, one function makes
   `Change`s of the text, likeliest first: `attributes`, `operations`, `edges`, `constants`,
   `notations`.
2. `site` infers one layer with a change; most changes are refused there.
3. `proof` reads, infers and checks the file with a change. One after which findings are gone, and
   no new ones are there, is a `Cause` of those that are gone.
4. `search` goes from finding to finding, and puts those that one change takes away together.
5. `ports` makes ports follow what OpenVINO reads; `fixing` applies changes, round by round.
6. `text` is for a file that is not well-formed, `weights` for a .bin of another model.

What OpenVINO reads decides what a file means; ports are declarations. A change is `safe` if
OpenVINO reads the same model before and after, or if it refuses the file and the text itself
decides. Every other change is `unsafe`.
"""
