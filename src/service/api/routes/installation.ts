import { z } from 'zod';
import { defined } from '../../../core/model/defined.ts';
import { isUsable } from '../../../core/model/image-policy.ts';
import { toSeconds } from '../../../core/model/text.ts';
import { type Access, AccessError } from '../access.ts';
import { answerDoctor, answerRecent } from '../doctor-api.ts';
import { saidView } from '../said-view.ts';
import { answerNamespace } from '../namespaces-api.ts';
import { countEvents } from '../count-events.ts';
import type { PolicyState } from '../../../core/model/policy-state.ts';
import { listedOf } from '../listed.ts';
import { asOf, defineRoute, namespaceName, time } from '../route.ts';
import type { ApiPorts } from '../ports.ts';
import { overview } from '../overview-view.ts';
import { stale } from '../stale-view.ts';
import { listVisible, policiesOf, whyNoActions } from '../see-policies.ts';

const whole = 'Needs permission to list imagepolicies in all namespaces.';

async function requireAll(access: Access): Promise<void> {
  if (!(await access.may({ verb: 'list' }))) throw new AccessError(403, 'this needs permission to list imagepolicies in all namespaces');
}

export const getOverview = defineRoute({
  method: 'GET',
  path: '/overview',
  id: 'getOverview',
  group: 'Installation',
  summary: 'Count policies by state, and pushes by outcome',
  about: 'Of the policies that the caller may list, and the pushes of the last hour that the caller may see.',
  query: z.object({ namespace: namespaceName.exactOptional().describe('Only what is of this namespace.') }),
  answer: overview,
  async handle({ query: { namespace }, access, ports }) {
    const visible = await listVisible(ports, access, namespace);
    const now = ports.now();
    const policies: Partial<Record<PolicyState, number>> = {};
    const byHour = Array.from({ length: 24 }, () => 0);
    await ports.turns.each(visible, ({ state, changedAt }) => {
      policies[state] = (policies[state] ?? 0) + 1;
      for (const at of changedAt) {
        const hour = 23 - Math.floor(Math.max(0, now.getTime() - at) / 3_600_000);
        if (hour >= 0) byHour[hour] = (byHour[hour] ?? 0) + 1;
      }
    });
    const pushes = await countEvents(ports, access, { since: now.getTime() - 3_600_000, namespace });
    return {
      at: toSeconds(now),
      policies,
      changes: { lastHour: byHour.at(-1) ?? 0, lastDay: byHour.reduce((sum, count) => sum + count, 0), byHour },
      pushes,
    };
  },
});

const receiver = z
  .object({
    name: z.string(),
    provider: z.string(),
    path: z.string().describe('Where senders deliver, below the public address of the receivers.'),
    lastAcceptedAt: time.exactOptional(),
    lastRefusedAt: time.exactOptional(),
    answers: z.record(z.string(), time).describe('When it last answered with each status, within 30 days.'),
  })
  .meta({ id: 'Receiver' });

export const getReceivers = defineRoute({
  method: 'GET',
  path: '/receivers',
  id: 'listReceivers',
  group: 'Installation',
  summary: 'List the receivers, and when they last answered',
  about: `${whole} Secrets are never shown.`,
  answer: z.object({ receivers: z.array(receiver), asOf }).meta({ id: 'ReceiverList' }),
  async handle({ access, ports }) {
    await requireAll(access);
    const [receivers, deliveries] = await Promise.all([ports.installation.receivers(), ports.installation.deliveries()]);
    return {
      ...defined({ asOf: receivers.asOf ?? deliveries.asOf }),
      receivers: receivers.value.map(({ name, provider }) => {
        const answers = [...(deliveries.value.get(name) ?? [])].sort(([a], [b]) => a - b);
        const latest = (isWanted: (status: number) => boolean) =>
          Math.max(0, ...answers.filter(([status]) => isWanted(status)).map(([, at]) => at));
        const [accepted, refused] = [latest((status) => status < 300), latest((status) => status >= 400)];
        return {
          name,
          provider,
          path: `/webhooks/${name}`,
          ...(accepted > 0 && { lastAcceptedAt: toSeconds(new Date(accepted)) }),
          ...(refused > 0 && { lastRefusedAt: toSeconds(new Date(refused)) }),
          answers: Object.fromEntries(answers.map(([status, at]) => [String(status), toSeconds(new Date(at))])),
        };
      }),
    };
  },
});

const registry = z
  .object({
    host: z.string(),
    policies: z.int().describe('How many policies watch repositories of it.'),
    stalled: z.int().describe('How many of them are Stalled or Failed.'),
    lastPushAt: time.exactOptional().describe('When a webhook last announced a push that a policy watches.'),
    unannounced: z.int().describe('Images that polls found since then although no webhook had announced them.'),
  })
  .meta({ id: 'Registry' });

export const getInstallation = defineRoute({
  method: 'GET',
  path: '/installation',
  id: 'getInstallation',
  group: 'Installation',
  summary: 'List the processes that run, with their roles and versions',
  about: `${whole} A process that has only the roles \`convert\` and \`web\` is not listed, because it does not use Redis.`,
  answer: z
    .object({
      version: z.string().describe('Of the process that answers.'),
      kubernetes: z.string().exactOptional(),
      redis: z.string().exactOptional(),
      processes: z.array(
        z.object({ name: z.string(), version: z.string(), roles: z.array(z.string()), startedAt: time }).meta({ id: 'Process' }),
      ),
      asOf,
    })
    .meta({ id: 'Installation' }),
  async handle({ access, ports }) {
    await requireAll(access);
    const { value, asOf: readAt } = await ports.installation.running();
    return { version: ports.version, ...value, ...defined({ asOf: readAt }) };
  },
});

