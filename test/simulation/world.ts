/** Everything that there is in one run: the servers, the replicas, what people want, and the story of what happened. */
import { apiVersion } from '../../src/service/resources/v1.ts';
import { kind } from '../../src/service/resources/group.ts';
import { consentAnnotation } from '../../src/core/model/consent-annotation.ts';
import { createApiServer, type ApiObject, type ApiServer } from './api-server.ts';
import { createBaseWorld, furnishBase, type BaseWorld } from './base-world.ts';
import { app, labelsOf, moving, namespaceLabel } from './base-setup.ts';
import { chartKinds, helmRepositories, isChartKind, sourceName, sourceUrl, specWith } from './chart-kinds.ts';
import { firstVersion } from './chart-setup.ts';
import { createCheckEndpoint, type CheckEndpoint } from './check-endpoint.ts';
import { startInstallers } from './installers.ts';
import type { PushQueue } from '../../src/service/queue/producer.ts';
import type { Clock } from './clock.ts';
import { startControllers, type Controllers } from './controllers.ts';
import { createPushRecords, type PushRecords } from './event-log.ts';
import { createHistory, type History } from './history.ts';
import { createFactsModel, type FactsModel } from './facts-model.ts';
import { contentOf, imageOf } from './image-content.ts';
import { api, partsOf } from './images.ts';
import { createNetwork, type Network } from './network.ts';
import { createPatchLog, type PatchLog } from './patch-log.ts';
import { kill, type Version } from './process.ts';
import { createQueueModel, type QueueModel } from './queue-model.ts';
import type { Random } from './random.ts';
import { createRegistry, type Registry } from './registry.ts';
import { createRegistryServer } from './registry-server.ts';
import { furnishSets } from './set-setup.ts';
import { startReplica, type Replica } from './replica.ts';
import { createScanSource, type ScanSource } from './scan-source.ts';
import { otherNamespace, policyNamespace, type Setup } from './setup.ts';
import { createStory, type Story } from './story.ts';

export interface World {
  readonly setup: Setup;
  readonly clock: Clock;
  readonly random: Random;
  readonly network: Network;
  readonly server: ApiServer;
  readonly registry: Registry;
  readonly queue: QueueModel;
  /** What receivers add pushes to; Redis answers at once. */
  readonly receiver: PushQueue;
  readonly records: PushRecords;
  readonly facts: FactsModel;
  readonly controllers: Controllers;
  /** What checks ask. */
  readonly endpoint: CheckEndpoint;
  /** What is asked about vulnerabilities. */
  readonly scans: ScanSource;
  /** When the run began, in ms since 1970. */
  readonly startedAt: number;
  readonly replicas: Map<string, Replica>;
  readonly story: Story;
  readonly history: History;
  readonly patches: PatchLog;
  readonly pushes: AcceptedPush[];
  /** In seeds with a BaseImagePolicy. */
  readonly bases: BaseWorld | undefined;
  /** Starts a replica, or starts it anew. */
  readonly start: (name: string) => void;
  /** The configuration that each replica is started with. */
  readonly versions: Map<string, Version>;
  /** When each rollback was asked for. */
  readonly asked: Map<string, number>;
  /** Whether people did something, or an image was broken: then what is selected need not run. */
  hasInterference: boolean;
  /** Repositories with images that nobody announced: nobody knows of them before the next poll. */
  readonly mayBeUnknown: Set<string>;
  /** What was accepted before this time may be lost. */
  wipedAt: number;
  /** Whether the clock of a replica was set: then times do not order what replicas did. */
  hasSetClock: boolean;
}

/** A push that the queue has stored. */
export interface AcceptedPush {
  readonly id: string;
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
  readonly at: number;
}

export const policies = `${apiVersion}/imagepolicies`;

/** Builds it; nothing has happened yet. */
export function createWorld(setup: Setup, clock: Clock, random: Random): World {
  const network = createNetwork(clock, random.fork('network'));
  const server = createApiServer(clock.now);
  const registry = createRegistry(clock);
  const story = createStory(clock.now);
  const history = createHistory(server, clock.now);
  const patches = createPatchLog(server, story);
  const controllers = startControllers(server, clock, random.fork('controllers'), (image) => pullFrom(registry, image));
  startInstallers(server, clock, random.fork('installers'), controllers.broken);
  const records = createPushRecords(network);
  const queue = createQueueModel(clock.now);
  const replicas = new Map<string, Replica>();
  const versions = new Map<string, Version>();
  const onBug = (error: unknown) =>
    story.violation('no part throws what nobody expects', error instanceof Error ? (error.stack ?? error.message) : String(error));
  const facts = createFactsModel(network);
  const hasBases = setup.base !== undefined;
  const endpoint = createCheckEndpoint({
    clock,
    network,
    story,
    random: random.fork('endpoint'),
    restart: (name) => world.start(name),
    deafen: (name, forMs) => replicas.get(name)?.watches.silence(policies, forMs),
  });
  const checks = endpoint.means;
  const scans = createScanSource({ clock, network, random: random.fork('scans') });
  const around = {
    clock,
    network,
    server,
    registry: createRegistryServer(registry, clock.now),
    queue,
    records,
    facts,
    checks,
    scans,
    hasBases,
    onBug,
  };
  const world: World = {
    setup,
    clock,
    random,
    network,
    server,
    registry,
    queue,
    receiver: queue.connect().pushes,
    records,
    facts,
    controllers,
    endpoint,
    scans,
    startedAt: clock.now(),
    replicas,
    story,
    history,
    patches,
    pushes: [],
    bases: setup.base && createBaseWorld(setup.base, { server, registry, clock, story, patches }),
    start(name) {
      const before = replicas.get(name);
      if (before !== undefined) kill(before.process);
      const replica = startReplica(name, versions.get(name) ?? 'older', around);
      replica.process.skewMs = before?.process.skewMs ?? 0;
      replicas.set(name, replica);
    },
    versions,
    asked: new Map(),
    mayBeUnknown: new Set(),
    hasInterference: false,
    wipedAt: 0,
    hasSetClock: false,
  };
  furnish(world);
  return world;
}

