/** The frame of every page. */
import { html, writeDocument, type Html } from './html.ts';
import { type Caller, hasActivity, hasSection, type PageContent, sections, type Section, type Viewer } from './page.ts';
import { ago } from './parts/inline.ts';
import type { Texts } from './texts/en.ts';

interface Framed extends PageContent {
  readonly section?: Section | undefined;
  readonly viewer: Viewer;
  /** The address of the page with its query. A change of the language returns to it. */
  readonly address: string;
}

/** Writes the document of a page. */
export function writePage({ title, body, section, viewer, isLive = false, follows, followed, address }: Framed): string {
  const { texts, caller, cluster } = viewer;
  return writeDocument(html`
    <html lang=${texts.language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        ${titleOf(title, viewer)}
        <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/assets/dashboard.css" />
        <script type="module" src="/assets/dashboard.js"></script>
      </head>
      <body data-live=${isLive ? streamOf({ section, follows, followed }) : undefined}>
        <a class="skip" href="#content">${texts.skip}</a>
        <header>
          <a class="product" href="/">${texts.product}${cluster !== undefined && html` <small>${cluster}</small>`}</a>
          ${caller !== undefined && findForm(texts, address)}
          <span class="live" id="live" role="status" data-on=${texts.live} data-off=${texts.notLive}></span>
          ${caller !== undefined && menu(texts, caller, section)}
        </header>
        ${content({ title, body, viewer })}
        <footer>${footer(viewer, address)}</footer>
        ${caller !== undefined && keys(texts)}
      </body>
    </html>
  `);
}

/** Writes the part of a page that changes, for the script of the page. */
export function writeContent({ title, body, viewer }: Pick<Framed, 'title' | 'body' | 'viewer'>): string {
  return writeDocument(html`${titleOf(title, viewer)} ${content({ title, body, viewer })}`);
}

function titleOf(title: string, { texts, cluster }: Viewer): Html {
  return html`<title>${title} · ${cluster === undefined ? '' : `${cluster} · `}${texts.product}</title>`;
}

function content({ title, body, viewer: { caller, texts } }: Pick<Framed, 'title' | 'body' | 'viewer'>): Html {
  return html`
    <main id="content" tabindex="-1">
      ${caller?.stale !== undefined && banner(caller.stale, texts)}
      <h1>${title}</h1>
      ${body}
    </main>
  `;
}

/** What is old or missing, since when, and what still works. It goes away by itself: the stream says when something answers again. */
function banner(stale: NonNullable<Caller['stale']>, { outages }: Texts): Html {
  const isOnly = stale.length === 1;
  return html`
    <div class="outages" role="status">
      ${stale.map(({ what, since }) => {
        const { title, works, text } = outages[what];
        return html`<p><b>${title}${' '}${ago(since)}</b>${' · '}${isOnly && `${works} `}${text}</p>`;
      })}
    </div>
  `;
}

/** The stream of the changes that a page follows. */
function streamOf({ section, follows, followed }: Pick<Framed, 'section' | 'follows' | 'followed'>): string {
  if (follows !== undefined) return `/stream?${new URLSearchParams({ namespace: follows.namespace, name: follows.name }).toString()}`;
  if (followed !== undefined) return `/stream?${new URLSearchParams({ of: followed.join(',') }).toString()}`;
  return section === 'bases' ? '/stream?of=bases' : '/stream';
}

function menu(texts: Texts, caller: Caller, current: Section | undefined): Html {
  const shown = sections.filter((name) => hasSection(caller, name));
  const entries = shown.map(
    (name) => html`<a href=${pathOf(name, caller)} aria-current=${name === current ? 'page' : undefined}>${texts[name]}</a>`,
  );
  return html`<nav aria-label=${texts.menu}>${entries}</nav>`;
}

function pathOf(section: Section, caller: Caller): string {
  if (section === 'activity' && !hasActivity(caller)) return '/events';
  return section === 'now' ? '/' : `/${section}`;
}

/** The search over everything, with what was searched for. */
function findForm({ find }: Texts, address: string): Html {
  const [path, query = ''] = address.split(/\?(.*)/s);
  const text = path === '/search' ? new URLSearchParams(query).get('q') : undefined;
  return html`
    <form class="everything" role="search" aria-label=${find.label} method="get" action="/search">
      <input
        type="search"
        id="find"
        name="q"
        value=${text}
        aria-label=${find.label}
        aria-keyshortcuts="/"
        placeholder=${find.placeholder}
        maxlength="256"
        autocapitalize="none"
        spellcheck="false"
      />
    </form>
  `;
}

/** The keys of the script, which shows them. */
function keys({ find }: Texts): Html {
  const rows = [
    ['/', find.keyFind],
    ['?', find.keyKeys],
    ['Esc', find.keyClose],
  ];
  return html`
    <dialog id="keys" aria-labelledby="keys-title">
      <h2 id="keys-title">${find.keys}</h2>
      <dl>
        ${rows.map(
          ([key, meaning]) =>
            html`<div>
              <dt><kbd>${key}</kbd></dt>
              <dd>${meaning}</dd>
            </div>`,
        )}
      </dl>
      <form method="dialog"><button>${find.close}</button></form>
    </dialog>
  `;
}

function footer({ texts, caller, canSignOut }: Viewer, address: string): Html {
  const other = texts.language === 'en' ? 'zh' : 'en';
  return html`
    ${caller !== undefined && html`<span>${texts.signedInAs(caller.user)}</span>`}
    ${texts.asSaid !== undefined && html`<span class="note">${texts.asSaid}</span>`}
    ${canSignOut && html`<form method="post" action="/sign-out"><button class="plain">${texts.signOut}</button></form>`}
    <a href="/api-reference">${texts.apiDocument}</a>
    <a href=${`/language?to=${other}&back=${encodeURIComponent(address)}`} lang=${other === 'zh' ? 'zh-CN' : 'en'}
      >${texts.otherLanguage}</a
    >
  `;
}
