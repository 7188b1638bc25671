import type { z } from 'zod';
import { type BaseDetail, baseReads, dependentStates } from '../../service/api/base-view.ts';
import { baseActionPath, baseActionsFor } from '../base-action-list.ts';
import { html, type Html } from '../html.ts';
import type { Caller, Page, Query, Rights } from '../page.ts';
import { approvalsOf } from '../parts/approvals-of.ts';
import { changesOf } from '../parts/changes-of.ts';
import { dependentTable } from '../parts/dependents.ts';
import { ago, basePath, dependentBadge, option, stateBadge, tagOf, timeAndAge } from '../parts/inline.ts';
import { instructionFor, refOfBase } from '../parts/instruction.ts';
import { partFor, partOf } from '../parts/problem.ts';
import { conditionTable, factList, table } from '../parts/tables.ts';
import type { Texts } from '../texts/en.ts';
import { messageTo, sayTo } from '../parts/said.ts';

type Dependents = z.output<typeof baseReads.dependents.answer>;
type Versions = z.output<typeof baseReads.versions.answer>;

const filterNames = ['state', 'runsIn', 'search', 'after', 'versions'] as const;
type Filters = Readonly<Partial<Record<(typeof filterNames)[number], string>>>;

export const base: Page = {
  path: '/bases/:namespace/:name',
  section: 'bases',
  async show({ api, params, query, caller, texts }) {
    const filters: Filters = Object.fromEntries(
      filterNames.flatMap((name) => {
        const value = query.one(name);
        return value === undefined ? [] : [[name, value]];
      }),
    );
    const { state, runsIn, search, after, versions: older } = filters;
    const [found, dependents, versions] = await Promise.all([
      api.read(baseReads.one, params),
      partFor(api.read(baseReads.dependents, { ...params, state, runsIn, search, after, limit: 50 }), (answer, say: Say) =>
        showDependents(answer, { filters, params, texts }, say),
      ),
      partOf(api.read(baseReads.versions, { ...params, after: older, limit: 20 }), (answer) =>
        showVersions(answer, { filters, params, texts }),
      ),
    ]);
    const show = (rights: Rights) => {
      const say: Say = (message) => instructed(message, found, { ...caller, rights }, texts);
      return html`
        ${showResult(query, texts)}
        <p>${stateBadge(found.state, texts)} ${messageTo(found.reason, found.message && say(found.message), texts)}</p>
        ${showActions(found, { ...caller, rights }, texts)}
        <div class="beside">
          <section>
            <h2>${texts.now}</h2>
            ${showNow(found, texts)}
          </section>
          ${found.waves !== undefined && showWaves(found.waves, texts)}
        </div>
        <section id="dependents">
          <h2>${texts.dependents}</h2>
          ${showFilters(filters, params, texts)} ${dependents(say)}
        </section>
        <section id="versions">
          <h2>${texts.versions}</h2>
          ${versions}
        </section>
        <details id="history">
          <summary>${texts.history}</summary>
          ${showHistory(found, texts)}
        </details>
        <details id="conditions">
          <summary>${texts.conditions}</summary>
          ${conditionTable(
            found.conditions.map((one) => ({ ...one, message: say(one.message) })),
            texts,
          )}
        </details>
      `;
    };
    return {
      acted: { bases: [found.namespace] },
      offer: (rights) => ({ title: `${found.namespace}/${found.name}`, body: show(rights), isLive: true }),
    };
  },
};

/** A message without the instructions for what the page has a button for. */
type Say = (message: string) => string;

type Params = Readonly<Record<string, string>>;

interface Shown {
  readonly filters: Filters;
  readonly params: Params;
  readonly texts: Texts;
}

/** Shows the result of the action from which the user returns. */
function showResult(query: Query, texts: Texts): Html | undefined {
  const done = baseActionsFor(undefined, texts).find(({ name }) => name === query.one('done'));
  return done && html`<p class="done" role="status">${texts.done(done.label)}</p>`;
}

