"""Images are told by their bytes; an SVG that could run or fetch anything is refused."""

import pytest

from itembank.errors import Unreadable
from itembank.formats.images import media_type
from tests.factories.bundles import SVG


def svg(inside: str = "", attributes: str = "", before: str = "") -> bytes:
    return (
        f'{before}<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {attributes}>'
        f"{inside}</svg>"
    ).encode()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x89PNG\r\n\x1a\n....", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"RIFF\x00\x01\x02\x03WEBPVP8 ", "image/webp"),
        (SVG.encode(), "image/svg+xml"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>" + svg(), "image/svg+xml"),
        (svg('<style>a{fill:url("#x")}</style><use xlink:href="#x"/><!-- c -->'), "image/svg+xml"),
        (svg('<image href="data:image/png;base64,AA=="/><text style="fill:url( #g )">on</text>'), "image/svg+xml"),
        (svg('<metadata><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/></metadata>'), "image/svg+xml"),
    ],
)
def test_what_is_an_image(data: bytes, expected: str) -> None:
    assert media_type(data) == expected


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"%PDF-1.7",
        b"RIFF....WAVE",
        b"<html><body/></html>",
        b"<svg/>",
        b"<svg",
        svg("<script>alert(1)</script>"),
        svg("<SCRIPT>alert(1)</SCRIPT>"),
        svg('<foreignObject><b xmlns="http://www.w3.org/1999/xhtml">x</b></foreignObject>'),
        svg('<b xmlns="http://www.w3.org/1999/xhtml">x</b>'),
        svg(attributes='onload="alert(1)"'),
        svg('<a href="javascript:alert(1)"><path/></a>'),
        svg('<a href=" https://e.example"><path/></a>'),
        svg('<image xlink:href="https://e.example/x.png"/>'),
        svg('<image href="data:image/svg+xml;base64,AA=="/>'),
        svg('<use href="other.svg#x"/>'),
        svg("<style>@import 'https://e.example/x.css';</style>"),
        svg("<style>a{fill:url(https://e.example/x)}</style>"),
        svg("<style>a{fill:\\75rl(https://e.example/x)}</style>"),
        svg('<path style="fill:url(&#39;//e.example/x&#39;)"/>'),
        svg('<path fill="url(https://e.example/x)"/>'),
        svg('<animate attributeName="href" to="javascript:alert(1)"/>'),
        svg(attributes='xml:base="https://e.example/"'),
        svg(before="<!DOCTYPE svg>"),
        svg("&x;", before='<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
        svg(before='<?xml-stylesheet href="https://e.example/x.css"?>'),
        svg("<?php x ?>"),
        b"\x1f\x8b\x08",
    ],
)
def test_what_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable):
        media_type(data)


def test_an_image_has_a_largest_size() -> None:
    with pytest.raises(Unreadable, match="bytes"):
        media_type(b"GIF89a" + bytes(5 * 1024 * 1024))
