import type { z } from 'zod';
import { policyStates, type PolicyState } from '../../service/api/policy-view.ts';
import { getOverview, getReceivers, getRegistries } from '../../service/api/routes/installation.ts';
import { getPolicies } from '../../service/api/routes/policies.ts';
import type { Api } from '../api-client.ts';
import { html, type Html } from '../html.ts';
import type { Page } from '../page.ts';
import { bars } from '../parts/bars.ts';
import { duration, stateBadge, time } from '../parts/inline.ts';
import { partOf } from '../parts/problem.ts';
import { policyTable, table } from '../parts/tables.ts';
import type { Texts } from '../texts/en.ts';

type Overview = z.output<typeof getOverview.answer>;

/** The groups of states that need attention, the most urgent first. */
const groups = [
  ['needsAttention', ['Failed', 'Stalled']],
  ['waitsForApproval', ['ApprovalRequired']],
  ['rollingOut', ['Progressing']],
  ['blocked', ['Waiting', 'Held']],
] as const;
/** The maximum number of policies that are shown for one state. */
const shown = 5;

export const overview: Page = {
  path: '/',
  section: 'overview',
  async show({ api, caller, texts }) {
    const counted = await api.read(getOverview);
    const [listed, registries, receivers] = await Promise.all([
      Promise.all(groups.map(([title, states]) => showGroup(api, texts, { title: texts[title], states }, counted.policies))),
      caller.listsAll ? partOf(api.read(getRegistries), (answer) => showRegistries(answer.registries, texts)) : undefined,
      caller.listsAll ? partOf(api.read(getReceivers), (answer) => showReceivers(answer.receivers, texts)) : undefined,
    ]);
    const body = html`
      <ul class="counts" aria-label=${texts.byState}>
        ${statesIn(counted.policies).map(
          ([state, count]) => html`
            <li>
              <a href=${`/policies?state=${state}`}>${stateBadge(state, texts)} <b>${count}</b></a>
            </li>
          `,
        )}
      </ul>
      ${listed} ${showActivity(counted, texts)}
      ${caller.listsAll ? html`${registries} ${receivers}` : html`<p class="note">${texts.onlyForAdministrators}</p>`}
    `;
    return { title: texts.overview, body, isLive: true };
  },
};

/** The states that occur with their counts, in the order of urgency. */
function statesIn(counts: Overview['policies']): [PolicyState, number][] {
  return policyStates.map((state): [PolicyState, number] => [state, counts[state] ?? 0]).filter(([, count]) => count > 0);
}

async function showGroup(
  api: Api,
  texts: Texts,
  { title, states }: { readonly title: string; readonly states: readonly PolicyState[] },
  counts: Overview['policies'],
): Promise<Html> {
  const present = states.filter((state) => (counts[state] ?? 0) > 0);
  const answers = await Promise.all(present.map((state) => api.read(getPolicies, { state, limit: shown, sort: 'changed' })));
  const more = present.filter((state) => (counts[state] ?? 0) > shown);
  return html`
    <section>
      <h2>${title}</h2>
      ${
        present.length === 0
          ? html`<p class="none">${texts.nothingHere}</p>`
          : policyTable(
              answers.flatMap(({ policies }) => policies),
              texts,
            )
      }
      ${more.map((state) => html`<p><a href=${`/policies?state=${state}`}>${texts[state]}: ${texts.all(counts[state] ?? 0)}</a></p>`)}
    </section>
  `;
}

function showActivity({ changes, pushes }: Overview, texts: Texts): Html {
  const count = Object.values(pushes.byOutcome).reduce((sum, one) => sum + one, 0);
  const { toResult } = pushes;
  return html`
    <section>
      <h2>${texts.activity}</h2>
      <dl class="figures">
        <div>
          <dt>${texts.pushesLastHour}</dt>
          <dd>${count}${!pushes.isComplete && html` <small>${texts.notAllCounted}</small>`}</dd>
        </div>
        <div>
          <dt>${texts.changesLastHour}</dt>
          <dd>${changes.lastHour}</dd>
        </div>
        <div>
          <dt>${texts.changesLastDay}</dt>
          <dd>${changes.lastDay}</dd>
        </div>
        ${
          toResult !== undefined &&
          html`<div>
            <dt>${texts.fromPushToResult}</dt>
            <dd>${texts.quantiles(duration(toResult.p50Ms), duration(toResult.p90Ms), toResult.count)}</dd>
          </div>`
        }
      </dl>
      <h3>${texts.changesByHour}</h3>
      ${bars(changes.byHour, texts.changesByHour, (value, hoursAgo) => texts.changesInHour(value, hoursAgo))}
    </section>
  `;
}

function showRegistries(registries: z.output<typeof getRegistries.answer>['registries'], texts: Texts): Html {
  return html`
    <section>
      <h2>${texts.registries}</h2>
      ${table(
        [texts.registry, texts.policies, texts.stalledPolicies, texts.lastPush, texts.health],
        registries.map(({ host, policies, stalled, lastPushAt, unannounced }) => {
          const healthy = lastPushAt === undefined ? texts.neverAnnounced : texts.healthy;
          return [host, policies, stalled, time(lastPushAt), unannounced > 0 ? warning(texts.silent(unannounced)) : healthy];
        }),
      )}
    </section>
  `;
}

function showReceivers(receivers: z.output<typeof getReceivers.answer>['receivers'], texts: Texts): Html {
  return html`
    <section>
      <h2>${texts.receivers}</h2>
      ${table(
        [texts.receiver, texts.provider, texts.lastAccepted, texts.lastRefused, texts.health],
        receivers.map(({ name, provider, lastAcceptedAt, lastRefusedAt }) => {
          const isRefusing = lastRefusedAt !== undefined && (lastAcceptedAt === undefined || lastRefusedAt > lastAcceptedAt);
          const quiet = lastAcceptedAt === undefined ? texts.quiet : texts.healthy;
          return [name, provider, time(lastAcceptedAt), time(lastRefusedAt), isRefusing ? warning(texts.refusing) : quiet];
        }),
      )}
      <p><a href="/setup">${texts.setup}</a></p>
    </section>
  `;
}

function warning(text: string): Html {
  return html`<span class="warning">${text}</span>`;
}
