// The practice page: from question to feedback to the next one, over the public REST API with a token for one session.
//
// What is remembered: in this tab the session, its token and the position whose feedback was asked for last, so that
// reloading goes on where it was; in this browser a random id, so that a new session knows what was practised before.

import { Problem, Unreachable, newKey, send } from "./demo-api.js";
import * as views from "./demo-views.js";

const $ = (id) => document.getElementById(id);
const SESSION = "nextitem-session", LEARNER = "nextitem-learner";

let visit = null; // { session, token, exam, asked }
let standing = { answers: 0, right: 0, score: null, evidence: "not_enough" };
let isBusy = false;

const call = (method, path, options) => send(method, `/v1${path}`, { token: visit.token, ...options });
const ofSession = (path = "") => `/sessions/${visit.session}${path}`;

attempt(open);
$("finish").addEventListener("click", () => attempt(finish));

// Steps: each shows one view; when one fails, what is on screen stays and the same step can be taken again.

/** Go on where this tab was, or begin. */
async function open() {
  visit = recall(sessionStorage, SESSION) ?? (await begin());
  const report = await call("GET", ofSession("/report"));
  setStanding(report);
  const last = report.items.find((item) => item.position === visit.asked);
  if (last) showFeedback(last, null, report.status === "finished");
  else if (report.status === "finished") showReport(report);
  else await next();
}

async function begin() {
  const { learner, session, token, exam } = await send("POST", "/demo/sessions", {
    body: { learner: recall(localStorage, LEARNER) },
  });
  remember(localStorage, LEARNER, learner);
  const begun = { session, token, exam, asked: null };
  remember(sessionStorage, SESSION, begun);
  return begun;
}

async function restart() {
  forget(sessionStorage, SESSION);
  await open();
}

async function next() {
  showQuestion(await call("GET", ofSession("/next")));
}

/** `key` stays the same however often this is sent, so the server stores it once. */
async function answer(served, body, key) {
  const step = await call("POST", ofSession("/responses"), { body, key });
  setStanding({ ...standing, answers: standing.answers + 1, right: standing.right + Number(step.correct) });
  refreshStanding();
  showFeedback({ ...served, ...step, selected: body.selected }, step.next, step.status === "finished");
}

async function finish() {
  await call("POST", ofSession("/finish"));
  await summarise();
}

async function summarise() {
  const report = await call("GET", ofSession("/report"));
  setStanding(report);
  showReport(report);
}

// Views

function showQuestion(served) {
  const shownAt = performance.now();
  const submit = (selected, form) => {
    form.querySelector(".complaint").textContent = selected.length ? "" : "Choose an answer first.";
    if (!selected.length || isBusy) return;
    form.querySelector("fieldset").disabled = true; // what is sent must be what is seen
    form.querySelector(".primary").textContent = "Checking …";
    const time = Math.min(Math.round(performance.now() - shownAt), 86_400_000);
    const body = { position: served.position, item: served.item.id, selected, response_time_ms: time };
    const key = newKey();
    keepAsked(served.position);
    attempt(() => answer(served, body, key));
  };
  show(views.question(served, { loadImage, onSubmit: submit }), `Question ${served.position}`);
}

function showFeedback(answered, following, isLast) {
  const onNext = () => {
    if (isLast) attempt(summarise);
    else if (following) attempt(() => showQuestion(following));
    else attempt(next);
  };
  keepAsked(answered.position);
  show(views.feedback(answered, { loadImage, read, nameOf, onNext, isLast }), `Answer ${answered.position}`);
  const result = answered.correct ? "Right." : "Not right.";
  $("status").textContent = `${result} Answered ${standing.answers}, right ${standing.right}.`;
}

function showReport(report) {
  keepAsked(null);
  show(views.report(report, visit.exam, { loadImage, read, nameOf, onAgain: () => attempt(restart) }), "Summary");
  $("finish").hidden = true;
}

