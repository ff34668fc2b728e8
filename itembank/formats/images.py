"""Images: which type the bytes are, and whether an SVG is harmless."""

import re

from lxml import etree

from itembank.errors import Unreadable

SIZE_LIMIT = 5 * 1024 * 1024  # bytes
SVG = "image/svg+xml"
MAGIC = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
)

_SVG_NAMESPACE = "http://www.w3.org/2000/svg"
_ACTIVE = frozenset(
    {"script", "foreignobject", "iframe", "embed", "object", "audio", "video", "handler", "listener", "discard"}
)
_ANIMATIONS = frozenset({"animate", "set", "animatemotion", "animatetransform"})
_HARMLESS_LINK = re.compile(r"#|data:image/(?:png|jpeg|gif|webp);base64,", re.IGNORECASE)
_OUTSIDE = re.compile(r"url\((?!\s*[\"']?\s*#)|@import|javascript:", re.IGNORECASE)
_STYLE_OUTSIDE = re.compile(
    _OUTSIDE.pattern + r"|\\|expression\(|image(-set)?\(|src\(", re.IGNORECASE
)  # \ may hide the rest


def media_type(data: bytes, source: str = "image") -> str:
    """The media type, told by the bytes and not by a name. Raises Unreadable for anything that isn't a safe image.

    >>> media_type(b"GIF89a...")
    'image/gif'
    """
    if len(data) > SIZE_LIMIT:
        raise Unreadable(source, f"has {len(data):,} bytes, {SIZE_LIMIT:,} are allowed")
    for magic, name in MAGIC:
        if magic.match(data):
            return name
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        if what := _unsafe(data):
            raise Unreadable(source, what)
        return SVG
    raise Unreadable(source, "is not a PNG, JPEG, GIF, WebP or SVG image")


def _unsafe(data: bytes) -> str | None:
    """Why an SVG can't be shown to learners, or None. It must neither run anything nor fetch anything."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        return f"is not well-formed XML: {error}"
    if root.getroottree().docinfo.doctype:
        return "an SVG must not have a DOCTYPE"
    if root.tag != f"{{{_SVG_NAMESPACE}}}svg":
        return "is XML, but not an SVG"
    # What stands before or after the root counts too: a stylesheet instruction there would be fetched.
    for node in (*root.itersiblings(preceding=True), *root.iter(), *root.itersiblings()):
        if what := _unsafe_node(node):
            return what
    return None


def _unsafe_node(node: etree._Element) -> str | None:
    if node.tag is etree.Comment:
        return None
    if not isinstance(node.tag, str):
        return "an SVG must not have processing instructions or entities"
    name = etree.QName(node)
    local = name.localname.lower()
    if local in _ACTIVE or name.namespace == "http://www.w3.org/1999/xhtml":
        return f"an SVG must not have the element {local}"
    if local == "style" and _STYLE_OUTSIDE.search("".join(node.itertext())):
        return "the style of an SVG must not refer to anything outside"
    for key, value in node.attrib.items():
        attribute = etree.QName(str(key)).localname.lower()
        if attribute.startswith("on"):
            return f"an SVG must not have the event handler {attribute}"
        if attribute in ("href", "src") and not _HARMLESS_LINK.match(str(value).strip()):
            return f"an SVG must not refer to {str(value)[:80]!r}"
        if attribute == "base":
            return "an SVG must not set a base address"
        if local in _ANIMATIONS and attribute == "attributename" and "href" in str(value).lower():
            return "an SVG must not animate a link"
        if (_STYLE_OUTSIDE if attribute == "style" else _OUTSIDE).search(str(value)):
            return f"the attribute {attribute} of an SVG must not refer to anything outside"
    return None
