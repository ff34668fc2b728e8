"""Sessions over HTTP: bodies and replies. What a learner sees before an answer and after it are different schemas."""

from typing import Any

from marshmallow import ValidationError, fields, post_load, validate, validates_schema

from api.schemas.base import ExternalId, Flag, IdText, Integer, Moment, Number, Reply, Slug, Strict, Text
from engine.answers import Given
from engine.delivery import LARGEST_SEED
from engine.selection import (
    LONGEST_TIME,
    MOST_CONSTRAINTS,
    MOST_SLOTS,
    MOST_STRATA,
    TEN_YEARS,
    Classification,
    ContentLevel,
    ContentRule,
    Criterion,
    Estimator,
    Feedback,
    Mode,
    Outcome,
    Repeats,
    Rule,
    StartsFrom,
    StopReason,
    TimeOut,
)
from itembank.content import ExposureClass, SessionStatus
from itembank.learners import ERASED

LONGEST_ANSWER_MS = 24 * 60 * 60 * 1000
LONGEST_SESSION = 10_000
STOP_REASONS = {"description": "null while it goes on; " + ", ".join(f"`{reason}`" for reason in (*StopReason, ERASED))}

ITEM_EXAMPLE = {
    "position": 1,
    "item": {
        "id": "0197a3f0-5a3c-7c1e-9d4b-2f6f0c8e1a52",
        "version": 1,
        "kind": "single_choice",
        "objective": "1.3",
        "stem": "<p>What does training keep in memory that inference does not?</p>",
        "options": [
            {"id": "5f0c9c3e-8a34-4f0e-9b5e-0d6f7f3b9a11", "text": "Gradients and optimizer states"},
            {"id": "c2f1b7de-3f3a-4f57-8a0e-6a2f8f1f0b22", "text": "The weights of the model"},
        ],
        "media": [],
    },
}

DOMAIN_EXAMPLE = {
    "code": "1",
    "title": "AI infrastructure",
    "answers": 9,
    "evidence": "enough",
    "missing_answers": 0,
    "mastery": {
        "theta": 0.31,
        "standard_error": 0.41,
        "share_right": {"value": 0.66, "low": 0.54, "high": 0.77},
        "above_cut": 0.77,
    },
}


