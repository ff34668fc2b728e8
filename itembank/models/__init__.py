"""Tables, one module per aggregate: columns, constraints, no rules and no queries.

`id` joins tables and never leaves the process; `uuid` is what the outside sees; `slug`, `code`, `key` are for people.
"""

from itembank.models.articles import Article, ArticleObjective, ArticleSection, ArticleVersion, MistakeEntry
from itembank.models.clients import ApiClient, AuditEntry, IdempotencyRecord, Tenant
from itembank.models.exams import Blueprint, BlueprintNode, Exam, Objective
from itembank.models.exports import Export
from itembank.models.items import Item, ItemMedia, ItemRelation, ItemTag, ItemTiming, ItemVersion, Misconception, Option
from itembank.models.jobs import Job, JobFile
from itembank.models.learners import Learner, LearnerItem, LearnerState, PracticeModel
from itembank.models.media import Media
from itembank.models.parameters import ItemParameter, ParameterRelease, Pool, PoolItem, ReleaseActivation
from itembank.models.sessions import FormAnswer, Response, Score, Session

__all__ = [
    "ApiClient",
    "Article",
    "ArticleObjective",
    "ArticleSection",
    "ArticleVersion",
    "AuditEntry",
    "Blueprint",
    "BlueprintNode",
    "Exam",
    "Export",
    "FormAnswer",
    "IdempotencyRecord",
    "Item",
    "ItemMedia",
    "ItemParameter",
    "ItemRelation",
    "ItemTag",
    "ItemTiming",
    "ItemVersion",
    "Job",
    "JobFile",
    "Learner",
    "LearnerItem",
    "LearnerState",
    "Media",
    "Misconception",
    "MistakeEntry",
    "Objective",
    "Option",
    "ParameterRelease",
    "Pool",
    "PoolItem",
    "PracticeModel",
    "ReleaseActivation",
    "Response",
    "Score",
    "Session",
    "Tenant",
]