function showActions(found: BaseDetail, { noActions, rights }: Caller & { readonly rights: Rights }, texts: Texts): Html {
  const offered = baseActionsFor(found, texts).filter(({ name }) => rights.may(name, found, 'bases'));
  if (offered.length === 0) return html`<p class="note">${texts.readOnly} ${noActions ?? texts.notPermitted}</p>`;
  return html`
    <p class="actions" role="group" aria-label=${texts.actions}>
      ${offered.map(
        ({ name, label, isPossible }) => isPossible && html`<a class="button" href=${baseActionPath(found, name)}>${label}</a>`,
      )}
    </p>
    ${found.requested !== undefined && html`<p class="note">${texts.requestedBy(texts[found.requested.action], found.requested.user, found.requested.reason)}</p>`}
  `;
}

/** A message without instructions for what this user has a button for. */
function instructed(message: string, found: BaseDetail, { noActions, rights }: Caller & { readonly rights: Rights }, texts: Texts): string {
  const possible = baseActionsFor(found, texts).filter(({ name, isPossible }) => isPossible && rights.may(name, found, 'bases'));
  return instructionFor(message, refOfBase(found), (action) => noActions === undefined && possible.some((one) => one.name === action));
}

function showNow(found: BaseDetail, texts: Texts): Html {
  const { latest, pendingApproval, images, status } = found;
  const { waiting, versions } = status;
  const rows: [string, unknown][] = [
    [texts.image, found.image && html`<code>${found.image}</code>`],
    [texts.selects, found.selects && sayTo(undefined, found.selects, texts)],
    [texts.latest, latest && html`${tagOf(latest)} ${ago(latest.selectedAt)} <span class="digest">${latest.digest}</span>`],
    [texts.mode, found.mode && texts.modes[found.mode]],
    [texts.onNewBase, found.onNewBase.length > 0 && found.onNewBase.join(', ')],
    [texts.waitsForApproval, pendingApproval && html`${tagOf(pendingApproval)}${' '}${approvalsOf(found, texts)}`],
    [texts.commits, changesOf(found.changes, texts)],
    [texts.Waiting, waiting && html`${tagOf(waiting)} ${waiting.reason} ${timeAndAge(waiting.until)}`],
    [texts.images, images && texts.imagesOf(images.current, images.behind, images.unknown)],
    [texts.behindSince, found.behindSince && ago(found.behindSince)],
    [texts.withoutConsent, showWithoutConsent(found)],
    [texts.versions, versions && texts.versionsKnown(versions.known, versions.unread)],
    [texts.lastCheck, status.lastCheckTime !== undefined && ago(status.lastCheckTime)],
  ];
  return factList(rows);
}

/** The selected namespaces that have not consented, if the user may know them. */
function showWithoutConsent({ withoutConsent }: BaseDetail): Html | undefined {
  if (withoutConsent === undefined || withoutConsent.total === 0) return undefined;
  const { total, namespaces } = withoutConsent;
  return html`${total}: ${namespaces.join(', ')}${total > namespaces.length && ' …'}`;
}

function showWaves({ pending, progressing, done, failed, lastDoneAt, stopped }: NonNullable<BaseDetail['waves']>, texts: Texts): Html {
  const total = pending + progressing + done + failed;
  const figures: [string, unknown][] = [
    [texts.waveDone, done],
    [texts.Progressing, progressing],
    [texts.wavePending, pending],
    [texts.Failed, failed],
  ];
  return html`
    <section id="waves">
      <h2>${texts.waves}</h2>
      <progress max=${Math.max(1, total)} value=${done} aria-label=${texts.wavesDone(done, total)}></progress>
      <dl class="figures">
        ${figures.map(
          ([label, value]) =>
            html`<div>
              <dt>${label}</dt>
              <dd>${value}</dd>
            </div>`,
        )}
      </dl>
      ${lastDoneAt !== undefined && html`<p class="note">${texts.lastDone} ${ago(lastDoneAt)}</p>`}
      ${stopped !== undefined && html`<p class="problem">${texts.stopped}: ${sayTo(undefined, stopped, texts)}</p>`}
    </section>
  `;
}

