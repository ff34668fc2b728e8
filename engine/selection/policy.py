"""Policy: everything that makes one way of choosing items differ from another; a mode is a policy, not a code path.

A sitting stores the policy it started with (`to_json`), so a later change of the defaults does not move it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, Self, TypeGuard

from engine.errors import InvalidPolicy
from engine.selection.constraints import Constraint, from_json


class Mode(StrEnum):
    """What a sitting is for."""

    diagnostic = "diagnostic"
    practice = "practice"
    review = "review"
    mock = "mock"
    adaptive_test = "adaptive_test"


class Criterion(StrEnum):
    """By what the eligible items are ranked."""

    posterior_information = "posterior_information"
    maximum_information = "maximum_information"
    kullback_leibler = "kullback_leibler"
    minimum_expected_posterior_variance = "minimum_expected_posterior_variance"
    a_stratified = "a_stratified"
    progressive = "progressive"
    target_success = "target_success"
    readiness_gain = "readiness_gain"  # where practice helps most
    due_date = "due_date"  # only items that are due for review, most overdue first
    blueprint_form = "blueprint_form"  # a form assembled as the sitting begins, in its order
    random = "random"


class ContentRule(StrEnum):
    """How a sitting keeps to the blueprint's proportions, where it does."""

    quota = "quota"  # the objective comes first, then the best of its items
    priority_index = "priority_index"  # the best item of all that the proportions allow, weighted by what is missing


class ContentLevel(StrEnum):
    """Whose proportions are kept first."""

    objectives = "objectives"
    domains = "domains"  # then, within a domain, those of its objectives


class Classification(StrEnum):
    """By what a sitting ends once it is clear on which side of the cut score the ability lies."""

    none = "none"
    confidence_interval = "confidence_interval"
    sprt = "sprt"


class TimeOut(StrEnum):
    """What a sitting that must pass or fail a learner decides when its time is over."""

    estimate = "estimate"  # the estimate decides, or fail if fewer than the minimum were answered
    fail = "fail"
    none = "none"


class Repeats(StrEnum):
    """Whether an item seen in an earlier sitting may come again."""

    never = "never"
    when_exhausted = "when_exhausted"


class Feedback(StrEnum):
    """When a learner sees what was right, and why."""

    immediate = "immediate"
    end = "end"


class StartsFrom(StrEnum):
    """The ability a sitting begins with: the exam's prior, or what is known of the learner."""

    prior = "prior"
    learner = "learner"


class Estimator(StrEnum):
    """By what the ability of a sitting is reported."""

    eap = "eap"  # mean of the posterior
    map = "map"  # its mode
    wle = "wle"  # Warm's weighted likelihood
    mle = "mle"  # maximum likelihood


ENUMS: dict[str, type[StrEnum]] = {
    "criterion": Criterion,
    "content_rule": ContentRule,
    "content_level": ContentLevel,
    "classification": Classification,
    "on_time_out": TimeOut,
    "repeats": Repeats,
    "feedback": Feedback,
    "starts_from": StartsFrom,
    "estimator": Estimator,
}

TEN_YEARS = 87_600  # hours; a longer wait is a mistake, and one long enough would overflow a date
LONGEST_TIME = 30 * 24 * 3600  # seconds of a sitting with a time limit
LONGEST_PRIORITY_INDEX = 500  # items of a sitting; the index looks ahead to its end
LONGEST_FORM = 300  # items of a sitting with constraints; a form is solved for each
MOST_CONSTRAINTS = 200
MOST_STRATA = 20
MOST_SLOTS = 200

# Criteria that are spread over a sitting, so they have to know how long it is.
SPREAD = (Criterion.a_stratified, Criterion.progressive)

# Criteria that serve what was lined up as the sitting began, in its order; nothing is ranked.
LINED_UP = (Criterion.due_date, Criterion.blueprint_form)

