"""A tenant with an exam, for tests of the bank."""

import pytest

from itembank.models import Exam, Tenant
from itembank.store import Db
from tests.factories.bank import make_exam, make_tenant


@pytest.fixture
def tenant(db: Db) -> Tenant:
    return make_tenant(db)


@pytest.fixture
def exam(db: Db, tenant: Tenant) -> Exam:
    return make_exam(db, tenant)