function showFilters({ state, runsIn, search }: Filters, { namespace = '', name = '' }: Params, texts: Texts): Html {
  return html`
    <form class="filters" method="get" action=${`${basePath({ namespace, name })}#dependents`} role="search">
      <label class="wide">${texts.search} <input type="search" name="search" value=${search} maxlength="256" /></label>
      <label>${texts.namespace} <input name="runsIn" value=${runsIn} maxlength="63" pattern="[a-z0-9\\-]*" autocapitalize="none" /></label>
      <label>
        ${texts.state}
        <select name="state">
          ${option('', texts.anyState, state)} ${dependentStates.map((one) => option(one, texts.dependentStates[one], state))}
        </select>
      </label>
      <button>${texts.apply}</button>
    </form>
  `;
}

function showDependents({ dependents, counts, isComplete, next }: Dependents, { filters, params, texts }: Shown, say: Say): Html {
  const present = dependentStates.filter((state) => (counts[state] ?? 0) > 0);
  const { after, ...others } = filters;
  return html`
    <ul class="counts" aria-label=${texts.imagesByState}>
      ${present.map(
        (state) => html`
          <li>
            <a href=${addressWith(params, { ...others, state }, 'dependents')}>${dependentBadge(state, texts)} <b>${counts[state]}</b></a>
          </li>
        `,
      )}
    </ul>
    ${!isComplete && html`<p class="note">${texts.notAllDependents}</p>`}
    ${dependents.length > 0 ? dependentTable(dependents, say, texts) : html`<p class="none">${texts.noDependents}</p>`}
    <p class="pages">
      ${after !== undefined && html`<a href=${addressWith(params, others, 'dependents')}>${texts.first}</a>`}
      ${next !== undefined && html`<a rel="next" href=${addressWith(params, { ...others, after: next }, 'dependents')}>${texts.next}</a>`}
    </p>
  `;
}

function showVersions({ versions, total, next }: Versions, { filters, params, texts }: Shown): Html {
  const { versions: older, ...others } = filters;
  return html`
    <p>${texts.versionsSeen(total)}</p>
    ${
      versions.length > 0 &&
      table(
        [texts.version, texts.firstSeen, texts.images, texts.state],
        versions.map(({ digest, tags, seenAt, isLatest, wasSelected, rejected, images }) => [
          html`<code>${tags.slice(0, maxTags).join(', ') || '–'}</code>${tags.length > maxTags && ' …'}
            <span class="digest">${digest}</span>`,
          ago(seenAt),
          images,
          rejected === undefined
            ? isLatest
              ? html`<span class="badge good">${texts.selected}</span>`
              : wasSelected && html`<span class="badge off">${texts.wasSelected}</span>`
            : html`<span class="badge bad">${texts.rejected}</span> <span class="why">${sayTo(undefined, rejected, texts)}</span>`,
        ]),
        '',
        texts.versions,
      )
    }
    <p class="pages">
      ${older !== undefined && html`<a href=${addressWith(params, others, 'versions')}>${texts.first}</a>`}
      ${next !== undefined && html`<a rel="next" href=${addressWith(params, { ...others, versions: next }, 'versions')}>${texts.older}</a>`}
    </p>
  `;
}

const maxTags = 6;

function showHistory({ status: { history = [] } }: BaseDetail, texts: Texts): Html {
  if (history.length === 0) return html`<p class="none">${texts.noHistory}</p>`;
  return table(
    [texts.version, texts.since, texts.updated, texts.requested, texts.Failed, texts.result],
    history.map(({ tag, digest, selectedAt, updated, requested, failed, result }) => [
      tagOf({ tag, digest }),
      ago(selectedAt),
      updated,
      requested,
      failed,
      result === 'Rejected' ? html`<span class="badge bad">${texts.rejected}</span>` : texts.selected,
    ]),
    '',
    texts.history,
  );
}

function addressWith({ namespace = '', name = '' }: Params, values: Filters, section: string): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `${basePath({ namespace, name })}?${new URLSearchParams(given).toString()}#${section}`;
}
