/** A cluster, a registry, a queue and an audit record in memory, as the ports of the processors. Tests assert what is in it afterwards. */
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import type { ImageList } from '../../../src/core/model/image-list.ts';
import { type ImagePolicy, policyKey } from '../../../src/core/model/image-policy.ts';
import { matchesSelector } from '../../../src/core/model/label-selector.ts';
import { formatRepository, type Candidate, type Repository } from '../../../src/core/model/image-reference.ts';
import { companionRepositories, createPolicyIndex } from '../../../src/service/cluster/policy-indexes.ts';
import type { Notice } from '../../../src/core/model/notice.ts';
import { decideAlike } from '../../../src/core/model/policy-basis.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import { kindKey, workloadKey, type Workload } from '../../../src/core/model/workload.ts';
import type { PollPorts } from '../../../src/service/poll/process-poll.ts';
import type { PolicyResult } from '../../../src/service/queue/event-log.ts';
import { isFinal } from '../../../src/service/queue/record-result.ts';
import type { PolicyJob, PollJob, PushJob } from '../../../src/service/queue/jobs.ts';
import type { JobContext } from '../../../src/service/queue/worker.ts';
import { createLogger } from '../../../src/service/telemetry/logger.ts';
import { createMetrics } from '../../../src/service/telemetry/metrics.ts';
import { createRecentPushes } from '../../../src/service/reconcile/recent-pushes.ts';
import { createKeyedMutex } from '../../../src/core/async/serialize.ts';
import type { ObjectEvent } from '../../../src/core/model/object-event.ts';
import type { ImageFacts, ResolveTag, SecretVersions } from '../../../src/service/reconcile/ports.ts';
import { createRegistryMemory } from '../../../src/service/reconcile/registry-memory.ts';
import { neededReconciles, type NeedsView } from '../../../src/service/reconcile/enqueue/needs-reconcile.ts';
import { noEvidence } from '../../../src/core/model/vulnerabilities.ts';
import { digestOf, policyOf, web, workloadOf } from '../../core/model/samples.ts';
import { runningPod } from '../../core/rollout/rollout-samples.ts';
import { change } from './patched.ts';

export const startTime = Date.parse('2026-03-01T12:00:00Z');
export const image = formatRepository(web);

export interface World {
  readonly ports: PollPorts;
  readonly policies: Map<string, ImagePolicy>;
  /** What the cluster runs; the caches see all of it at once. */
  readonly workloads: Map<string, Workload>;
  /** What the registry holds: tag → digest. */
  readonly tags: Map<string, string>;
  /** What the repositories of companions hold: path → tag → digest; and the commits and lists of images, by digest. */
  readonly companions: Map<string, Map<string, string>>;
  readonly revisions: Map<string, string>;
  readonly lists: Map<string, ImageList>;
  /** What images are: digest → platforms and creation time, or why it is none; the others are of linux/amd64, and do not say when they were created. */
  readonly facts: Map<string, Partial<ImageFacts>>;
  /** `HEAD tag` (or GET, where the tag is to be used), `READ letter` (of a digest, once, as the client does), `LIST path`, `PATCH name` and `GET name`, in order: where the number of requests is the promise. */
  readonly requests: string[];
  /** Namespace → its annotation of consent. */
  readonly namespaces: Map<string, string>;
  readonly jobs: PolicyJob[];
  readonly polls: PollJob[];
  /** What polls found that `announced` does not hold, as `path:tag@digest`. */
  readonly unannounced: Set<string>;
  readonly announced: Set<string>;
  readonly events: ObjectEvent[];
  readonly notices: Notice[];
  readonly unwatched: string[];
  readonly matched: Map<string, readonly string[]>;
  /** `event policy` → its result. */
  readonly results: Map<string, PolicyResult>;
  /** The images of Deployment shop/web. */
  readonly images: () => string[];
  readonly statusOf: (name: string) => PolicyStatus;
  readonly put: (...policies: ImagePolicy[]) => void;
}

/** Single ports that a test replaces. */
export type PortOverrides = { readonly [B in keyof PollPorts]?: Partial<PollPorts[B]> };

/** The same ports, some of them replaced. */
export function withPorts(ports: PollPorts, overrides: PortOverrides): PollPorts {
  const { policies, cluster, workloads, registry, signatures, vulnerabilities, report, queues, poll } = overrides;
  return {
    ...ports,
    policies: { ...ports.policies, ...policies },
    cluster: { ...ports.cluster, ...cluster },
    workloads: { ...ports.workloads, ...workloads },
    // A test that replaces one request for a tag replaces both.
    registry: { ...ports.registry, ...(registry?.headManifest && { resolveTag: registry.headManifest }), ...registry },
    signatures: { ...ports.signatures, ...signatures },
    vulnerabilities: { ...ports.vulnerabilities, ...vulnerabilities },
    report: { ...ports.report, ...report },
    queues: { ...ports.queues, ...queues },
    poll: { ...ports.poll, ...poll },
  };
}