class PolicySchema(Strict):
    """Fields of the mode's policy to replace for this session."""

    criterion = fields.Enum(
        Criterion,
        by_value=True,
        metadata={
            "description": "by what eligible items are ranked: "
            "`posterior_information` (information averaged over what is known of the ability), "
            "`maximum_information` (information at the estimate), "
            "`kullback_leibler` (how well an answer tells the estimate from other abilities), "
            "`minimum_expected_posterior_variance` (how much an answer should narrow what is known), "
            "`a_stratified` (nearest difficulty, low discriminations first), "
            "`progressive` (chance first, information later), "
            "`target_success` (probability of a right answer nearest to `target_success`), "
            "`readiness_gain` (where practice helps most, near `target_success`), "
            "`due_date` (only what is due for review, most overdue first), "
            "`blueprint_form` (a form assembled as the session begins), `random`"
        },
    )
    target_success = Number(
        validate=validate.Range(min=0, max=1, min_inclusive=False, max_inclusive=False),
        metadata={"description": "probability of a right answer that `target_success` and `readiness_gain` look for"},
    )
    strata = Integer(
        minimum=1, maximum=MOST_STRATA, metadata={"description": "parts of the pool for the criterion `a_stratified`"}
    )
    content_balancing = Flag(metadata={"description": "keep to the blueprint's proportions"})
    content_rule = fields.Enum(
        ContentRule,
        by_value=True,
        metadata={
            "description": "how proportions are kept: `quota` (the neediest objective first, then its best item), "
            "`priority_index` (the best item of all objectives that the proportions allow, weighted by what they "
            "lack; needs a maximum length)"
        },
    )
    content_level = fields.Enum(
        ContentLevel,
        by_value=True,
        metadata={
            "description": "whose proportions are kept first: those of all `objectives` alike, or those of the "
            "`domains`, and of the objectives within each"
        },
    )
    strict_content = Flag(
        metadata={"description": "refuse to start where the bank can't fill the maximum length in proportion"}
    )
    randomesque = Integer(minimum=1, maximum=100, metadata={"description": "choose by chance among this many best"})
    constraints = fields.List(
        fields.Dict(keys=fields.String()),
        validate=validate.Length(max=MOST_CONSTRAINTS),
        metadata={
            "description": "what must hold of the whole session, whatever the answers: counts, totals and means by "
            "attribute, enemies, stimulus sets, order; see the guide to the engine. Needs a maximum length"
        },
    )
    review_share = Number(
        validate=validate.Range(min=0, max=1),
        metadata={"description": "share of positions that go to items due for review, while there are any"},
    )
    sibling_after = Integer(
        allow_none=True,
        minimum=0,
        maximum=100,
        metadata={"description": "positions between a wrong answer and a sibling of its item; null for never"},
    )
    pretest_slots = fields.List(
        Integer(minimum=1, maximum=LONGEST_SESSION),
        validate=validate.Length(max=MOST_SLOTS),
        metadata={"description": "positions that are given to unscored pretest items, while there are any"},
    )
    maximum_exposure = Number(
        allow_none=True,
        validate=validate.Range(min=0, max=1, min_inclusive=False),
        metadata={"description": "share of sessions of this mode that an item may appear in; null for no bound"},
    )
    minimum_length = Integer(
        minimum=0,
        maximum=LONGEST_SESSION,
        metadata={"description": "items before anything but `time_limit_s` may end it"},
    )
    maximum_length = Integer(
        minimum=1, maximum=LONGEST_SESSION, allow_none=True, metadata={"description": "items at most; null for no end"}
    )
    standard_error = Number(
        allow_none=True,
        validate=validate.Range(min=0, max=10, min_inclusive=False),
        metadata={"description": "stop once ability is known this well, in logits; null for never"},
    )
    change_of_estimate = Number(
        allow_none=True,
        validate=validate.Range(min=0, max=10, min_inclusive=False),
        metadata={"description": "stop once an answer moves the estimate by less, in logits; null for never"},
    )
    minimum_information = Number(
        allow_none=True,
        validate=validate.Range(min=0, max=1000, min_inclusive=False),
        metadata={"description": "stop once no eligible item informs as much, per squared logit; null for never"},
    )
    time_limit_s = Integer(
        allow_none=True,
        minimum=1,
        maximum=LONGEST_TIME,
        metadata={
            "description": "stop at the first answer so many seconds after the start; a form ends then; null for none"
        },
    )
    classification = fields.Enum(
        Classification,
        by_value=True,
        metadata={
            "description": "stop once it is clear on which side of the exam's cut score the ability lies: "
            "`confidence_interval` (the interval around the estimate leaves the cut score), "
            "`sprt` (sequential probability ratio test), `none`"
        },
    )
    confidence = Number(
        validate=validate.Range(min=0, max=1, min_inclusive=False, max_inclusive=False),
        metadata={"description": "coverage of the two-sided interval of `confidence_interval`"},
    )
    indifference = Number(
        validate=validate.Range(min=0, max=10, min_inclusive=False),
        metadata={"description": "half the width of the region around the cut score that `sprt` may err in, in logits"},
    )
    alpha = Number(
        validate=validate.Range(min=0, max=0.5, min_inclusive=False, max_inclusive=False),
        metadata={"description": "`sprt`: probability of passing a learner at the lower end of that region"},
    )
    beta = Number(
        validate=validate.Range(min=0, max=0.5, min_inclusive=False, max_inclusive=False),
        metadata={"description": "`sprt`: probability of failing a learner at its upper end"},
    )
    on_time_out = fields.Enum(
        TimeOut,
        by_value=True,
        metadata={
            "description": "what a session that classifies decides when its time is over: `estimate` (the estimate "
            "decides; fail with fewer answers than the minimum), `fail`, `none` (no decision)"
        },
    )
    repeats = fields.Enum(
        Repeats, by_value=True, metadata={"description": "whether items of earlier sessions may come again"}
    )
    repeat_after_hours = Number(
        validate=validate.Range(min=0, max=TEN_YEARS),
        metadata={"description": "how long ago an item must have been answered to come again"},
    )
    feedback = fields.Enum(Feedback, by_value=True, metadata={"description": "when answers are explained"})
    starts_from = fields.Enum(
        StartsFrom, by_value=True, metadata={"description": "the ability it begins with: the exam's, or the learner's"}
    )
    estimator = fields.Enum(
        Estimator,
        by_value=True,
        metadata={
            "description": "of the ability that the report tells: `eap` (posterior mean), `map` (posterior mode), "
            "`wle` (weighted likelihood), `mle` (maximum likelihood)"
        },
    )
    shuffle_options = Flag(metadata={"description": "show options in an order drawn for the session"})


