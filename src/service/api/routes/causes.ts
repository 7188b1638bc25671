import { z } from 'zod';
import type { Immutable } from '../../../core/model/immutable.ts';
import { defined } from '../../../core/model/defined.ts';
import { toSeconds } from '../../../core/model/text.ts';
import { vulnerabilitySeverities } from '../../../core/model/vulnerabilities.ts';
import { type Cause, causeKinds, causeSteps, orderCauses, type ReachedPolicy, urgencies, withoutRepeated } from '../../causes/cause.ts';
import { findingCauses } from '../../causes/finding-causes.ts';
import type { DatedReport } from '../../causes/recent-report.ts';
import { gatherCauses } from '../../causes/policy-causes.ts';
import { type Access, AccessError } from '../access.ts';
import { requireReport } from '../doctor-api.ts';
import type { ApiPorts } from '../ports.ts';
import { defineRoute, namespaceName, objectName, policyKeyParam, time } from '../route.ts';
import { saidView } from '../said-view.ts';
import { listVisible, seePolicy } from '../see-policies.ts';

/** The most causes of an answer, and the most policies that are named of each, and of one that was asked for. */
const maxCauses = 200;
const maxNamed = 5;
const maxNamedOfOne = 500;

const cause = z
  .object({
    id: z.string().describe('Stays the same while the cause lasts.'),
    kind: z.enum(causeKinds).describe('What the cause is about.'),
    urgency: z
      .enum(urgencies)
      .describe(
        'Broken: workloads still run an image that failed. Blocked: nothing goes on until somebody acts. Warning: everything goes on, and somebody should act. Passing: it ends by itself.',
      ),
    subject: z.string().describe('Which one: the host of a registry, an image, a policy, a receiver. Empty for the installation.'),
    reason: z.string().describe('One of docs/reasons.md, or a line of docs/doctor.md.'),
    message: z.string().describe('What one of the policies says.'),
    said: saidView.exactOptional(),
    since: time
      .exactOptional()
      .describe('When it began; absent if that is not known. What the doctor finds has begun with the first report that had it.'),
    policies: z.int().describe('How many policies it reaches, of those that the caller may list.'),
    namespaces: z.int().describe('In how many namespaces they are.'),
    named: z
      .array(
        z.object({ namespace: namespaceName, name: objectName, runsFailed: z.boolean().exactOptional() }).meta({ id: 'AffectedPolicy' }),
      )
      .describe(
        `Up to ${maxNamed} of them, first those that still run a failed image (runsFailed); of one cause that was asked for by its id, up to ${maxNamedOfOne}.`,
      ),
    rollouts: z
      .object({ rolledBack: z.int(), running: z.int() })
      .exactOptional()
      .describe('Of an image that failed: on how many workloads the one before runs again, and on how many the failed one still runs.'),
    fixes: z
      .array(z.object({ id: z.string(), severity: z.enum(vulnerabilitySeverities) }).meta({ id: 'FixedVulnerability' }))
      .exactOptional()
      .describe('Of an image that fixes vulnerabilities of what runs, and waits: up to 10 of them, the most severe first.'),
    step: z.enum(causeSteps).describe('The one thing to do.'),
    command: z.string().exactOptional().describe('The command that does it for the first of the policies, or shows more.'),
  })
  .meta({ id: 'Cause', description: 'One thing that is wrong, with everything that it reaches.' });
export type ShownCause = Immutable<z.output<typeof cause>>;

const causeList = z
  .object({
    at: time,
    causes: z.array(cause),
    more: z.int().describe('How many causes are not listed.'),
    policies: z.object({
      total: z.int().describe('How many policies the caller may list.'),
      affected: z.int().describe('How many of them a cause reaches.'),
      namespaces: z.int().describe('In how many namespaces the affected ones are.'),
    }),
    installation: z
      .object({ checkedAt: time.exactOptional() })
      .exactOptional()
      .describe('The report of the doctor, without a time while it is being made; absent for callers who may not see it.'),
  })
  .meta({ id: 'CauseList' });