# Criteria whose scores are distances, which nothing can be multiplied with.
DISTANCES = (Criterion.a_stratified, Criterion.target_success)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How items are chosen, when a sitting stops, and what its learner sees when.

    target_success : probability of a right answer that the criterion of this name looks for
    strata : parts of the pool by discrimination, for the criterion `a_stratified`
    content_balancing : keep to the blueprint's proportions;  content_rule, content_level : how
    constraints : what must hold of a whole sitting, by shadow tests;  content_balancing then is one of them
    strict_content : refuse a sitting whose items can't fill the maximum length in these proportions
    randomesque : choose uniformly among this many best items
    review_share : the share of positions that go to items due for review, while there are any
    sibling_after : positions between a wrong answer and a sibling of its item, None for none on purpose
    pretest_slots : positions that are given to pretest items, while there are any
    maximum_exposure : the share of sittings an item may appear in, 1 or None for no bound
    minimum_length, maximum_length : items of a sitting, None for no end
    standard_error : logits, stop once the ability is known this well, None for never
    change_of_estimate : logits, stop once an answer moves the estimate by less, None for never
    minimum_information : per squared logit, stop once no eligible item informs as much at the estimate, None for never
    time_limit_s : seconds from the start, stop at the first answer after them, a form at once; None for no limit
    classification : stop once it is clear on which side of the exam's cut score the ability lies
    confidence : coverage of the interval for `confidence_interval`, two-sided
    indifference : logits on each side of the cut score within which `sprt` may err
    alpha, beta : for `sprt`, probability of passing a learner at the lower end of that region, of failing at the upper
    on_time_out : what is decided if the time runs out first; of a form, `estimate` stands for its right answers
    estimator : of the ability that is reported; choosing and stopping always use the posterior mean
    repeat_after_hours : how long ago an item must have been seen to come again
    The minimum length holds for every reason to stop but time.
    Raises InvalidPolicy naming the field, its value and what is right.
    """

    criterion: Criterion = Criterion.posterior_information
    target_success: float = 0.7
    strata: int = 4
    content_balancing: bool = True
    content_rule: ContentRule = ContentRule.quota
    content_level: ContentLevel = ContentLevel.objectives
    strict_content: bool = False
    constraints: tuple[Constraint, ...] = ()
    randomesque: int = 5
    review_share: float = 0.0
    sibling_after: int | None = None
    pretest_slots: tuple[int, ...] = ()
    maximum_exposure: float | None = None
    minimum_length: int = 0
    maximum_length: int | None = None
    standard_error: float | None = None
    change_of_estimate: float | None = None
    minimum_information: float | None = None
    time_limit_s: int | None = None
    classification: Classification = Classification.none
    confidence: float = 0.95
    indifference: float = 0.3
    alpha: float = 0.05
    beta: float = 0.05
    on_time_out: TimeOut = TimeOut.estimate
    repeats: Repeats = Repeats.never
    repeat_after_hours: float = 24.0
    feedback: Feedback = Feedback.immediate
    starts_from: StartsFrom = StartsFrom.prior
    estimator: Estimator = Estimator.eap
    shuffle_options: bool = True

    def __post_init__(self) -> None:
        for name, enum in ENUMS.items():
            require(self, name, isinstance(getattr(self, name), enum), "one of " + ", ".join(enum))
        for name in ("content_balancing", "strict_content", "shuffle_options"):
            require(self, name, isinstance(getattr(self, name), bool), "true or false")
        for name in ("target_success", "confidence"):
            require(self, name, is_within(getattr(self, name), 0, 1), "a number above 0 and below 1")
        for name in ("alpha", "beta"):
            require(self, name, is_within(getattr(self, name), 0, 0.5), "a number above 0 and below 0.5")
        for name in ("standard_error", "change_of_estimate", "minimum_information"):
            bound = getattr(self, name)
            require(self, name, bound is None or is_within(bound, 0, math.inf), "null or a number above 0")
        require(self, "indifference", is_within(self.indifference, 0, math.inf), "a number above 0")
        bound = self.maximum_exposure
        rate = bound is None or (is_number(bound) and 0 < bound <= 1)
        require(self, "maximum_exposure", rate, "null or a number above 0, at most 1")
        require(self, "strata", is_count(self.strata, 1, MOST_STRATA), f"a whole number from 1 to {MOST_STRATA}")
        require(self, "randomesque", is_count(self.randomesque, 1, 100), "a whole number from 1 to 100")
        require(self, "minimum_length", is_count(self.minimum_length, 0), "a whole number from 0")
        share = self.review_share
        require(self, "review_share", is_number(share) and 0 <= share <= 1, "a number from 0 to 1")
        gap = self.sibling_after
        require(self, "sibling_after", gap is None or is_count(gap, 0, 100), "null or a whole number from 0 to 100")
        slots = self.pretest_slots
        listed = isinstance(slots, tuple) and len(slots) <= MOST_SLOTS and all(is_count(slot, 1) for slot in slots)
        require(self, "pretest_slots", listed, f"at most {MOST_SLOTS} whole numbers from 1")
        rules = self.constraints
        known = isinstance(rules, tuple) and all(isinstance(rule, Constraint) for rule in rules)
        fits = known and len(rules) <= MOST_CONSTRAINTS
        require(self, "constraints", fits, f"a list of at most {MOST_CONSTRAINTS} constraints")
        limit = self.time_limit_s
        timed = limit is None or is_count(limit, 1, LONGEST_TIME)
        require(self, "time_limit_s", timed, f"null or a whole number from 1 to {LONGEST_TIME}")
        hours = self.repeat_after_hours
        require(
            self, "repeat_after_hours", is_number(hours) and 0 <= hours <= TEN_YEARS, f"a number from 0 to {TEN_YEARS}"
        )
        check_length(self)

    def with_changes(self, changes: Mapping[str, object]) -> Self:
        """This policy with some fields replaced by JSON values; a field that does not exist is an error."""
        known = [field.name for field in fields(self)]
        for name, value in changes.items():
            if name not in known:
                raise InvalidPolicy(name, value, "no such field; one of " + ", ".join(known))
        return replace(self, **{name: from_json_value(name, value) for name, value in changes.items()})

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary of every field, enums by value."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["pretest_slots"] = list(self.pretest_slots)
        values["constraints"] = [constraint.to_json() for constraint in self.constraints]
        return {name: str(value) if name in ENUMS else value for name, value in values.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Self:
        """The policy that `to_json` described; a field it lacks, because it is younger, has its default.

        >>> Policy.from_json(PRACTICE.to_json()) == PRACTICE
        True
        """
        return cls().with_changes(data)


def from_json_value(name: str, value: object) -> Any:
    """An enum's member where the field has an enum and the value is one of it, a tuple for a list, else the value."""
    if name == "constraints" and isinstance(value, list):
        return from_json(value)
    if isinstance(value, list):
        return tuple(value)
    enum = ENUMS.get(name)
    return enum(value) if enum is not None and isinstance(value, str) and value in list(enum) else value