class StartSessionSchema(Strict):
    """Body of `POST /v1/sessions`."""

    exam = Slug(required=True, metadata={"description": "slug of the exam"})
    learner = ExternalId(
        required=True,
        metadata={"description": "your id for the learner; opaque to us, so send nothing personal"},
    )
    mode = fields.Enum(Mode, by_value=True, required=True, metadata={"description": "what the session is for"})
    policy = fields.Nested(PolicySchema, load_default=dict)
    objectives = fields.List(
        Text(shortest=1, length=40),
        load_default=list,
        validate=validate.Length(max=500),
        metadata={"description": "codes of objectives or domains to keep to; empty for all"},
    )
    seed = Integer(
        minimum=0,
        maximum=LARGEST_SEED,
        load_default=None,
        metadata={"description": "makes the session's chance repeatable; drawn for you if you send none"},
    )


class AnswerSchema(Strict):
    """Body of `POST /v1/sessions/{session}/responses`."""

    position = Integer(required=True, minimum=1, metadata={"description": "the position that is answered"})
    item = IdText(required=True, metadata={"description": "id of the item at that position"})
    selected = fields.List(
        IdText(),
        required=True,
        validate=validate.Length(max=50),
        metadata={"description": "ids of the options chosen"},
    )
    response_time_ms = Integer(
        minimum=0,
        maximum=LONGEST_ANSWER_MS,
        load_default=None,
        allow_none=True,
        metadata={"description": "time from showing the item to the answer"},
    )

    @post_load
    def to_given(self, data: dict[str, Any], **_: Any) -> Given:
        return Given(data["position"], data["item"], tuple(data["selected"]), data["response_time_ms"])


class ChangeSchema(Strict):
    """Body of `PUT /v1/sessions/{session}/responses/{position}`: what is not in it stays as it is."""

    item = IdText(load_default=None, metadata={"description": "id of the item at that position, to be sure"})
    selected = fields.List(
        IdText(),
        allow_none=True,
        validate=validate.Length(max=50),
        metadata={"description": "ids of the options chosen; null takes an answer back"},
    )
    flagged = Flag(metadata={"description": "marked by the learner, to come back to"})
    response_time_ms = Integer(
        minimum=0,
        maximum=LONGEST_ANSWER_MS,
        load_default=None,
        allow_none=True,
        metadata={"description": "time on the position since it was last sent; it adds up"},
    )

    @validates_schema
    def says_something(self, data: dict[str, Any], **_: Any) -> None:
        if "selected" not in data and "flagged" not in data:
            raise ValidationError("Either `selected` or `flagged` is needed.")


class PictureSchema(Reply):
    id = fields.UUID(required=True, metadata={"description": "`GET /v1/media/{id}` has the image"})
    alt = fields.String(required=True)
    description = fields.String(required=True)


class OptionSchema(Reply):
    """An option before the answer."""

    id = fields.UUID(required=True)
    text = fields.String(required=True, metadata={"description": "HTML"})


class QuestionSchema(Reply):
    """An item before its answer: nothing in it tells which option is right."""

    id = fields.UUID(required=True)
    version = fields.Integer(required=True)
    kind = fields.String(required=True)
    objective = fields.String(required=True)
    stem = fields.String(required=True, metadata={"description": "HTML"})
    options = fields.List(fields.Nested(OptionSchema), required=True, metadata={"description": "in the order to show"})
    media = fields.List(fields.Nested(PictureSchema), required=True)


