// From what the API says to elements. Nothing here fetches or remembers; what a click does is handed in.

const LETTERS = "ABCDEFGHIJKL";
const SVG = "http://www.w3.org/2000/svg";

export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null && child !== false));
  return element;
}

/** The server's HTML, which it has sanitised. Tables get a box to scroll in, links leave the page alone. */
export function prose(tag, html, attributes = {}) {
  const element = el(tag, attributes);
  element.classList.add("prose");
  // the policy forbids style attributes; the only ones that the server lets through align a table's cells
  element.innerHTML = html.replace(/(<t[dh]\b[^>]*?) style="text-align: ?(left|center|right);?"/g, '$1 data-align="$2"');
  for (const table of element.querySelectorAll("table")) {
    const box = el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Table" });
    table.replaceWith(box);
    box.append(table);
  }
  for (const code of element.querySelectorAll("pre")) code.tabIndex = 0;
  for (const link of element.querySelectorAll("a[href]")) link.target = "_blank";
  return element;
}

function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

const letterOf = (item, id) => LETTERS[item.options.findIndex((option) => option.id === id)] ?? "";
const times = (count, one, many) => `${count} ${count === 1 ? one : many}`;

// The question

/** `onSubmit(selected, form)`: ids of the options chosen, maybe none. */
export function question({ position, item }, { loadImage, onSubmit }) {
  const several = item.kind === "multiple_choice";
  const choices = item.options.map((option, place) =>
    el(
      "label",
      { class: "choice" },
      el("input", { type: several ? "checkbox" : "radio", name: "option", value: option.id }),
      el("span", { class: "letter" }, LETTERS[place]),
      prose("span", option.text),
    ),
  );
  const form = el(
    "form",
    { novalidate: true },
    el("fieldset", {}, el("legend", {}, several ? "Choose all that are right" : "Choose one answer"), ...choices),
    el("p", { class: "complaint", role: "alert" }),
    el(
      "div",
      { class: "bar" },
      el("p", { class: "hint" }, keys("1"), " to ", keys(String(choices.length)), " choose, ", keys("Enter"), " submits"),
      el("button", { class: "primary" }, "Submit answer"),
    ),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    onSubmit(Array.from(form.querySelectorAll("input:checked"), (input) => input.value), form);
  });
  const section = el(
    "section",
    { class: "question", "aria-labelledby": "heading" },
    heading(`Question ${position}`, { "aria-describedby": "stem" }),
    prose("div", item.stem, { id: "stem", class: "stem" }),
    ...item.media.map((picture) => figure(picture, loadImage)),
    form,
  );
  section.addEventListener("keydown", (event) => chooseByNumber(event, choices));
  return section;
}

/** Only while the question has the focus, so that the keys stay free for assistive technology elsewhere. */
function chooseByNumber(event, choices) {
  if (event.ctrlKey || event.altKey || event.metaKey || !/^[1-9]$/.test(event.key)) return;
  const input = choices[Number(event.key) - 1]?.querySelector("input");
  if (!input || input.matches(":disabled")) return;
  event.preventDefault();
  input.focus();
  input.click();
}

function keys(name) {
  return el("kbd", {}, name);
}

function heading(text, attributes = {}) {
  return el("h2", { id: "heading", tabindex: -1, ...attributes }, text);
}

// The feedback

/** An answered position with its verdict as the heading; `isLast`: there is no question after it. */
export function feedback(answered, { onNext, isLast, ...tools }) {
  const { position, item } = answered;
  const section = el(
    "section",
    { class: `answered ${answered.correct ? "is-right" : "is-wrong"}`, "aria-labelledby": "heading" },
    el("p", { class: "kicker" }, `Question ${position}`),
    prose("div", item.stem, { class: "stem" }),
    ...item.media.map((picture) => figure(picture, tools.loadImage)),
    el("div", { class: "verdict" }, icon(answered.correct ? "right" : "wrong"), heading(verdict(answered))),
    ...explanation(answered, tools, "h3"),
    el(
      "div",
      { class: "bar" },
      isLast ? null : el("p", { class: "hint" }, keys("Enter"), " goes on"),
      el("button", { type: "button", class: "primary", onclick: onNext }, isLast ? "See the summary" : "Next question"),
    ),
  );
  section.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.repeat && event.target.id === "heading") onNext();
  });
  return section;
}