/** Policy shop/web (any stable version) for Deployment shop/web, which runs 1.2.3; the registry holds 1.2.3 and 1.3.0. */
export function createWorld(overrides: PortOverrides = {}): World {
  const policies = new Map<string, ImagePolicy>();
  const workloads = new Map<string, Workload>();
  const tags = new Map([
    ['1.2.3', digestOf('a')],
    ['1.3.0', digestOf('b')],
  ]);
  const companions = new Map<string, Map<string, string>>();
  const [revisions, lists] = [new Map<string, string>(), new Map<string, ImageList>()];
  const facts = new Map<string, Partial<ImageFacts>>();
  const readDigests = new Set<string>();
  const requests: string[] = [];
  const namespaces = new Map<string, string>();
  const [jobs, polls]: [PolicyJob[], PollJob[]] = [[], []];
  const [unannounced, announced] = [new Set<string>(), new Set<string>()];
  const findOf = ({ path }: Repository, { tag, digest = '' }: Candidate) => `${path}:${tag}@${digest}`;
  const [events, notices]: [ObjectEvent[], Notice[]] = [[], []];
  const unwatched: string[] = [];
  const matched = new Map<string, readonly string[]>();
  const results = new Map<string, PolicyResult>();
  let lastTick: number | undefined;

  const readImage = async (_: unknown, reference: string): Promise<ImageFacts | undefined> => {
    const digest = reference.startsWith('sha256:') ? reference : tags.get(reference);
    if (reference !== digest) requests.push(`HEAD ${reference}`);
    if (digest === undefined) return undefined;
    if (!readDigests.has(digest)) requests.push(`READ ${digest.slice(7, 8)}`);
    readDigests.add(digest);
    return { digest, platforms: ['linux/amd64'], unusable: {}, ...facts.get(digest) };
  };

  const tagsOf = (path: string) => companions.get(path) ?? tags;
  const resolveTag: ResolveTag = async ({ path }, tag) => {
    requests.push(`HEAD ${tag}`);
    const digest = tagsOf(path).get(tag) ?? [...tagsOf(path).values()].find((one) => one === tag);
    return digest === undefined ? undefined : { digest };
  };

  const ports: PollPorts = {
    policies: {
      all: () => policies.values(),
      find: (namespace, name) => policies.get(policyKey({ namespace, name })),
      matchCompanions: (repository) => {
        const index = createPolicyIndex(companionRepositories);
        for (const policy of policies.values()) index.put(policy);
        return index.match(repository);
      },
      match: (repository) => {
        const index = createPolicyIndex();
        for (const policy of policies.values()) index.put(policy);
        return index.match(repository);
      },
      matchUnselected: () => [],
      isWatching: () => true,
      isComplete: async () => true,
      recentPushes: createRecentPushes(() => startTime),
      read: async (namespace, name) => {
        requests.push(`GET policy ${name}`);
        return policies.get(policyKey({ namespace, name }));
      },
      confirm: async (policy) => {
        const now = policies.get(policyKey(policy));
        const isSame = now?.uid === policy.uid && now.generation <= policy.generation && decideAlike(now, policy);
        return isSame ? performance.now() : undefined;
      },
      secretVersions: () => '',
      writeStatus: async (policy, update) => {
        const key = policyKey(policy);
        const current = policies.get(key);
        const status = current && update(current.status);
        if (current && status) policies.set(key, { ...current, status });
      },
      mutex: createKeyedMutex(),
    },
    cluster: {
      findWorkload: (ref) => workloads.get(workloadKey(ref)),
      listWorkloads: (kind, namespace) =>
        [...workloads.values()].filter((workload) => kindKey(workload) === kindKey(kind) && workload.namespace === namespace),
      targetState: () => ({ since: startTime }),
      aliases: new Map(),
      crossNamespace: 'consent',
      namespaceConsent: (namespace) => namespaces.get(namespace) ?? null,
      repeatsPerHour: 5,
      now: () => startTime,
    },
    workloads: {
      awaitTargets: async () => undefined,
      read: async (ref) => {
        requests.push(`GET ${ref.name}`);
        return workloads.get(workloadKey(ref));
      },
      readSelected: async ({ selector, ...target }) => {
        requests.push(`LIST ${target.kind}`);
        const listed = world.ports.cluster.listWorkloads(target, target.namespace, selector);
        return [...listed].filter(({ labels }) => matchesSelector(selector, labels));
      },
      readPods: async ({ name }) => {
        requests.push(`LIST pods of ${name}`);
        return [runningPod(new Date(startTime).toISOString())];
      },
      readConsent: async (namespace) => {
        requests.push(`GET namespace ${namespace}`);
        return namespaces.get(namespace) ?? null;
      },
      refreshConsents: async () => undefined,
      patchImages: async (workload, changes, { confirm }) => {
        if ((await confirm()) === undefined) return { kind: 'outdated' };
        requests.push(`PATCH ${workload.name}`);
        const patched = change(workload, changes);
        workloads.set(workloadKey(workload), patched);
        return { kind: 'patched', workload: patched };
      },
    },
    registry: {
      sourceOf: (_, spec) => spec.repository,
      headManifest: resolveTag,
      resolveTag,
      readTag: resolveTag,
      listTags: async (repository) => {
        requests.push(`LIST ${repository.path}`);
        return [...tagsOf(repository.path).keys()];
      },
      readRevision: async (_, digest) => revisions.get(digest),
      readImageList: async (_, digest) => lists.get(digest),
      readImage,
      readPlatforms: readImage,
      hasRead: async () => true,
      whyUnusable: async (_, digest) => facts.get(digest)?.unusable ?? {},
      ...createRegistryMemory({ now: () => startTime, elapsed: () => 0 }),
    },
    signatures: { verify: async () => ({ kind: 'verified', by: 'nobody who matters' }) },
    vulnerabilities: { read: async () => noEvidence },
    report: {
      recordEvent: (event) => void events.push(event),
      eventLog: {
        unwatched: async (event) => void unwatched.push(event.id),
        matched: async (event, names) => void matched.set(event.id, names),
        async recordResult(event, policy, result, push) {
          if (push !== undefined) matched.set(push.id, [policy]);
          results.set(`${event} ${policy}`, result);
        },
        async unfinished(event) {
          const isOpen = (policy: string) => !isFinal(results.get(`${event} ${policy}`) ?? { kind: 'retrying' });
          return (matched.get(event) ?? []).filter(isOpen);
        },
        recordGivenUp: async () => undefined,
      },
      metrics: overrides.report?.metrics ?? createMetrics(),
      logger: createLogger('silent'),
    },
    queues: {
      addPolicyJobs: async (added) => void jobs.push(...added),
      repeatPushes: async () => undefined,
      addPolls: async (added) => void polls.push(...added.map(({ job }) => job)),
      readLastTick: async () => lastTick,
      writeLastTick: async (at) => void (lastTick = at),
      readClock: async () => startTime,
    },
    bases: { onPush: async () => [] },
    poll: {
      gate: { enter: () => ({ leave: () => undefined }) },
      finds: {
        isAnnounced: async (_, { tag }) => announced.has(tag),
        countWith: async (...find) => (unannounced.has(findOf(...find)) ? undefined : unannounced.size + 1),
        add: async (...[where, what]) => (unannounced.has(findOf(where, what)) ? undefined : unannounced.add(findOf(where, what)).size),
      },
      registryLabel: (registry) => registry,
      notify: async (_, { notice }) => void notices.push(notice),
    },
  };
  const world: World = {
    ports: withPorts(ports, overrides),
    policies,
    workloads,
    tags,
    companions,
    revisions,
    lists,
    facts,
    requests,
    namespaces,
    jobs,
    polls,
    unannounced,
    announced,
    events,
    notices,
    unwatched,
    matched,
    results,
    images: () => workloads.get('Deployment/shop/web')?.containers.map((container) => container.image) ?? [],
    statusOf: (name) => policies.get(`shop/${name}`)?.status ?? {},
    put: (...added) => {
      for (const policy of added) policies.set(policyKey(policy), policy);
    },
  };
  world.put(policyOf());
  setWorkload(world, { web: `${image}:1.2.3` });
  return world;
}

