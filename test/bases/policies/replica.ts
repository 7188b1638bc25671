/** A replica that reconciles a BaseImagePolicy, with a registry, a workload and its pods. */
import { readBasePolicy } from '../../../src/bases/resource/read-base-policy.ts';
import { DigestMemory } from '../../../src/bases/policies/digest-memory.ts';
import { BoundedMap } from '../../../src/core/async/bounded-map.ts';
import { PolicyChanged } from '../../../src/bases/policies/brake.ts';
import type { BasePorts } from '../../../src/bases/policies/ports.ts';
import { processBaseJob } from '../../../src/bases/policies/reconcile-base.ts';
import { mergeVersions } from '../../../src/bases/record/merge-versions.ts';
import type { SeenVersion } from '../../../src/bases/record/seen-version.ts';
import { createVersionsMemory } from '../../../src/bases/policies/select-base.ts';
import { type BaseImagePolicy } from '../../../src/core/model/base-policy.ts';
import { readBaseStatus } from '../../../src/core/model/base-status.ts';
import type { BaseJob } from '../../../src/service/queue/jobs.ts';
import type { PolicyResult } from '../../../src/service/queue/event-log.ts';
import type { ObjectEvent } from '../../../src/core/model/object-event.ts';
import type { Registry, Signatures } from '../../../src/service/reconcile/ports.ts';
import type { RunningPods } from '../../../src/core/rollout/running-pods.ts';
import { digestOf, workloadOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, startTime } from '../../service/reconcile/world.ts';

const metadata = { name: 'java', namespace: 'shop', uid: 'u1', resourceVersion: '1', generation: 1 };
const spec = {
  image: 'harbor.example.com/library/java',
  select: { digest: { tag: '1.2.3' } },
  workloads: [{ kinds: ['Deployment'] }],
  mode: 'Automatic',
};
export const jobOf = (source: BaseJob['source'], more: Partial<BaseJob> = {}): BaseJob => ({
  schema: 1,
  policy: { namespace: 'shop', name: 'java', uid: 'u1' },
  source,
  cause: 'a test',
  // So long ago that the job waits in its queue.
  receivedAt: new Date(startTime - 2_000).toISOString(),
  ...more,
});

interface Replica {
  readonly process: (job: BaseJob) => Promise<void>;
  /** Of pushes, by event and policy. */
  readonly results: ReadonlyMap<string, PolicyResult>;
  readonly requests: string[];
  /** Kubernetes Events. */
  readonly events: readonly ObjectEvent[];
  /** What it has remembered, and whether nothing else might be forgotten meanwhile. */
  readonly added: readonly { readonly versions: readonly SeenVersion[]; readonly keepsAll: boolean }[];
  /** Jobs that it has added. */
  readonly jobs: BaseJob[];
  /** Names of the workloads that it has restarted. */
  readonly restarted: string[];
  /** What the registry holds. */
  readonly tags: Map<string, string>;
  readonly status: () => BaseImagePolicy['status'];
  /** Another replica writes a status; or the policy is created anew, with another uid. */
  readonly write: (status: object, uid?: string) => void;
  /** Called before the next write of a status. */
  beforeWrite: () => void;
}

interface Options {
  /** More of the spec. */
  readonly settings?: object;
  /** The layers of an image, by the letter of its digest; its own one by default. */
  readonly layers?: Readonly<Record<string, readonly string[]>>;
  /** What the pods of the Deployment run; by default, nobody asks. */
  readonly pods?: RunningPods;
  /** Who has signed what; by default everything is signed. */
  readonly signatures?: Partial<Signatures>;
  /** What the registry does otherwise than to answer from `tags`. */
  readonly registry?: Partial<Registry>;
}

/** A replica with a policy that follows the tag 1.2.3 of its base, and a Deployment that runs `main` of an application. */
export function createReplica({ settings = {}, layers = {}, pods, signatures = {}, registry = {} }: Options = {}): Replica {
  const { ports, requests, tags, results, events } = createWorld({ signatures, registry });
  const read = (status: object, version: string, uid = metadata.uid) =>
    readBasePolicy(
      { metadata: { ...metadata, resourceVersion: version, uid }, spec: { ...spec, ...settings }, status },
      { aliases: new Map(), customTargets: [] },
    );
  const jobs: BaseJob[] = [];
  const restarted: string[] = [];
  let remembered: readonly SeenVersion[] = [];
  const added: { versions: readonly SeenVersion[]; keepsAll: boolean }[] = [];
  let version = 1;
  let policy = read({}, '1');
  const write = (status: object, uid = policy.uid) => (policy = read(status, String(++version), uid));
  const unused = () => Promise.reject(new Error('not for these tests'));
  const workload = workloadOf({ web: 'harbor.example.com/shop/app:main' });
  const all: BasePorts = {
    basePolicies: {
      all: () => [policy],
      find: () => policy,
      read: () => Promise.resolve(policy),
      isAsPlanned: () => Promise.resolve(true),
      subscribe: () => () => undefined,
      writeStatus(planned, update, { isExclusive = false }) {
        const before = replica.beforeWrite;
        replica.beforeWrite = () => undefined;
        before();
        if (isExclusive && planned.resourceVersion !== policy.resourceVersion) return Promise.reject(new PolicyChanged('by a test'));
        const next = update(readBaseStatus(policy.status));
        if (next !== policy.status) write(next);
        return Promise.resolve(policy);
      },
      underWay: new Set(),
    },
    cluster: {
      ...ports.cluster,
      listWorkloads: () => [workload],
      namespacesWith: () => ['shop'],
      listEveryWorkload: () => [workload],
      namespaceMatches: () => true,
    },
    notices: { add: () => Promise.resolve() },
    reported: { read: () => Promise.resolve(new Set()), add: () => Promise.resolve() },
    signatures: ports.signatures,
    registry: { ...ports.registry, listTags: () => Promise.resolve(['1.2.3']) },
    facts: {
      read: (_source, digest) =>
        Promise.resolve({
          digest,
          platforms: [{ platform: 'linux/amd64', digest, diffIds: layers[digest.at(-1) ?? ''] ?? [digest], named: [] }],
        }),
    },
    versions: createVersionsMemory(),
    records: {
      read: () => Promise.resolve(remembered),
      add: (_, versions, { keepsAll = false }) => {
        added.push({ versions, keepsAll });
        remembered = mergeVersions(remembered, versions);
        return Promise.resolve(remembered);
      },
    },
    dependents: { keep: () => Promise.resolve() },
    digests: new DigestMemory(10),
    listed: new BoundedMap(10),
    waits: new BoundedMap(10),
    queues: { addBaseJobs: (added) => Promise.resolve(void jobs.push(...added)) },
    report: ports.report,
    rebase: unused,
    isRebaseKnown: () => false,
    discard: unused,
    mayPush: () => false,
    readWorkload: unused,
    children: { list: () => Promise.resolve([]), create: unused, remove: unused, rollBack: unused },
    rebuilds: { request: unused, read: () => Promise.resolve([]) },
    restarts: {
      read: () => (pods === undefined ? unused() : Promise.resolve(pods)),
      restart({ name }) {
        restarted.push(name);
        return Promise.resolve(true);
      },
      readConsent: unused,
    },
  };
  const replica: Replica = {
    results,
    added,
    jobs,
    restarted,
    process: (job) => processBaseJob(job, contextOf(), all),
    requests,
    events,
    tags,
    status: () => policy.status,
    write,
    beforeWrite: () => undefined,
  };
  tags.set('main', digestOf('e'));
  return replica;
}
