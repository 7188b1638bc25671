/** What runs, what is selected, and what is in between. */
import type { z } from 'zod';
import type { explainPolicy } from '../../service/api/routes/policies.ts';
import type { PolicyDetail } from '../action-list.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { stepMarks } from './explanation.ts';
import { tagOf, timeAndAge } from './inline.ts';
import { reasonTo } from './said.ts';

type Explanation = z.output<(typeof explainPolicy)['answer']>;
type Step = Explanation['steps'][number];

/** Shows three boxes in a row: what runs, what is in between, what is selected. `explained`: undefined where it cannot be read. */
export function runAndWant(policy: PolicyDetail, explained: Explanation | undefined, texts: Texts): Html {
  const { running, latest, targets, pods } = policy;
  return html`
    <ol class="between">
      <li>
        <span>${texts.running}</span> ${running === undefined ? '–' : html`<code>${running}</code>`}
        ${pods !== undefined && html`<small>${texts.between.pods(pods.available, pods.wanted)}</small>`}
        ${pods !== undefined && pods.updated < pods.toUpdate && html`<small>${texts.between.updatedPods(pods.updated, pods.toUpdate)}</small>`}
        ${targets !== undefined && html`<small>${texts.between.upToDate(targets.upToDate, targets.total)}</small>`}
      </li>
      ${showBetween(policy, explained, texts)}
      <li><span>${texts.selected}</span> ${tagOf(explained?.candidate ?? latest)}</li>
    </ol>
  `;
}

function showBetween({ rollouts, state, pendingApproval, waiting }: PolicyDetail, explained: Explanation | undefined, texts: Texts): Html {
  if (rollouts !== undefined && rollouts.progressing > 0) {
    const total = rollouts.progressing + rollouts.done;
    return html`<li class="busy"><span>${texts.rollingOut}</span> ${texts.rolloutsOf(rollouts.done, total)}</li>`;
  }
  const found = findObstacle(explained);
  if (found !== undefined)
    return html`
      <li class=${found.result}>
        <span>${texts.between.title}</span> <b>${stepMarks[found.result]} ${reasonTo(found.reason, texts) ?? found.reason ?? found.id}</b>
        ${found.until !== undefined && html`<small>${timeAndAge(found.until)}</small>`}
      </li>
    `;
  // What is explained is of this moment; the status may know of a wait that ends just now.
  if (pendingApproval !== undefined)
    return html`<li class="wait"><span>${texts.between.title}</span> <b>${texts.waitsForApproval}</b></li>`;
  if (waiting !== undefined)
    return html`<li class="wait">
      <span>${texts.between.title}</span> <b>${reasonTo(waiting.reason, texts) ?? waiting.reason}</b>
      <small>${timeAndAge(waiting.until)}</small>
    </li>`;
  return html`<li><span>${texts.between.title}</span> ${state === 'Ready' ? '✓' : ''} ${texts.between.nothing}</li>`;
}

/** The first step that keeps the selected image from running: one that stops before one that waits. Pure. */
export function findObstacle(explained: Explanation | undefined): Step | undefined {
  const steps = explained === undefined ? [] : [...explained.steps, ...explained.targets.flatMap((target) => target.steps)];
  return steps.find(({ result }) => result === 'stop') ?? steps.find(({ result }) => result === 'wait');
}