class ServedSchema(Reply):
    """An item at its position."""

    position = fields.Integer(required=True)
    item = fields.Nested(QuestionSchema, required=True)


class FilledSchema(ServedSchema):
    """A position of a form as the learner left it."""

    selected = fields.List(fields.UUID(), required=True, allow_none=True, metadata={"description": "null for none"})
    flagged = fields.Boolean(required=True)
    revision = fields.Integer(required=True, metadata={"description": "changes so far; 0 if it was never touched"})


class SheetSchema(Reply):
    """How far a form is filled."""

    length = fields.Integer(required=True, metadata={"description": "positions of the form"})
    answered = fields.List(fields.Integer(), required=True, metadata={"description": "positions with an answer"})
    flagged = fields.List(fields.Integer(), required=True, metadata={"description": "positions with a flag"})


class LinkSchema(Reply):
    """A place to read."""

    article = fields.UUID(required=True)
    slug = fields.String(required=True)
    anchor = fields.String(required=True)
    href = fields.String(required=True)


class MisconceptionSchema(Reply):
    code = fields.String(required=True)
    statement = fields.String(required=True, metadata={"description": "HTML"})
    link = fields.Nested(LinkSchema, required=True, allow_none=True)


class ExplainedOptionSchema(Reply):
    id = fields.UUID(required=True)
    correct = fields.Boolean(required=True)
    selected = fields.Boolean(required=True)
    rationale = fields.String(required=True, metadata={"description": "HTML"})
    misconception = fields.Nested(MisconceptionSchema, required=True, allow_none=True)


class ReferenceSchema(Reply):
    citation = fields.String(required=True)
    url = fields.String(required=True)


class FeedbackSchema(Reply):
    """Why each option is right or wrong; the chosen ones come first, then the keys."""

    short_explanation = fields.String(required=True, metadata={"description": "HTML"})
    full_explanation = fields.String(required=True, metadata={"description": "HTML"})
    options = fields.List(fields.Nested(ExplainedOptionSchema), required=True)
    articles = fields.List(fields.Nested(LinkSchema), required=True)
    media = fields.List(fields.Nested(PictureSchema), required=True)
    references = fields.List(fields.Nested(ReferenceSchema), required=True)


class AbilitySchema(Reply):
    """In logits, on a population with mean 0 and standard deviation 1."""

    theta = fields.Float(required=True)
    standard_error = fields.Float(required=True)


class DecisionSchema(Reply):
    """Pass or fail against the exam's cut score as it was when the session began."""

    outcome = fields.Enum(Outcome, by_value=True, required=True)
    rule = fields.Enum(
        Rule,
        by_value=True,
        required=True,
        metadata={
            "description": "by what: `confidence_interval` or `sprt` (it was clear), `estimate` (it ended before), "
            "`form` (as many right answers as to expect at the cut score, or fewer), `time_out` (the policy says fail)"
        },
    )
    cut_score = fields.Float(required=True, metadata={"description": "in logits"})


class StepSchema(Reply):
    """Reply to an answer."""

    position = fields.Integer(required=True)
    correct = fields.Boolean(
        required=True,
        allow_none=True,
        metadata={"description": "null for a learner's token while the policy keeps feedback for the end"},
    )
    score = fields.Float(
        required=True,
        allow_none=True,
        metadata={
            "description": "from 0 to 1: the right options chosen less the wrong ones, as a share of all right ones; "
            "null as `correct`"
        },
    )
    feedback = fields.Nested(
        FeedbackSchema,
        required=True,
        allow_none=True,
        metadata={"description": "null while the policy keeps it for the end"},
    )
    ability = fields.Nested(AbilitySchema, required=True, allow_none=True, metadata={"description": "as `correct`"})
    status = fields.Enum(SessionStatus, by_value=True, required=True)
    stop_reason = fields.String(required=True, allow_none=True, metadata=STOP_REASONS)
    decision = fields.Nested(
        DecisionSchema,
        required=True,
        allow_none=True,
        metadata={"description": "of a session that classifies, once it is over; null where nothing is decided"},
    )
    next = fields.Nested(ServedSchema, required=True, allow_none=True)


