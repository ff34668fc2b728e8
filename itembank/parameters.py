"""What makes item parameters valid; the one place that says so. Every check names all that is wrong."""

import math
from collections.abc import Iterator, Mapping

from itembank.content import ItemKind, ParameterModel, Parameters
from itembank.errors import Issue

LARGEST = 1e6  # of a parameter; beyond it is a slip of columns or units
BY_POINTS = (ParameterModel.GPCM, ParameterModel.GRM)


def parameter_problems(parameters: Parameters, kind: ItemKind, options: Mapping[str, bool]) -> tuple[Issue, ...]:
    """What is wrong with parameters for an item of this kind. options : its options by key, True for the right ones"""
    issues = [*_number_problems(parameters)]
    if issues:
        return tuple(issues)
    return (*_asymptote_problems(parameters), *_category_problems(parameters, kind, options))


def _number_problems(parameters: Parameters) -> Iterator[Issue]:
    numbers = {f"/{name}": getattr(parameters, name) for name in "abcd"}
    numbers |= {f"/steps/{i}": step for i, step in enumerate(parameters.steps)}
    for key, pair in parameters.options.items():
        numbers |= {f"/options/{key}/{i}": number for i, number in enumerate(pair)}
    for pointer, number in numbers.items():
        if not math.isfinite(number):
            yield Issue(pointer, f"is {number}, a finite number expected")
        elif abs(number) > LARGEST:
            yield Issue(pointer, f"is {number:g}, beyond {LARGEST:,.0f}")


def _asymptote_problems(parameters: Parameters) -> Iterator[Issue]:
    c, d = parameters.c, parameters.d
    if not 0.0 <= c < 1.0:
        yield Issue("/c", f"is {c:g}, 0 or more and below 1 expected")
    elif not c < d <= 1.0:
        yield Issue("/d", f"is {d:g}, more than c ({c:g}) and at most 1 expected")


def _category_problems(parameters: Parameters, kind: ItemKind, options: Mapping[str, bool]) -> Iterator[Issue]:
    model = parameters.model
    if parameters.steps and model not in BY_POINTS:
        yield Issue("/steps", f"are for gpcm and grm items, not for {model}")
    if parameters.options and model is not ParameterModel.NOMINAL:
        yield Issue("/options", f"are for nominal items, not for {model}")
    if model in BY_POINTS:
        yield from _step_problems(parameters, sum(options.values()))
    if model is ParameterModel.NOMINAL:
        yield from _option_problems(parameters, kind, options)


def _step_problems(parameters: Parameters, points: int) -> Iterator[Issue]:
    """points : right options of the item, each of which earns one"""
    steps, a = parameters.steps, parameters.a
    if a == 0.0:
        yield Issue("/a", f"is 0, with which no answer to a {parameters.model} item would say anything")
    if len(steps) != points:
        yield Issue("/steps", f"are {len(steps)}, one for each right option expected, {points}")
    if parameters.model is ParameterModel.GRM:
        for i in range(1, len(steps)):
            if not math.copysign(1.0, a) * (steps[i] - steps[i - 1]) > 0.0:
                order = "less" if a < 0.0 else "more"
                yield Issue(f"/steps/{i}", f"is {steps[i]:g}, {order} than the threshold before it expected")


def _option_problems(parameters: Parameters, kind: ItemKind, options: Mapping[str, bool]) -> Iterator[Issue]:
    if kind is not ItemKind.SINGLE_CHOICE:
        yield Issue("/model", f"nominal is for single_choice items; for a {kind} item gpcm and grm are")
        return
    for key in parameters.options:
        if key not in options:
            yield Issue(f"/options/{key}", "the item has no option of this key")
    missing = [key for key in options if key not in parameters.options]
    if missing:
        yield Issue("/options", f"lack {', '.join(missing)}")