def require(policy: Policy, field: str, holds: bool, expected: str) -> None:
    if not holds:
        raise InvalidPolicy(field, getattr(policy, field), expected)


def check_length(policy: Policy) -> None:
    """Raise InvalidPolicy unless the maximum length is one that the other fields can work with."""
    least, longest = max(1, policy.minimum_length), policy.maximum_length
    expected = f"null or a whole number from {least}" + (" (the minimum length)" if least > 1 else "")
    require(policy, "maximum_length", longest is None or is_count(longest, least), expected)
    if policy.criterion in SPREAD:
        require(policy, "maximum_length", longest is not None, f"a whole number ({policy.criterion} is spread over it)")
    if policy.strict_content:
        require(policy, "content_balancing", policy.content_balancing, "true (strict_content asks for proportions)")
        require(policy, "maximum_length", longest is not None, "a whole number (strict_content is measured by it)")
    if policy.criterion is Criterion.blueprint_form:
        require(policy, "maximum_length", longest is not None, "a whole number (the items of a form)")
        require(policy, "feedback", policy.feedback is Feedback.end, "end (a form can be changed until then)")
        require(policy, "pretest_slots", not policy.pretest_slots, "no slots (a form has scored items only)")
        for name in ("standard_error", "change_of_estimate", "minimum_information"):
            require(policy, name, getattr(policy, name) is None, "null (a form is answered as a whole)")
        decides = policy.classification is Classification.none
        require(policy, "classification", decides, "none (the right answers on the form decide)")
    if policy.constraints:
        why = f"a whole number up to {LONGEST_FORM} (the constraints are on a whole form)"
        require(policy, "maximum_length", longest is not None and longest <= LONGEST_FORM, why)
        free = policy.criterion is not Criterion.due_date
        require(policy, "criterion", free, "another one (what is due can't be constrained)")
    elif policy.content_balancing and policy.content_rule is ContentRule.priority_index:
        by_domain = policy.content_level is ContentLevel.domains
        require(policy, "content_level", not by_domain, "objectives (priority_index weighs those)")
        ends = longest is not None and longest <= LONGEST_PRIORITY_INDEX
        why = f"a whole number up to {LONGEST_PRIORITY_INDEX} (priority_index looks ahead to the end)"
        require(policy, "maximum_length", ends, why)
        weighable = "another one (priority_index multiplies scores, and these are distances)"
        require(policy, "criterion", policy.criterion not in DISTANCES, weighable)


def is_within(value: object, low: float, high: float) -> bool:
    """A number strictly between both."""
    return is_number(value) and low < value < high


def is_count(value: object, least: int, most: float = math.inf) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


DIAGNOSTIC = Policy(
    content_level=ContentLevel.domains,
    minimum_length=10,
    maximum_length=25,
    standard_error=0.35,
    repeats=Repeats.never,
    feedback=Feedback.end,
    starts_from=StartsFrom.prior,
)

PRACTICE = Policy(
    criterion=Criterion.readiness_gain,
    content_balancing=False,
    review_share=0.3,
    sibling_after=4,
    repeats=Repeats.when_exhausted,
    repeat_after_hours=24.0,
    feedback=Feedback.immediate,
    starts_from=StartsFrom.learner,
)

REVIEW = Policy(
    criterion=Criterion.due_date,
    content_balancing=False,
    repeats=Repeats.when_exhausted,
    feedback=Feedback.immediate,
    starts_from=StartsFrom.learner,
)

MOCK = Policy(
    criterion=Criterion.blueprint_form,
    maximum_length=60,
    time_limit_s=90 * 60,
    repeats=Repeats.when_exhausted,
    feedback=Feedback.end,
    starts_from=StartsFrom.prior,
)

ADAPTIVE_TEST = Policy(
    minimum_length=10,
    maximum_length=40,
    standard_error=0.30,
    repeats=Repeats.never,
    feedback=Feedback.end,
    starts_from=StartsFrom.prior,
)

POLICIES: Mapping[Mode, Policy] = {
    Mode.diagnostic: DIAGNOSTIC,
    Mode.practice: PRACTICE,
    Mode.review: REVIEW,
    Mode.mock: MOCK,
    Mode.adaptive_test: ADAPTIVE_TEST,
}