class SessionSchema(Reply):
    """A session as it stands."""

    id = fields.UUID(required=True)
    exam = fields.String(required=True)
    learner = fields.String(required=True, allow_none=True, metadata={"description": "null once the learner is erased"})
    mode = fields.Enum(Mode, by_value=True, required=True)
    policy = fields.Nested(PolicySchema, required=True)
    objectives = fields.List(fields.String(), required=True)
    seed = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "null for a learner's token"},
    )
    status = fields.Enum(SessionStatus, by_value=True, required=True)
    stop_reason = fields.String(required=True, allow_none=True, metadata=STOP_REASONS)
    answered = fields.Integer(required=True, metadata={"description": "positions answered so far"})
    ability = fields.Nested(
        AbilitySchema,
        required=True,
        allow_none=True,
        metadata={"description": "null for a learner's token while the policy keeps feedback for the end"},
    )
    started_at = Moment(required=True)
    expires_at = Moment(
        required=True, allow_none=True, metadata={"description": "when the time is over; null without a limit"}
    )
    seconds_left = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "until then, by the server's clock; null once it ended"},
    )
    finished_at = Moment(required=True, allow_none=True)
    form = fields.Nested(
        SheetSchema, required=True, allow_none=True, metadata={"description": "null for a session without a form"}
    )


class StartedSchema(SessionSchema):
    """A new session, with its first item so that no second call is needed."""

    next = fields.Nested(ServedSchema, required=True)


class ScaledScoreSchema(Reply):
    """On the exam's scale; `low` and `high` are the 5 and 95 % points."""

    value = fields.Float(required=True)
    low = fields.Float(required=True)
    high = fields.Float(required=True)


class ObjectiveCountSchema(Reply):
    code = fields.String(required=True)
    title = fields.String(required=True)
    answers = fields.Integer(required=True)
    right = fields.Integer(required=True)


class EstimateSchema(Reply):
    """A number with its 5 and 95 % points."""

    value = fields.Float(required=True)
    low = fields.Float(required=True)
    high = fields.Float(required=True)


class MasterySchema(Reply):
    """How good a learner is at an objective or a domain."""

    theta = fields.Float(required=True, metadata={"description": "in logits"})
    standard_error = fields.Float(required=True)
    share_right = fields.Nested(
        EstimateSchema,
        required=True,
        allow_none=True,
        metadata={"description": "of its items the learner is expected to get right; null where there are no items"},
    )
    above_cut = fields.Float(
        required=True, metadata={"description": "probability that the ability is at the exam's cut score or above"}
    )


class DomainMasterySchema(Reply):
    """A domain and what is known of it. Fewer than 3 clean answers are not enough to tell."""

    code = fields.String(required=True)
    title = fields.String(required=True)
    answers = fields.Integer(required=True, metadata={"description": "clean first ones"})
    evidence = fields.String(required=True, validate=validate.OneOf(["enough", "not_enough"]))
    missing_answers = fields.Integer(required=True, metadata={"description": "clean ones that are missing"})
    mastery = fields.Nested(
        MasterySchema, required=True, allow_none=True, metadata={"description": "null without enough evidence"}
    )


class ReviewedSchema(Reply):
    position = fields.Integer(required=True)
    item = fields.Nested(QuestionSchema, required=True)
    selected = fields.List(fields.UUID(), required=True)
    correct = fields.Boolean(required=True, allow_none=True)
    score = fields.Float(required=True, allow_none=True)
    exposure_class = fields.Enum(
        ExposureClass,
        by_value=True,
        required=True,
        allow_none=True,
        metadata={"description": "null for a position of a form without an answer"},
    )
    feedback = fields.Nested(FeedbackSchema, required=True, allow_none=True)


class PassProbabilitySchema(Reply):
    """The chance of passing another form as strong as this one; `low` and `high` are its 5 and 95 % quantiles."""

    value = fields.Float(required=True)
    low = fields.Float(required=True)
    high = fields.Float(required=True)


