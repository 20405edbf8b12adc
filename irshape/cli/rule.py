"""`irshape rule`."""

from __future__ import annotations

import inspect
import json

import click


@click.command("rule", short_help="Explain a rule.")
@click.argument("code", required=False)
@click.option("--all", "every", is_flag=True, help="All rules.")
@click.option("-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Form of the answer.")
def command(code: str | None, every: bool, form: str) -> None:
    """Explains a rule, by code (IR201) or name (output-shape-mismatch); lists them without one."""
    from ..rules import all_rules, rule_named

    if code is None:
        chosen = all_rules()
    else:
        try:
            chosen = (rule_named(code if code in {rule.name for rule in all_rules()} else code.upper()),)
        except KeyError:
            raise click.UsageError(f"there is no rule '{code}'; `irshape rule` lists them") from None
    if form == "json":
        rows = [{"code": rule.code, "name": rule.name, "severity": rule.severity, "documentation": inspect.cleandoc(rule.__doc__ or "")} for rule in chosen]
        click.echo(json.dumps(rows if code is None else rows[0], indent=1, ensure_ascii=False))
    elif code is None and not every:
        for rule in chosen:
            click.echo(f"{rule.code}  {rule.severity:<8} {rule.name:<28} {inspect.cleandoc(rule.__doc__ or '').splitlines()[0]}")
    else:
        pages = [f"{rule.code} {rule.name} ({rule.severity})\n\n{inspect.cleandoc(rule.__doc__ or '')}\n" for rule in chosen]
        click.echo("\n".join(pages), nl=False)