export const getCauses = defineRoute({
  method: 'GET',
  path: '/causes',
  id: 'listCauses',
  group: 'Installation',
  summary: 'List what keeps policies from going on, each cause once',
  about:
    'Of the policies that the caller may list, the most urgent cause first. Callers who may list the policies of all namespaces see as well what the last report of the doctor found, which is made anew in the background at most every 15 s.',
  query: z.object({
    namespace: namespaceName.exactOptional().describe('Only what is of this namespace.'),
    id: z.string().min(1).max(1_024).exactOptional().describe('The id of one cause; the list is empty when it is gone.'),
    policy: policyKeyParam
      .exactOptional()
      .describe(
        '`NAMESPACE/NAME`: only the cause of this policy, with its reach limited to it. Needs permission to get imagepolicies there.',
      ),
  }),
  answer: causeList,
  async handle({ query: { namespace, id, policy }, access, ports }) {
    const now = ports.now();
    const { turns } = ports;
    const visible =
      policy === undefined ? await listVisible(ports, access, namespace) : [{ policy: await seePolicy(ports, access, policy) }];
    const gathered = gatherCauses(now.getTime());
    await turns.each(visible, (one) => gathered.add(one.policy));
    const own = gathered.found();
    const added = policy === undefined ? await Promise.all(ports.causes.map((find) => find(access, namespace))) : [];
    const recent = namespace === undefined && policy === undefined ? await reportFor(access, ports) : undefined;
    const all = orderCauses(withoutRepeated([...own, ...added.flat(), ...findingCauses(recent?.report?.findings ?? [], recent?.since)]));
    const wanted = id === undefined ? all : all.filter((one) => one.id === id);
    // A policy may have a cause of its own and a fix that waits.
    const affected = new Set<string>();
    const namespaces = new Set<string>();
    const urgent = own.flatMap((one) => (one.urgency === 'Passing' ? [] : one.policies));
    await turns.each(urgent, (one) => {
      affected.add(`${one.namespace}/${one.name}`);
      namespaces.add(one.namespace);
    });
    const causes: ShownCause[] = [];
    await turns.each(wanted.slice(0, maxCauses), (one) => void causes.push(show(one, id === undefined ? maxNamed : maxNamedOfOne)));
    return {
      at: toSeconds(now),
      causes,
      more: Math.max(0, wanted.length - maxCauses),
      policies: { total: visible.length, affected: affected.size, namespaces: namespaces.size },
      ...(recent !== undefined && { installation: defined({ checkedAt: recent.report?.checkedAt }) }),
    };
  },
});

/** The last report, for callers who may see it; empty while there is none. */
async function reportFor(access: Access, { doctor, recentReport }: ApiPorts): Promise<Partial<DatedReport> | undefined> {
  if (doctor === undefined) return undefined;
  try {
    await requireReport(doctor, access);
  } catch (error) {
    if (error instanceof AccessError && error.status === 403) return undefined;
    throw error;
  }
  return (await recentReport()) ?? {};
}

function show({ policies, since, rollouts, command, said, fixes, ...rest }: Cause, most: number): ShownCause {
  return {
    ...rest,
    policies: policies.length,
    namespaces: namespacesOf(policies),
    named: firstOf(policies, most).map(({ namespace, name, runsFailed }) => ({ namespace, name, ...defined({ runsFailed }) })),
    ...defined({ since, command, fixes, said, rollouts }),
  };
}

/** The first policies, those that still run a failed image before all others. */
function firstOf(policies: readonly ReachedPolicy[], most: number): readonly ReachedPolicy[] {
  const failed = policies.filter(({ runsFailed }) => runsFailed === true).slice(0, most);
  const others = failed.length < most ? policies.filter(({ runsFailed }) => runsFailed !== true) : [];
  return [...failed, ...others.slice(0, most - failed.length)];
}

function namespacesOf(policies: readonly { readonly namespace: string }[]): number {
  return new Set(policies.map(({ namespace }) => namespace)).size;
}
