/** What pages do beyond HTML: times in the zone of the reader, search as one types, and pages that follow the changes. Everything works without it. */
import { Idiomorph } from './idiomorph.js';

const { lang } = document.documentElement;
/** Of British and American readers, each sees dates as usual. */
const language = navigator.languages.find((one) => one.slice(0, 2) === lang.slice(0, 2)) ?? lang;
const format = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
/** The units of ages with their lengths in seconds. */
const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
const statusLine = document.getElementById('live');
let newest = 0;

showTimes();
setInterval(showAges, 15_000);
document.addEventListener('input', (event) => searchSoon(event.target.form));
document.addEventListener('submit', (event) => {
  if ('instant' in event.target.dataset) {
    event.preventDefault();
    void search(event.target);
  }
});
document.addEventListener('keydown', (event) => {
  const { target, key } = event;
  const isTyping = target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (key === '/' && document.querySelector('dialog[open]') === null) {
    const field = document.getElementById('find');
    // Otherwise, the key would be written into the field.
    if (field !== null) event.preventDefault();
    field?.focus();
    field?.select();
  } else if (key === '?') {
    const dialog = document.getElementById('keys');
    if (dialog?.open === false) dialog.showModal();
  }
});
showCopiers();
document.addEventListener('click', (event) => void copy(event.target.closest?.('button[data-copy]')));
// What depends on more than policies, of which no stream says that it changed, names how often it is read, in seconds.
let seconds = 0;
setInterval(() => {
  seconds += 5;
  const isDue = ({ dataset }) => seconds % (Number(dataset.again) || 5) === 0;
  if (!document.hidden && [...document.querySelectorAll('main [data-again]')].some(isDue)) void readAgain({ 'x-regular': '1' });
}, 5_000);
if (document.body.dataset.live !== undefined) follow(document.body.dataset.live);

/** UTC moves into the tooltip. */
function showTimes() {
  for (const element of document.querySelectorAll('time:not([title])')) {
    element.title = element.classList.contains('ago') ? format.format(new Date(element.dateTime)) : element.textContent;
    element.textContent = format.format(new Date(element.dateTime));
  }
  showAges();
}

/** How long ago something was, in the largest unit that is whole. */
function showAges() {
  for (const element of document.querySelectorAll('time.ago, time.both')) {
    const seconds = Math.round((Date.parse(element.dateTime) - Date.now()) / 1_000);
    const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
    const age = relative.format(Math.trunc(seconds / length), unit);
    const isBoth = element.classList.contains('both');
    element.textContent = isBoth ? `${format.format(new Date(element.dateTime))} (${age})` : age;
  }
}

/** Browsers let pages copy only where they trust the connection. */
function showCopiers() {
  if (navigator.clipboard === undefined) return;
  for (const button of document.querySelectorAll('button[data-copy]')) button.hidden = false;
}

async function copy(button) {
  if (button === null || button === undefined) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.textContent = button.dataset.done;
}

let typing;
function searchSoon(form) {
  if (form === null || form === undefined || !('instant' in form.dataset)) return;
  clearTimeout(typing);
  typing = setTimeout(() => void search(form), 200);
}

/** Reads the page with the values of the form; the address can be shared, and Back leads to the page before. */
async function search(form) {
  clearTimeout(typing);
  if (!form.reportValidity()) return;
  const given = [...new FormData(form)].filter(([, value]) => value !== '');
  const query = new URLSearchParams(given).toString();
  history.replaceState(null, '', query === '' ? form.getAttribute('action') : `${form.getAttribute('action')}?${query}`);
  await readAgain();
}

/**
 * Reads the part of the page that changes, and replaces what differs. What somebody has opened, chosen or typed stays. `wanted` are headers that say which changes it should have.
 * Resolves to whether it was read.
 */
async function readAgain(wanted) {
  const turn = ++newest;
  let answer;
  try {
    const headers = { accept: 'text/html', ...wanted };
    answer = await fetch(`/live${location.pathname}${location.search}`, { headers });
  } catch {
    return false;
  }
  if (answer.redirected) {
    location.reload();
    return true;
  }
  const text = await answer.text();
  // An answer to an older question must not replace a newer one.
  if (turn !== newest) return true;
  if (answer.status >= 500 || answer.status === 429) return false;
  const page = new DOMParser().parseFromString(text, 'text/html');
  const main = page.querySelector('main');
  if (main === null) return false;
  Idiomorph.morph(document.querySelector('main'), main, {
    ignoreActiveValue: true,
    callbacks: { beforeAttributeUpdated, beforeNodeMorphed },
  });
  document.title = page.title;
  showTimes();
  showCopiers();
  return true;
}

/** `open` of details, and the attributes that hold what somebody chose. */
function beforeAttributeUpdated(name, element) {
  return !(name === 'open' && element.tagName === 'DETAILS') && !(name === 'checked' && element.tagName === 'INPUT');
}

/** A time that is shown in the zone of the reader stays as it is unless it changes. */
function beforeNodeMorphed(now, next) {
  if (now.nodeType !== Node.ELEMENT_NODE || now.tagName !== 'TIME') return true;
  if (now.dateTime === next.dateTime) return false;
  now.removeAttribute('title');
  return true;
}

/** Reads the page again when the stream says so. A hidden page has no stream, and reads nothing. */
function follow(path) {
  let source;
  let announced;
  let isReading = false;
  const read = async () => {
    if (isReading) return;
    isReading = true;
    while (announced !== undefined && !document.hidden) {
      const mark = announced;
      announced = undefined;
      if (await readAgain({ 'x-changed': mark })) continue;
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      announced ??= mark;
    }
    isReading = false;
  };
  const connect = () => {
    source?.close();
    source = undefined;
    if (document.hidden) return;
    const own = new EventSource(path);
    source = own;
    own.addEventListener('open', () => say(true));
    own.addEventListener('changed', ({ data }) => {
      announced = data;
      void read();
    });
    own.addEventListener('error', () => {
      say(false);
      // A connection that breaks is made again by the browser; an answer that is an error is final for it.
      if (own.readyState === EventSource.CLOSED) setTimeout(() => own === source && connect(), 5_000);
    });
  };
  document.addEventListener('visibilitychange', connect);
  connect();
}

function say(isLive) {
  statusLine.textContent = isLive ? statusLine.dataset.on : statusLine.dataset.off;
  statusLine.classList.toggle('on', isLive);
}