function verdict({ correct, item, feedback }) {
  if (correct) return "Right";
  const letters = feedback.options.filter((option) => option.correct).map((option) => letterOf(item, option.id));
  return `Not right: the answer is ${letters.sort().join(" and ")}`;
}

/** What explains an answer, from the chosen option to further reading. */
export function explanation({ item, feedback }, tools, level) {
  const [chosenOrRight, others] = [[], []];
  for (const option of feedback.options) (option.selected || option.correct ? chosenOrRight : others).push(option);
  const card = (option) => explained(option, item, tools);
  return [
    el("ul", { class: "options" }, ...chosenOrRight.map(card)),
    others.length > 0 && el(level, {}, others.length > 1 ? "The other options" : "The other option"),
    others.length > 0 && el("ul", { class: "options others" }, ...others.map(card)),
    el(level, {}, "In short"),
    prose("div", feedback.short_explanation, { class: "short" }),
    ...feedback.media.map((picture) => figure(picture, tools.loadImage)),
    feedback.full_explanation && el(level, {}, "In full"),
    feedback.full_explanation && prose("div", feedback.full_explanation),
    feedback.articles.length > 0 && el(level, {}, "Read on"),
    feedback.articles.length > 0 && el("ul", { class: "reading" }, ...feedback.articles.map((link) => readingItem(link, tools))),
    feedback.references.length > 0 && el(level, {}, "Sources"),
    feedback.references.length > 0 && el("ul", { class: "reading" }, ...feedback.references.map(reference)),
  ].filter(Boolean);
}

function explained(option, item, tools) {
  const text = item.options.find((candidate) => candidate.id === option.id)?.text ?? "";
  const mark = option.correct ? "right" : "wrong";
  const label = option.correct ? (option.selected ? "Right" : "Right answer") : "Wrong";
  return el(
    "li",
    { class: `option is-${mark}${option.selected ? " is-chosen" : ""}` },
    el(
      "p",
      { class: "tags" },
      option.selected && el("span", { class: "tag" }, "Your answer"),
      el("span", { class: `tag tag-${mark}` }, icon(mark), label),
    ),
    el("div", { class: "said" }, el("span", { class: "letter" }, letterOf(item, option.id)), prose("div", text)),
    option.rationale && prose("div", option.rationale, { class: "rationale" }),
    option.misconception && misconception(option, tools),
  );
}

function misconception({ misconception: idea, selected }, tools) {
  return el(
    "div",
    { class: "misconception" },
    el("p", { class: "kicker" }, selected ? "The idea behind your answer" : "The idea behind it"),
    prose("p", idea.statement),
    idea.link && el("button", { type: "button", class: "link", onclick: () => tools.read(idea.link) }, "Read about this mistake"),
  );
}

function readingItem(link, { read, nameOf }) {
  const button = el("button", { type: "button", class: "link", onclick: () => read(link) }, words(`${link.slug}: ${link.anchor}`));
  nameOf(link).then((name) => name && button.replaceChildren(name));
  return el("li", {}, button);
}

function words(slug) {
  const text = slug.replaceAll("-", " ");
  return text[0].toUpperCase() + text.slice(1);
}

function reference({ citation, url }) {
  const isWeb = /^https?:/i.test(url);
  return el("li", {}, isWeb ? el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, citation) : citation);
}

/** The image is fetched with the token; its text alternative stands in until it is there, and if it never is. */
function figure({ id, alt, description }, loadImage) {
  const box = el("figure", {}, el("p", { class: "waiting" }, alt || "Image"));
  loadImage(id).then(
    (url) => box.firstChild.replaceWith(el("img", { src: url, alt })),
    () => box.firstChild.append(" (the image could not be loaded)"),
  );
  if (description) box.append(el("details", {}, el("summary", {}, "The image in words"), el("p", { class: "described" }, description)));
  return box;
}

// Articles

