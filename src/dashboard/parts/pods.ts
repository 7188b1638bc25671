/** The pods of a rollout that are not ready, each with why, and the end of its log. */
import type { z } from 'zod';
import type { getPods } from '../../service/api/routes/pods.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { ago } from './inline.ts';
import { sayTo } from './said.ts';

type Workload = z.output<(typeof getPods)['answer']>['workloads'][number];
type Pod = Workload['pods'][number];
type Container = Pod['containers'][number];

/** Shows the pods; nothing if all are ready. */
export function showPods(workloads: readonly Workload[], texts: Texts): Html {
  const shown = workloads.filter(({ pods, problem }) => pods.length > 0 || problem !== undefined);
  if (shown.length === 0) return html``;
  return html`
    <section id="pods">
      <h2>${texts.ofPods.title}</h2>
      ${shown.map(
        ({ kind, namespace, name, pods, problem }) => html`
          <h3>${kind} ${namespace}/${name}</h3>
          ${problem !== undefined && html`<p class="note">${texts.ofPods.notShown}${' '}${sayTo(undefined, problem, texts)}</p>`}
          <ul class="plain rows">
            ${pods.map((pod) => showPod(pod, texts))}
          </ul>
        `,
      )}
    </section>
  `;
}

function showPod({ name, startedAt, reason, message, containers }: Pod, texts: Texts): Html {
  return html`
    <li class="pod">
      <p><code>${name}</code>${' '}<span class="note">${ago(startedAt)}</span></p>
      ${reason !== undefined && html`<p class="why" lang="en"><b>${reason}</b>${' '}${message}</p>`}
      ${containers.map((container) => showContainer(name, container, texts))}
    </li>
  `;
}

function showContainer(pod: string, { name, reason, message, exitCode, restarts, log, noLog }: Container, texts: Texts): Html {
  const { ofPods } = texts;
  const facts = [restarts > 0 ? ofPods.restarts(restarts) : undefined, exitCode === undefined ? undefined : ofPods.exitCode(exitCode)];
  return html`
    <p>
      ${texts.container}${' '}<code>${name}</code>: <b>${reason ?? ofPods.notReady}</b>${' '}
      <small>${facts.filter((fact) => fact !== undefined).join(', ')}</small>
    </p>
    ${message !== undefined && html`<p class="why" lang="en">${message}</p>`}
    ${log !== undefined && log.length > 0 && html`<pre class="log" tabindex="0" aria-label=${ofPods.logOf(pod, name)}><code>${log.join('\n')}</code></pre>`}
    ${noLog !== undefined && html`<p class="note">${ofPods.noLog}${' '}${sayTo(undefined, noLog, texts)}</p>`}
  `;
}