function show(view, title) {
  document.title = `${title} – ${visit.exam.title}`;
  $("exam").textContent = visit.exam.title;
  $("finish").hidden = false;
  $("status").textContent = "";
  $("view").removeAttribute("aria-busy");
  $("view").replaceChildren(view);
  scrollTo(0, 0);
  const heading = $("heading");
  heading.focus({ preventScroll: true });
  heading.scrollIntoView({ block: "nearest" });
}

function setStanding(report) {
  standing = report;
  $("progress").textContent = standing.answers ? views.progress(standing) : "";
}

/** The score after an answer; the count is right without it, so nobody waits for it or hears of it failing. */
function refreshStanding() {
  const session = visit.session;
  call("GET", ofSession("/report")).then(
    (report) => session === visit.session && report.answers >= standing.answers && setStanding(report),
    () => {},
  );
}

// What the views need fetched

const images = new Map();
const articles = new Map();

function loadImage(id) {
  return kept(images, id, async () => URL.createObjectURL(await call("GET", `/media/${id}`)));
}

function loadArticle(id) {
  return kept(articles, id, () => call("GET", `/articles/${id}`));
}

/** The name of the part of an article that a link leads to; null if it can't be had. */
function nameOf({ article, anchor }) {
  return loadArticle(article).then((content) => views.nameOfPart(content, anchor), () => null);
}

/** Open an article at the place that a link names. */
async function read(link) {
  const [reader, title, text] = [$("reader"), $("reader-title"), $("reader-text")];
  title.textContent = "Article";
  text.replaceChildren(views.el("p", { class: "waiting" }, "Loading …"));
  if (!reader.open) reader.showModal();
  try {
    const part = views.article(title, text, await loadArticle(link.article), link.anchor);
    part?.classList.add("is-wanted");
    part?.focus();
    part?.scrollIntoView({ block: "start" });
  } catch (error) {
    const again = views.el("button", { type: "button", onclick: () => read(link) }, "Try again");
    text.replaceChildren(views.el("p", { role: "alert" }, remedyFor(error).text), again);
  }
}

/** A success is kept, a failure may be tried again. */
function kept(cache, id, load) {
  if (!cache.has(id)) cache.set(id, load().catch((error) => { cache.delete(id); throw error; }));
  return cache.get(id);
}

// When something fails

/** Take a step, one at a time. If it fails, say so and offer the way out. */
async function attempt(step) {
  if (isBusy) return;
  isBusy = true;
  $("problem").hidden = true;
  try {
    await step();
  } catch (error) {
    if (!(error instanceof Problem || error instanceof Unreachable)) throw error;
    const { text, action, way } = remedyFor(error);
    $("problem").hidden = false;
    $("problem-text").textContent = text;
    $("problem-action").textContent = action;
    $("problem-action").onclick = () => attempt(way ?? step);
    $("problem-action").focus();
  } finally {
    isBusy = false;
  }
}

function remedyFor(error) {
  const again = "Try again";
  if (error instanceof Unreachable) {
    return { text: "The server can't be reached. Nothing is lost, the same will be sent again.", action: again };
  }
  const restarting = { action: "Start again", way: restart };
  if (error.status === 401) return { text: "This session has expired. Your answers are kept.", ...restarting };
  if (error.status === 404) return { text: "This is no longer there.", ...restarting };
  if (error.status === 409) return { text: "This session went on in another tab.", action: "Go on from there", way: open };
  if (error.status === 429) {
    return { text: `Too many requests. Wait ${error.retryAfter ?? "a few"} seconds, then try again.`, action: again };
  }
  if (error.status === 503) return { text: "The server is busy just now. Nothing is lost.", action: again };
  return { text: `That didn't work (request ${error.requestId}).`, action: again };
}

// Memory. A browser may forbid it; then everything works but reloading.

function keepAsked(position) {
  visit.asked = position;
  remember(sessionStorage, SESSION, visit);
}

function remember(storage, name, value) {
  try {
    storage.setItem(name, JSON.stringify(value));
  } catch {
    // see above
  }
}

function recall(storage, name) {
  try {
    return JSON.parse(storage.getItem(name));
  } catch {
    return null;
  }
}

function forget(storage, name) {
  try {
    storage.removeItem(name);
  } catch {
    // see above
  }
}