/** Fills the reader with an article; returns the part that `anchor` names. */
export function article(title, text, content, anchor) {
  title.textContent = content.title;
  const parts = [
    ...content.sections.map((part) => section(part.anchor, part.heading, prose("div", part.body))),
    ...content.entries.map((part) =>
      section(
        part.anchor,
        part.name,
        labelled("The mistake", part.mistake),
        labelled("Why it is one", part.explanation),
        labelled("What helps", part.remedy),
      ),
    ),
  ];
  text.replaceChildren(...(content.introduction ? [prose("div", content.introduction)] : []), ...parts);
  return parts.find((part) => part.dataset.anchor === anchor);
}

function section(anchor, name, ...children) {
  return el("section", { "data-anchor": anchor, tabindex: -1, "aria-label": plain(name) }, prose("h3", name), ...children);
}

function labelled(label, html) {
  return html ? el("div", { class: "labelled" }, el("p", { class: "kicker" }, label), prose("div", html)) : null;
}

/** What a heading's HTML says. */
export function plain(html) {
  return new DOMParser().parseFromString(html, "text/html").body.textContent;
}

/** "Section (Article)" */
export function nameOfPart(content, anchor) {
  const part = [...content.sections, ...content.entries].find((candidate) => candidate.anchor === anchor);
  return part ? `${plain(part.heading ?? part.name)} (${content.title})` : content.title;
}

// How it stands

export function progress({ answers, right, score, evidence }) {
  const counted = `Answered ${answers}, right ${right}`;
  if (evidence !== "enough" || !score) return `${counted} · not enough evidence for a score yet`;
  return `${counted} · score ${span(score)}`;
}

const span = ({ low, high }) => `between ${Math.round(low)} and ${Math.round(high)}`;

export function report(found, exam, { onAgain, ...tools }) {
  return el(
    "section",
    { class: "report", "aria-labelledby": "heading" },
    heading("Summary"),
    el("p", { class: "lead" }, summary(found)),
    el("h3", {}, "Where you stand"),
    ...standing(found, exam),
    ...(found.objectives.length ? [el("h3", {}, "By objective"), el("ul", { class: "objectives" }, ...found.objectives.map(objective))] : []),
    ...(found.items.length ? [el("h3", {}, "Your answers"), ...found.items.map((item) => reviewed(item, tools))] : []),
    el("div", { class: "bar" }, el("button", { type: "button", class: "primary", onclick: onAgain }, "Practise again")),
  );
}

function summary({ answers, right }) {
  if (answers === 0) return "You finished before answering a question.";
  return `You answered ${times(answers, "question", "questions")}, ${right === 0 ? "none" : right} of them right.`;
}

function standing({ score, evidence }, { scale }) {
  if (evidence !== "enough" || !score) {
    return [el("p", {}, "Not enough evidence for a score yet. Answer a few more questions that are new to you.")];
  }
  const { minimum, maximum } = scale;
  const share = (value) => `${(100 * (value - minimum)) / (maximum - minimum)}%`;
  const range = el("div", { class: "range" });
  const guess = el("div", { class: "guess" });
  range.style.left = share(score.low);
  range.style.right = `calc(100% - ${share(score.high)})`;
  guess.style.left = share(score.value);
  return [
    el("p", {}, `Your score is probably ${span(score)}, most likely about ${Math.round(score.value)}.`),
    el("div", { class: "scale", "aria-hidden": "true" }, range, guess),
    el("p", { class: "ends", "aria-hidden": "true" }, el("span", {}, minimum), el("span", {}, maximum)),
    el("p", { class: "small" }, `On the exam's scale from ${minimum} to ${maximum}. "Probably" is a 90 % interval: the more you answer, the narrower it gets.`),
  ];
}

function objective({ code, title, answers, right }) {
  return el("li", {}, el("span", {}, el("b", {}, code), ` ${title}`), el("span", { class: "count" }, `${right} of ${answers} right`));
}

/** What explains an answer is put together when it is opened. */
function reviewed(answered, tools) {
  const { position, item, correct } = answered;
  const details = el(
    "details",
    { class: "review" },
    el(
      "summary",
      {},
      icon(correct ? "right" : "wrong"),
      el("span", {}, el("span", { class: "unseen" }, correct ? "Right: " : "Wrong: "), `${position}. ${plain(item.stem)}`),
    ),
  );
  details.addEventListener(
    "toggle",
    () => details.append(el("div", {}, prose("div", item.stem, { class: "stem" }), ...explanation(answered, tools, "h4"))),
    { once: true },
  );
  return details;
}
