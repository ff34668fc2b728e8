"""Bundles: what is read, and that every mistake is named at its line, all of them at once."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from itembank.content import ArticleKind, MediaRole, Reading
from itembank.errors import Unreadable
from itembank.formats import bundle
from tests.factories.bundles import SVG, Documents, article, broken, documents, item, write

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "bundle.schema.json").read_text())


def complaints(folder: Path) -> list[str]:
    return [str(issue) for issue in bundle.read(folder).all_issues]


def test_a_bundle_is_read_as_it_was_written(tmp_path: Path) -> None:
    read = bundle.read(write(tmp_path))
    assert read.all_issues == ()
    assert read.exam is not None
    assert [node.code for node in read.exam.content.blueprint[0].objectives] == ["1.1", "1.2"]
    one, two = read.items
    assert (one.key, two.enemies) == ("one", ("one",))
    assert one.content.reading == (Reading("lesson", "first"),)
    assert [option.correct for option in one.content.options] == [True, False, False]
    use = one.content.media[0]
    assert (use.role, use.alt, read.media.keys()) == (MediaRole.EXPLANATION, "a line", {use.media})


def test_an_articles_text_is_split_at_its_headings(tmp_path: Path) -> None:
    lesson, mistakes = (part.content for part in bundle.read(write(tmp_path)).articles)
    assert (lesson.introduction, lesson.sections[0].anchor, lesson.sections[0].body) == ("Hello.", "first", "Text.")
    assert (mistakes.kind, mistakes.entries[0].anchor) == (ArticleKind.COMMON_MISTAKES, "so")


def test_a_folder_without_an_exam_is_no_bundle(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(Unreadable):
            bundle.read(folder)


def test_all_mistakes_are_named_with_file_line_and_place(tmp_path: Path) -> None:
    files = documents()
    files["items/first.yaml"] = (
        "- id: one\n"
        "  objective: 1.1\n"
        "  stem: What?\n"
        "  colour: red\n"
        "  options:\n"
        "    - {id: a, text: A, correct: yes please}\n"
        "    - id: b\n"
        "- just text\n"
    )
    assert complaints(write(tmp_path, files)) == [
        "items/first.yaml:4 /0/colour: there is no such field",
        "items/first.yaml:2 /0/objective: must be text, not a number; put it in quotes",
        "items/first.yaml:6 /0/options/0/correct: must be true or false, not text",
        "items/first.yaml:7 /0/options/1/text: is missing",
        "items/first.yaml:8 /1: must be a mapping, not text",
    ]


def test_rules_speak_of_the_fields_of_the_bundle(tmp_path: Path) -> None:
    def change(files: Documents) -> None:
        files["items/first.yaml"][0]["options"][1]["id"] = "Not a slug"
        files["articles/lesson.md"] = files["articles/lesson.md"].replace("## First {#first}", "\n\n## First")

    assert [line.rpartition(": ")[0] for line in complaints(broken(tmp_path, change))] == [
        "articles/lesson.md:12 /sections/0",
        "items/first.yaml:13 /0/options/1/id",
    ]


def test_an_id_is_taken_once(tmp_path: Path) -> None:
    def change(files: Documents) -> None:
        files["items/second.yaml"] = [item("one")]

    assert complaints(broken(tmp_path, change)) == ["items/second.yaml:1 /0/id: 'one' is taken by items/first.yaml:1"]


def file(name: str) -> Callable[[Documents], None]:
    def change(files: Documents) -> None:
        files["items/first.yaml"][0]["media"][0]["file"] = name

    return change


@pytest.mark.parametrize("name", ["../secret.svg", "/etc/passwd", "media/../../secret.svg", "media/link.svg", "a\0b"])
def test_no_way_leads_out_of_the_bundle(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.svg").write_text(SVG)
    folder = broken(tmp_path / "bundle", file(name))
    (folder / "media" / "link.svg").symlink_to(tmp_path / "secret.svg")
    issues = complaints(folder)
    assert len(issues) == 1
    assert "/0/media/0/file" in issues[0]


def test_a_linked_folder_is_not_followed_either(tmp_path: Path) -> None:
    write(tmp_path / "other")
    folder = write(tmp_path / "bundle")
    (folder / "items" / "more.yaml").symlink_to(tmp_path / "other" / "items" / "first.yaml")
    assert complaints(folder) == ["items/more.yaml: items/more.yaml: lies outside the bundle"]


def test_a_missing_image_and_one_that_is_none(tmp_path: Path) -> None:
    assert "no such file" in complaints(broken(tmp_path / "a", file("media/gone.svg")))[0]
    assert "not a PNG" in complaints(broken(tmp_path / "b", file("exam.yaml")))[0]


def test_files_that_do_not_belong_are_named(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / "items" / "notes.txt").write_text("x")
    (folder / "items" / ".hidden").write_text("x")
    (folder / "items" / "latin.yaml").write_bytes(b"- id: \xe9")
    (folder / "articles" / "bare.md").write_text("no front matter")
    named = sorted(line.partition(":")[0] for line in complaints(folder))
    assert named == ["articles/bare.md", "items/latin.yaml", "items/notes.txt"]


# The schema in docs and the reader say the same


def definition(name: str) -> dict[str, Any]:
    return {**SCHEMA, "$ref": f"#/$defs/{name}"}


def front_matter(text: str) -> Any:
    return yaml.safe_load(text.split("---\n")[1])


def valid_by_schema(files: Documents) -> bool:
    checks = [("exam", files["exam.yaml"])]
    for name, content in files.items():
        if name.startswith(("items/", "misconceptions/")):
            checks.append((name.partition("/")[0], content))
        elif name.startswith("articles/"):
            checks.append(("article", front_matter(content)))
    return all(jsonschema.Draft202012Validator(definition(name)).is_valid(document) for name, document in checks)


def set_item(**changes: Any) -> Callable[[Documents], None]:
    def change(files: Documents) -> None:
        files["items/first.yaml"][0] |= changes

    return change


def set_option(**changes: Any) -> Callable[[Documents], None]:
    def change(files: Documents) -> None:
        files["items/first.yaml"][0]["options"][1] |= changes

    return change


def set_exam(**changes: Any) -> Callable[[Documents], None]:
    def change(files: Documents) -> None:
        files["exam.yaml"] |= changes

    return change


def set_article(**changes: Any) -> Callable[[Documents], None]:
    def change(files: Documents) -> None:
        front = front_matter(files["articles/mistakes.md"]) | changes
        files["articles/mistakes.md"] = article(front, "Beware.\n")

    return change


def set_misconception(**changes: Any) -> Callable[[Documents], None]:
    def change(files: Documents) -> None:
        files["misconceptions/all.yaml"][0] |= changes

    return change


def drop(file: str, name: str) -> Callable[[Documents], None]:
    def change(files: Documents) -> None:
        document = files[file]
        del (document[0] if isinstance(document, list) else document)[name]

    return change


BAD = {
    "unknown field": set_item(colour="red"),
    "no id": drop("items/first.yaml", "id"),
    "no stem": drop("items/first.yaml", "stem"),
    "no options": drop("items/first.yaml", "options"),
    "empty stem": set_item(stem="  "),
    "stem too long": set_item(stem="x" * 20_001),
    "stem a number": set_item(stem=3),
    "unknown kind": set_item(kind="essay"),
    "tag without namespace": set_item(tags=["apply"]),
    "unknown bloom level": set_item(tags=["bloom:guess"]),
    "two bloom levels": set_item(tags=["bloom:apply", "bloom:create"]),
    "tag twice": set_item(tags=["a:b", "a:b"]),
    "angoff 1": set_item(angoff=1),
    "angoff text": set_item(angoff="often"),
    "shuffle text": set_item(shuffle="no"),
    "one option": set_item(options=[{"id": "a", "text": "A", "correct": True}]),
    "no key": set_item(options=[{"id": "a", "text": "A"}, {"id": "b", "text": "B"}]),
    "two keys": set_option(correct=True, misconception=None),
    "no key, multiple": set_item(kind="multiple_choice", options=[{"id": "a", "text": "A"}, {"id": "b", "text": "B"}]),
    "option id": set_option(id="Option B"),
    "option text empty": set_option(text=""),
    "option unknown field": set_option(letter="B"),
    "rationale too long": set_option(rationale="x" * 5_001),
    "media without alt": set_item(media=[{"file": "media/x.svg", "role": "stem"}]),
    "media role": set_item(media=[{"file": "media/x.svg", "role": "banner", "alt": "x"}]),
    "reference address": set_item(references=[{"citation": "x", "url": "javascript:alert(1)"}]),
    "reference without citation": set_item(references=[{"url": "https://example.org"}]),
    "read without anchor": set_item(read=[{"article": "lesson"}]),
    "enemies text": set_item(enemies="two"),
    "exam slug": set_exam(slug="Not A Slug"),
    "exam without blueprint": drop("exam.yaml", "blueprint"),
    "exam without domains": set_exam(blueprint=[]),
    "exam weight": set_exam(blueprint=[{"code": "1", "title": "T", "weight": 2}]),
    "exam scale": set_exam(scale={"sd": 0}),
    "exam scale field": set_exam(scale={"median": 0}),
    "exam prior": set_exam(prior={"sd": -1}),
    "exam cut": set_exam(cut_score=600),
    "article kind": set_article(kind="blog"),
    "article without entries": set_article(entries=[]),
    "article entry field": set_article(entries=[{"anchor": "so", "name": "x"}]),
    "lesson with entries": set_article(kind="lesson"),
    "article title": set_article(title=""),
    "misconception code": set_misconception(code="Wrong One"),
    "misconception statement": set_misconception(statement=""),
    "misconception half a link": drop("misconceptions/all.yaml", "entry"),
}


def test_the_schema_accepts_what_the_reader_accepts(tmp_path: Path) -> None:
    assert valid_by_schema(documents())
    assert complaints(write(tmp_path)) == []


@pytest.mark.parametrize("name", BAD)
def test_the_schema_refuses_what_the_reader_refuses(tmp_path: Path, name: str) -> None:
    files = documents()
    BAD[name](files)
    assert not valid_by_schema(files)
    assert complaints(write(tmp_path, files)) != []


GOOD = {
    "several keys, multiple": set_item(
        kind="multiple_choice", options=[{"id": i, "text": i, "correct": True} for i in ("a", "b")]
    ),
    "no rationale": set_option(rationale=""),
    "no media": set_item(media=[]),
    "null misconception": set_option(misconception=None),
    "no angoff": set_item(angoff=None),
}


@pytest.mark.parametrize("name", GOOD)
def test_both_accept(tmp_path: Path, name: str) -> None:
    files = documents()
    GOOD[name](files)
    assert valid_by_schema(files)
    assert complaints(write(tmp_path, files)) == []