/** Lets Deployment shop/web run these images, as somebody's edit would. */
export function setWorkload(world: World, images: Parameters<typeof workloadOf>[0], other: Partial<Workload> = {}): void {
  const workload = workloadOf(images, other);
  world.workloads.set(workloadKey(workload), workload);
}

/** A job's life in the queue. */
export function contextOf(context: Partial<JobContext> = {}): JobContext {
  return {
    jobId: 'job',
    name: 'job',
    failures: 0,
    isRepeated: false,
    isLastTry: false,
    wasLost: false,
    isOurs: async () => true,
    signal: new AbortController().signal,
    ...context,
  };
}

/** A push of shop/web, received two seconds ago. */
export function pushOf(push: Partial<PushEvent> = {}): PushJob {
  return {
    schema: 1,
    id: 'push-1',
    receiver: 'prod',
    provider: 'harbor',
    repository: web,
    tag: '1.3.0',
    digest: digestOf('b'),
    receivedAt: new Date(startTime - 2_000).toISOString(),
    ...push,
  };
}

/** The first job that the policy wants, or undefined. */
export function neededReconcile(policy: ImagePolicy, view: NeedsView, now: Date, secrets?: SecretVersions): PolicyJob | undefined {
  return neededReconciles(policy, asSeenBy(policy, view), { now, withNew: false }, secrets)[0];
}
