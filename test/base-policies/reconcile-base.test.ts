import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readBasePolicy } from '../../src/api-versions/base-policy/read-base-policy.ts';
import { BoundedMap } from '../../src/async/bounded-map.ts';
import { PolicyChanged } from '../../src/base-policies/brake.ts';
import type { BasePorts } from '../../src/base-policies/ports.ts';
import { processBaseJob } from '../../src/base-policies/reconcile-base.ts';
import { createVersionsMemory } from '../../src/base-policies/select-base.ts';
import { readBaseStatus, type BaseImagePolicy } from '../../src/model/base-policy.ts';
import type { BaseJob } from '../../src/queue/jobs.ts';
import { digestOf, workloadOf } from '../model/samples.ts';
import { contextOf, createWorld, startTime } from '../reconcile/world.ts';

const metadata = { name: 'java', namespace: 'shop', uid: 'u1', resourceVersion: '1', generation: 1 };
const spec = {
  image: 'harbor.example.com/library/java',
  select: { digest: { tag: '1.2.3' } },
  workloads: [{ kinds: ['Deployment'] }],
  mode: 'Automatic',
};
const jobOf = (source: BaseJob['source'], more: Partial<BaseJob> = {}): BaseJob => ({
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
  readonly requests: string[];
  /** What the registry holds. */
  readonly tags: Map<string, string>;
  readonly status: () => BaseImagePolicy['status'];
  /** Another replica writes a status. */
  readonly write: (status: object) => void;
  /** Called before the next write of a status. */
  beforeWrite: () => void;
}

/** A replica with a policy that follows the tag 1.2.3 of its base, and a Deployment that runs `main` of an application. */
function createReplica(): Replica {
  const { ports, requests, tags } = createWorld();
  const read = (status: object, version: string) =>
    readBasePolicy({ metadata: { ...metadata, resourceVersion: version }, spec, status }, { aliases: new Map(), customTargets: [] });
  let version = 1;
  let policy = read({}, '1');
  const write = (status: object) => (policy = read(status, String(++version)));
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
      namespaceMatches: () => true,
    },
    registry: ports.registry,
    facts: {
      read: (_source, digest) =>
        Promise.resolve({ digest, platforms: [{ platform: 'linux/amd64', digest, diffIds: [digest], named: [] }] }),
    },
    versions: createVersionsMemory(),
    digests: new BoundedMap(10),
    waits: new BoundedMap(10),
    queues: { addBaseJobs: () => Promise.resolve() },
    report: ports.report,
    rebase: unused,
    readWorkload: unused,
    children: { list: () => Promise.resolve([]), create: unused, remove: unused, rollBack: unused },
    rebuilds: { request: unused, read: () => Promise.resolve([]) },
    restarts: { read: unused, restart: unused, readConsent: unused },
  };
  const replica: Replica = {
    process: (job) => processBaseJob(job, contextOf(), all),
    requests,
    tags,
    status: () => policy.status,
    write,
    beforeWrite: () => undefined,
  };
  tags.set('main', digestOf('e'));
  return replica;
}

const latest = (letter: string) => ({ tag: '1.2.3', digest: digestOf(letter), selectedAt: '2026-03-01T12:00:00Z' });

describe('a replica that did not take the push of the newest base', () => {
  it('asks the registry where another one has selected another base than it remembers', async () => {
    const replica = createReplica();
    await replica.process(jobOf('Poll'));
    assert.equal(replica.status().latest?.digest, digestOf('a'));
    replica.tags.set('1.2.3', digestOf('c'));
    replica.write({ ...replica.status(), latest: latest('c') });
    await replica.process(jobOf('TargetChange'));
    assert.equal(replica.status().latest?.digest, digestOf('c'));
  });

  it('does not ask where nothing else was selected', async () => {
    const replica = createReplica();
    await replica.process(jobOf('Poll'));
    replica.requests.length = 0;
    await replica.process(jobOf('TargetChange'));
    assert.deepEqual(replica.requests, []);
  });

  it('does not write a base over one that was selected while it asked the registry', async () => {
    const replica = createReplica();
    replica.beforeWrite = () => {
      replica.tags.set('1.2.3', digestOf('c'));
      replica.write({ latest: latest('c') });
    };
    await replica.process(jobOf('Poll'));
    assert.equal(replica.status().latest?.digest, digestOf('c'));
  });

  it('does not report a base over one that was selected while it looked at the images', async () => {
    const replica = createReplica();
    await replica.process(jobOf('Poll'));
    replica.beforeWrite = () => {
      replica.tags.set('1.2.3', digestOf('c'));
      replica.write({ ...replica.status(), latest: latest('c') });
    };
    await replica.process(jobOf('TargetChange'));
    assert.equal(replica.status().latest?.digest, digestOf('c'));
  });

  it('asks for a tag of an application where another one has seen another image under it than it remembers', async () => {
    const replica = createReplica();
    await replica.process(jobOf('Poll'));
    replica.requests.length = 0;
    replica.tags.set('main', digestOf('f'));
    const image = { image: 'harbor.example.com/shop/app:main', digest: digestOf('f'), state: 'Current', workloads: 1 };
    replica.write({ ...replica.status(), dependents: [image] });
    await replica.process(jobOf('WaitOver'));
    assert.deepEqual(replica.requests, ['HEAD main']);
  });
});

describe('a registry that announces an image before it shows it', () => {
  const pushed = { registry: 'harbor.example.com', path: 'shop/app' };

  it('is asked for the base again, as long as it may be on its way', async () => {
    const replica = createReplica();
    await replica.process(jobOf('Poll'));
    for (const hint of [{ tag: '1.2.3', digest: digestOf('c') }, { tag: '1.2.3' }])
      await assert.rejects(replica.process(jobOf('Webhook', { hint, cause: 'push:1' })), { reason: 'NotShownYet' });
    replica.tags.set('1.2.3', digestOf('c'));
    await replica.process(jobOf('Webhook', { hint: { tag: '1.2.3', digest: digestOf('c') }, cause: 'push:1' }));
    assert.equal(replica.status().latest?.digest, digestOf('c'));
  });

  it('is asked for an application again', async () => {
    const replica = createReplica();
    const job = jobOf('TargetChange', { pushed, hint: { tag: 'main', digest: digestOf('f') } });
    await assert.rejects(replica.process(job), { reason: 'NotShownYet' });
    replica.tags.set('main', digestOf('f'));
    await replica.process(job);
  });

  it('is believed after its time', async () => {
    const replica = createReplica();
    const receivedAt = new Date(startTime - 600_000).toISOString();
    await replica.process(jobOf('TargetChange', { pushed, receivedAt, hint: { tag: 'main', digest: digestOf('f') } }));
    assert.notEqual(replica.status().latest, undefined);
  });
});
