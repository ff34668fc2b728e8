"""Practise the demo's exam in a terminal: the whole conversation of an LMS with Nextitem, in standard Python.

    make demo                      # in one shell
    python3 examples/practise.py   # in another

With `--guess N` it answers N questions by itself, taking the first option each time.
"""

import argparse
import json
import re
import sys
import textwrap
import time
from html import unescape
from pathlib import Path
from urllib.request import Request, urlopen


def main() -> None:
    parser = argparse.ArgumentParser(description="Practise the demo's exam in a terminal.")
    parser.add_argument("--demo", type=Path, default=Path("var/demo.json"), help="what `make demo` wrote")
    parser.add_argument("--learner", default="terminal", help="any id; answers of one learner add up")
    parser.add_argument("--guess", type=int, metavar="N", help="answer N questions by taking the first option")
    options = parser.parse_args()
    if not options.demo.is_file():
        sys.exit(f"{options.demo} is not there: start the demo first, with `make demo`")
    practise(json.loads(options.demo.read_text()), options.learner, options.guess)


def practise(demo: dict, learner: str, guesses: int | None) -> None:
    call = caller(demo["base_url"], demo["api_key"])
    session = call("POST", "/v1/sessions", {"exam": demo["exam"], "learner": learner, "mode": "practice"})
    served, answered = session["next"], 0
    while served is not None and answered != guesses:
        started = time.monotonic()
        chosen = ask(served, guesses is not None)
        if chosen is None:
            break
        answer = {
            "position": served["position"],
            "item": served["item"]["id"],
            "selected": [chosen],
            "response_time_ms": int(1000 * (time.monotonic() - started)),
        }
        step = call("POST", f"/v1/sessions/{session['id']}/responses", answer)
        explain(step)
        served, answered = step["next"], answered + 1
    call("POST", f"/v1/sessions/{session['id']}/finish")
    summarise(call("GET", f"/v1/sessions/{session['id']}/report"))


def caller(base_url: str, api_key: str):  # a function from method, path and body to the reply
    def call(method: str, path: str, body: dict | None = None) -> dict:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {api_key}", "Content-Type": "application/json"}
        with urlopen(Request(base_url + path, data, headers, method=method)) as reply:  # noqa: S310  # our own demo
            return json.load(reply)

    return call


def ask(served: dict, guess: bool) -> str | None:
    """Show a question; the id of the option chosen, or None to stop. Letters exist only here, on screen."""
    options = served["item"]["options"]
    letters = "ABCDEFGHIJKL"[: len(options)]
    say(f"\nQuestion {served['position']}: {plain(served['item']['stem'])}")
    for letter, option in zip(letters, options, strict=True):
        say(f"  {letter}  {plain(option['text'])}")
    while not guess:
        typed = input("Your answer (or q to stop): ").strip().upper()
        if typed == "Q":
            return None
        if typed and typed in letters:
            return options[letters.index(typed)]["id"]
    return options[0]["id"]


def explain(step: dict) -> None:
    say("Right." if step["correct"] else "Not right.")
    for option in step["feedback"]["options"]:
        if option["selected"] or option["correct"]:
            say(("+ " if option["correct"] else "- ") + plain(option["rationale"]))
    say(plain(step["feedback"]["short_explanation"]))


def summarise(report: dict) -> None:
    say(f"\n{report['right']} of {report['answers']} right.")
    score = report["score"]
    if score is None:
        say("Not enough evidence for a score yet.")
    else:
        say(f"Score {score['value']:.0f}, with 90 % confidence between {score['low']:.0f} and {score['high']:.0f}.")


def plain(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html)).strip()


def say(text: str) -> None:
    print(textwrap.fill(text, 100, subsequent_indent="  ", replace_whitespace=False))


if __name__ == "__main__":
    main()
