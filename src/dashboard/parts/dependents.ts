import type { BaseLink, DependentView } from '../../service/api/base-view.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { ago, baseLink, dependentBadge, tagOf } from './inline.ts';
import { commandedFor, refOfBase } from './instruction.ts';
import { messageTo } from './said.ts';
import { table } from './tables.ts';

/**
 * A table of the images that are built on a base: since when each is behind, why, and what can be done. `instructed`: a message without the instructions for what the
 * page has a button for.
 */
export function dependentTable(dependents: readonly DependentView[], instructed: (message: string) => string, texts: Texts): Html {
  return table(
    [texts.image, texts.state, texts.builtOn, texts.behindSince, texts.reasonAndStep],
    dependents.map((one) => [
      html`<code>${one.image}</code>${showRuns(one, texts)}`,
      html`${dependentBadge(one.state, texts)}${one.action !== undefined && html` <small>${one.action}</small>`}`,
      showBase(one),
      ago(one.behindSince) || '–',
      html`${showReason(one, instructed, texts)}${showStep(one, texts)}`,
    ]),
    'dependents',
    texts.dependents,
  );
}

/** Shows the workloads that run an image, and how. */
function showRuns({ runs, workloads, example, uses, isPinned }: DependentView, texts: Texts): Html {
  const [first] = runs;
  const named = first === undefined ? example : `${first.kind} ${first.namespace}/${first.name}`;
  const count = Math.max(workloads, runs.length);
  const notes = [...(isPinned ? [texts.pinned] : []), ...uses.filter((use) => use !== 'Container').map((use) => texts.uses[use])];
  return html`
    <span class="why">${named ?? (count === 0 ? texts.baseBetween : '')}${count > 1 && ` ${texts.andMore(count - 1)}`}</span>
    ${notes.length > 0 && html`<span class="why">${notes.join(', ')}</span>`}
  `;
}

/** The version of the base: `21.0.6@sha256:…` is shown by its tag, with the digest as the tooltip. */
function showBase({ base }: DependentView): Html | string {
  const [tag = '', digest] = base?.split('@') ?? [];
  if (base === undefined) return '–';
  return digest === undefined ? html`<code title=${tag}>${tag.slice(0, 19)}</code>` : tagOf({ tag, digest });
}

function showReason({ reason, message }: DependentView, instructed: (message: string) => string, texts: Texts): Html | false {
  if (reason === undefined && message === undefined) return false;
  const why = messageTo(reason, message && instructed(message), texts);
  return html`<span>${[reason, why].filter((part) => part !== undefined).length === 2 ? html`${reason}: ${why}` : (reason ?? why)}</span>`;
}

function showStep({ nextStep }: DependentView, texts: Texts): Html | false {
  return nextStep !== undefined && html`<span class="why"><b>${texts.nextStep}:</b> ${texts.steps[nextStep.id]}</span>`;
}

/** The chain of the bases of an application, the nearest first. */
export function baseChain(bases: readonly BaseLink[], texts: Texts): Html {
  return html`
    <ol class="bases">
      ${bases.map(
        ({ dependents, ...base }) => html`
          <li>
            <p>${baseLink(base)} <code>${base.image}</code> ${texts.selected} ${tagOf(base.latest)}</p>
            ${dependentTable(dependents, (message) => commandedFor(message, refOfBase(base)), texts)}
          </li>
        `,
      )}
    </ol>
  `;
}