export const getRegistries = defineRoute({
  method: 'GET',
  path: '/registries',
  id: 'listRegistries',
  group: 'Installation',
  summary: 'List the registries of the policies, and what was announced of them',
  about: `${whole} Those that most policies use come first.`,
  answer: z.object({ registries: z.array(registry), asOf }).meta({ id: 'RegistryList' }),
  async handle({ access, ports }) {
    await requireAll(access);
    const hosts = new Map<string, { policies: number; stalled: number }>();
    await ports.turns.each([...policiesOf(ports).all()], (policy) => {
      if (!isUsable(policy.spec)) return;
      const { registry } = policy.spec.repository;
      const counts = hosts.get(registry) ?? { policies: 0, stalled: 0 };
      const { state } = listedOf(policy);
      hosts.set(registry, { policies: counts.policies + 1, stalled: counts.stalled + (state === 'Stalled' || state === 'Failed' ? 1 : 0) });
    });
    const ordered = [...hosts].sort(([, a], [, b]) => b.policies - a.policies).slice(0, maxHosts);
    const { value: announced, asOf: readAt } = await ports.installation.announcements(ordered.map(([host]) => host));
    return {
      ...defined({ asOf: readAt }),
      registries: ordered.map(([host, counts], index) => {
        const { lastPush, unannounced = 0 } = announced[index] ?? {};
        return { host, ...counts, ...(lastPush !== undefined && { lastPushAt: toSeconds(new Date(lastPush)) }), unannounced };
      }),
    };
  },
});

/** The limit for the hosts of registries, which tenants choose. */
const maxHosts = 200;

const finding = z
  .looseObject({
    line: z.string().describe('Stable; a section of docs/doctor.md.'),
    level: z.enum(['ok', 'failed', 'warning', 'skipped']),
    subject: z.string().exactOptional().describe('What the line is about, if there are several findings of it.'),
    message: z.string(),
    action: z.string().exactOptional().describe('What to do.'),
    said: saidView.exactOptional(),
    saidAction: saidView.exactOptional(),
  })
  .meta({ id: 'Finding', description: 'One line of the report.' });

export const getDoctor = defineRoute({
  method: 'GET',
  path: '/doctor',
  id: 'getDoctor',
  group: 'Installation',
  summary: 'Check the installation',
  about: 'What `image-watcher doctor` prints. Needs permission to list imagepolicies in all namespaces that are watched.',
  query: z.object({
    recent: z
      .literal('true')
      .exactOptional()
      .describe('The last report, which is made anew in the background at most every 15 s; 503 while there is none.'),
  }),
  answer: z
    .looseObject({
      version: z.string(),
      checkedAt: time,
      findings: z.array(finding),
      conversion: z
        .object({ certificate: z.string().exactOptional(), why: z.string().exactOptional() })
        .describe('The certificate that the conversion webhook presents (PEM), or why it is not known.'),
    })
    .meta({ id: 'DoctorReport' }),
  async handle({ query: { recent }, access, ports }) {
    const { findings, ...report } = await (recent === undefined ? answerDoctor(ports.doctor, access) : answerRecent(ports, access));
    return { ...report, findings: findings.map((finding) => ({ ...finding })) };
  },
});

export const getNamespace = defineRoute({
  method: 'GET',
  path: '/namespaces/{namespace}',
  id: 'getNamespace',
  group: 'Installation',
  summary: 'Show whether the policies of a namespace are considered',
  about: 'Needs permission to get imagepolicies in the namespace.',
  params: z.object({ namespace: namespaceName.describe('The name of the namespace.') }),
  answer: z
    .object({
      namespace: z.string(),
      isSelected: z.boolean(),
      reason: z.string().exactOptional(),
      message: z.string().exactOptional(),
    })
    .meta({ id: 'NamespaceSelection' }),
  handle: ({ params: { namespace }, access, ports }) => answerNamespace(ports.namespaces, access, namespace),
});

export const getCaller = defineRoute({
  method: 'GET',
  path: '/caller',
  id: 'getCaller',
  group: 'Installation',
  summary: 'Show who the caller is',
  about: 'For pages that offer only what the caller may do.',
  answer: z
    .object({
      user: z.string(),
      listsAll: z.boolean().describe('Whether the caller may list the policies of all namespaces.'),
      seesAll: z
        .literal(true)
        .exactOptional()
        .describe('Whether the caller may see everything, so that every other caller who may is answered the same.'),
      noActions: z
        .string()
        .exactOptional()
        .describe('Why the caller cannot act through the API at all; absent if he can, as far as his permissions go.'),
      stale: z
        .array(stale)
        .exactOptional()
        .describe('What does not answer at present, and since when. The API then answers from memory as far as it can.'),
      features: z
        .array(z.string())
        .exactOptional()
        .describe(
          'The optional parts that the API has: `bases` for BaseImagePolicies, `activity` for the record of activity, `notify` for the targets of notifications.',
        ),
    })
    .meta({ id: 'Caller' }),
  async handle({ access, ports }) {
    const noActions = whyNoActions(ports, access);
    const gone = ports.stale();
    return {
      user: access.user,
      listsAll: await access.may({ verb: 'list' }),
      ...((await seesAll(access, ports)) && { seesAll: true as const }),
      ...defined({ noActions }),
      ...(gone.length > 0 && { stale: gone.map(({ what, since }) => ({ what, since: toSeconds(new Date(since)) })) }),
      ...(ports.features.length > 0 && { features: ports.features }),
    };
  },
});

async function seesAll(access: Access, { sight }: ApiPorts): Promise<boolean> {
  for (const question of sight) if (!(await access.may(question))) return false;
  return true;
}