class FormResultSchema(Reply):
    """What a form came to. Positions of items that were suspended meanwhile don't count."""

    length = fields.Integer(required=True, metadata={"description": "positions that count"})
    unanswered = fields.Integer(required=True, metadata={"description": "of these, without an answer: not right"})
    right = fields.Integer(required=True, metadata={"description": "of these"})
    pass_mark = fields.Integer(
        required=True, metadata={"description": "right answers that pass: what to expect at the cut score, rounded up"}
    )
    met_before = fields.Integer(required=True, metadata={"description": "items that the learner had met before"})
    pass_probability = fields.Nested(
        PassProbabilitySchema, required=True, allow_none=True, metadata={"description": "null without enough evidence"}
    )
    domains = fields.List(fields.Nested(ObjectiveCountSchema), required=True)
    time_used_s = fields.Float(required=True, metadata={"description": "seconds from the start to the end"})


class ReportedSchema(AbilitySchema):
    """Ability by the policy's estimator."""

    estimator = fields.Enum(Estimator, by_value=True, required=True)
    at_bound = fields.Boolean(
        required=True, metadata={"description": "the answers have no finite estimate, so it is a bound and no score"}
    )


class ReportSchema(Reply):
    """What a session came to. Numbers that the policy keeps for the end are null until then."""

    session = fields.UUID(required=True)
    status = fields.Enum(SessionStatus, by_value=True, required=True)
    stop_reason = fields.String(required=True, allow_none=True, metadata=STOP_REASONS)
    answers = fields.Integer(required=True)
    right = fields.Integer(required=True, allow_none=True)
    ability = fields.Nested(AbilitySchema, required=True, allow_none=True)
    estimate = fields.Nested(
        ReportedSchema,
        required=True,
        allow_none=True,
        metadata={"description": "by the policy's estimator; the score rests on it"},
    )
    score = fields.Nested(
        ScaledScoreSchema, required=True, allow_none=True, metadata={"description": "null without enough evidence"}
    )
    evidence = fields.String(
        required=True, validate=validate.OneOf(["enough", "not_enough"]), metadata={"description": "for a score"}
    )
    decision = fields.Nested(
        DecisionSchema,
        required=True,
        allow_none=True,
        metadata={"description": "of a session that classifies, once it is over; null where nothing is decided"},
    )
    objectives = fields.List(fields.Nested(ObjectiveCountSchema), required=True, allow_none=True)
    domains = fields.List(
        fields.Nested(DomainMasterySchema),
        required=True,
        allow_none=True,
        metadata={
            "description": "by this session's clean answers alone; null of a session that starts from what is known "
            "of the learner"
        },
    )
    next_due_at = Moment(
        required=True,
        allow_none=True,
        metadata={"description": "when the learner's next review is due; null until the session is finished"},
    )
    items = fields.List(fields.Nested(ReviewedSchema), required=True)
    form = fields.Nested(
        FormResultSchema, required=True, allow_none=True, metadata={"description": "of a form, once it is over"}
    )


class TracedResponseSchema(Reply):
    """An answer with all that led to it, for people who check the engine."""

    id = fields.UUID(required=True)
    position = fields.Integer(required=True)
    item = fields.UUID(required=True)
    version = fields.Integer(required=True)
    objective = fields.String(required=True)
    selected = fields.List(fields.UUID(), required=True)
    correct = fields.Boolean(required=True)
    score = fields.Float(required=True)
    response_time_ms = fields.Integer(required=True, allow_none=True)
    exposure_class = fields.Enum(ExposureClass, by_value=True, required=True)
    moves_ability = fields.Boolean(required=True)
    ability_before = fields.Nested(AbilitySchema, required=True)
    ability_after = fields.Nested(AbilitySchema, required=True)
    trace = fields.Dict(required=True)
    served_at = Moment(required=True)
    answered_at = Moment(required=True)


class TokenSchema(Reply):
    """A learner's token for one session."""

    token = fields.String(required=True)
    token_type = fields.String(required=True)
    expires_at = Moment(required=True)
