"""The product's application as a factory for gunicorn, from the environment like any other."""

import os

from flask import Flask

from api.app import create_app
from api.config import Config


def app() -> Flask:
    return create_app(Config.from_environment(os.environ))