/** What a new pod gets for an image; undefined for those whose contents nobody asks for. */
function pullFrom(registry: Registry, image: string): string | undefined {
  const { repository, tag, digest = registry.tags(repository).get(tag) } = partsOf(image);
  return repository === app || repository === moving ? digest : undefined;
}

function furnish({ setup, server, registry }: World): void {
  for (const name of [policyNamespace, otherNamespace]) {
    const annotations = name === otherNamespace ? { [consentAnnotation]: policyNamespace } : {};
    server.create(
      { resource: 'v1/namespaces', name, by: 'kubectl' },
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        spec: {},
        annotations,
        ...(setup.base && { labels: namespaceLabel }),
      },
    );
  }
  for (const policy of setup.policies) {
    const { follows, artifact, repository, alongside } = policy;
    if (alongside !== undefined) furnishSets(registry, policy);
    else if (artifact === undefined) registry.push(repository, follows ?? '1.0.0', imageOf(0), 0);
    else registry.push(repository, firstVersion, contentOf('chart', 0), 0);
  }
  for (const namespace of setup.sources ?? []) createSource(server, namespace);
  registry.push(api, '1.0.0', imageOf(0), 0);
  for (const workload of setup.workloads) createWorkload(server, workload);
  for (const policy of setup.policies) createPolicy(server, policy);
  if (setup.base === undefined) return;
  furnishBase(setup.base, server, registry);
  for (const workload of setup.base.workloads) createWorkload(server, workload, labelsOf(workload, setup.base), alwaysPulled);
}

/** Of containers whose tag is rebuilt. */
export const alwaysPulled = { imagePullPolicy: 'Always' } as const;

/** Creates a workload as it was at first, with the given labels. */
export function createWorkload(
  server: ApiServer,
  { kind, resource, namespace, name, images, sourceNamespace }: Setup['workloads'][number],
  labels: Readonly<Record<string, string>> = { uses: 'web' },
  more: Readonly<Record<string, string>> = {},
): void {
  const by = 'kubectl-client-side-apply';
  if (isChartKind(kind)) {
    const { apiVersion, field } = chartKinds[kind];
    const spec = specWith(kind, images[field] ?? '', sourceNamespace);
    return server.create({ resource, namespace, name, by }, { apiVersion, kind, spec, labels });
  }
  const containers = Object.entries(images).map(([container, image]) => ({ name: container, image, ...more }));
  const template = { metadata: { labels: { app: name } }, spec: { containers } };
  const spec = { replicas: 1, selector: { matchLabels: { app: name } }, template };
  server.create({ resource, namespace, name, by }, { apiVersion: 'apps/v1', kind, spec, labels });
}

/** Creates the HelmRepository of a namespace. */
function createSource(server: ApiServer, namespace: string): void {
  const spec = { interval: '1h', type: 'oci', url: sourceUrl };
  const edit = { resource: helmRepositories, namespace, name: sourceName, by: 'kubectl' };
  server.create(edit, { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'HelmRepository', spec });
}

/** Creates a policy as it was at first. */
export function createPolicy(server: ApiServer, { name, spec }: Setup['policies'][number]): void {
  server.create(
    { resource: policies, namespace: policyNamespace, name, by: 'kubectl' },
    { apiVersion, kind, spec: { ...spec, suspend: false } },
  );
}

/** A policy as it is now. */
export function policyNow({ server }: Pick<World, 'server'>, name: string): ApiObject | undefined {
  return server.get(policies, policyNamespace, name);
}

/** Whether the policies may see the workloads of a namespace now, by the consent of its owners and the configuration of the replicas. */
export function isVisible(namespace: string, { server, versions }: Pick<World, 'server' | 'versions'>): boolean {
  const consent = server.get('v1/namespaces', '', otherNamespace)?.metadata.annotations?.[consentAnnotation];
  return namespace === policyNamespace || (consent === policyNamespace && versions.size === 0);
}
