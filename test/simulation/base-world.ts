/** What there is in seeds with a BaseImagePolicy: what was pushed, which pods were restarted, and what the garbage collector does. */
import { baseKind, basePlural } from '../../src/service/resources/group.ts';
import { apiVersion } from '../../src/service/resources/v1.ts';
import { fieldManager } from '../../src/core/model/last-update.ts';
import { fieldsOf, textOrEmpty } from '../../src/core/model/untyped.ts';
import { baseAnnotation } from '../../src/core/model/base-policy.ts';
import { restartedForAnnotation } from '../../src/service/kube/restart-workload.ts';
import type { ImagePatch, PatchLog } from './patch-log.ts';
import type { ApiObject, ApiServer, Change, SentRequest } from './api-server.ts';
import { base, basePolicyName, pushSecret, type BaseSetup } from './base-setup.ts';
import type { Clock } from './clock.ts';
import { restartOf } from './controllers.ts';
import { appImage, baseBuildOf, baseImage } from './image-content.ts';
import { registryHost, shorten } from './images.ts';
import type { Registry } from './registry.ts';
import { pusher } from './registry-tokens.ts';
import { policyNamespace } from './setup.ts';
import type { Story } from './story.ts';

export const basePolicies = `${apiVersion}/${basePlural}`;
const imagePolicies = `${apiVersion}/imagepolicies`;

/** Pods that the service has restarted. */
export interface RestartPatch extends ChangedWorkload {
  readonly at: number;
  readonly sentAt: number;
  readonly process: string;
}

/** What the service does for a BaseImagePolicy. */
export interface BaseAct {
  readonly sentAt: number;
  /** For people. */
  readonly what: string;
  /** The uid of the policy, where it is known. */
  readonly parent?: string | undefined;
  /** The digest of the image, or of the base, that is rolled out. */
  readonly base?: string | undefined;
  readonly workload?: ChangedWorkload;
  readonly restart?: RestartPatch;
  readonly patch?: ImagePatch;
}

interface ChangedWorkload {
  readonly resource: string;
  readonly before: ApiObject;
  readonly after: ApiObject;
  readonly version: SentRequest['version'];
}

export interface BaseWorld {
  readonly setup: BaseSetup;
  readonly restarts: readonly RestartPatch[];
  readonly acts: readonly BaseAct[];
  /** Calls the listener before the act is one of `acts`. */
  onAct(listener: (act: BaseAct) => void): void;
  /** The number of the newest base that was pushed. */
  newest: number;
  /** Whether the service need not know of everything: something was not announced, or forgotten. */
  mayBeUnknown: boolean;
}

interface Around {
  readonly server: ApiServer;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly story: Story;
  readonly patches: PatchLog;
}

export function createBaseWorld(setup: BaseSetup, { server, registry, clock, story, patches }: Around): BaseWorld {
  const restarts: RestartPatch[] = [];
  const acts: BaseAct[] = [];
  const listeners: ((act: BaseAct) => void)[] = [];
  /** The parents of children, and the bases that these roll out, by the uid of the child. */
  const children = new Map<string, { readonly parent: string; readonly base: string | undefined }>();
  const add = (act: BaseAct) => {
    for (const listener of listeners) listener(act);
    acts.push(act);
  };
  server.onChange((change) => {
    collectGarbage(change, server, clock);
    const { resource, before, after } = change;
    if (resource === imagePolicies) {
      const [parent] = before === undefined && after !== undefined ? ownersOf(after) : [];
      if (parent !== undefined && after !== undefined)
        children.set(after.metadata.uid, { parent, base: after.metadata.annotations?.[baseAnnotation] });
    }
    const restart = restartIn(change);
    if (restart === undefined) return;
    const what = `${restart.process} restarts ${restart.after.metadata.name}`;
    story.tell(
      restart.process,
      `restarts ${restart.after.metadata.name} for ${shorten(restart.after.metadata.annotations?.[restartedForAnnotation] ?? '')}`,
    );
    const [base] = restart.after.metadata.annotations?.[restartedForAnnotation]?.split(',') ?? [];
    add({ sentAt: restart.sentAt, what, base, workload: restart, restart });
    restarts.push(restart);
  });
  patches.onPatch((patch) => {
    const child = children.get(patch.record.policy);
    if (!patch.isOurs || child === undefined) return;
    const what = `${patch.process} changes ${patch.after.metadata.name} from ${shorten(patch.from)} to ${shorten(patch.to)}`;
    add({ sentAt: patch.sentAt, what, ...child, workload: patch, patch });
  });
  registry.onPushed((repository, tag, digest, sentAt) => {
    const what = `the registry gets the rebased ${shorten(`${repository}:${tag}@${digest}`)}`;
    story.tell('registry', `gets the rebased ${shorten(`${repository}:${tag}@${digest}`)}`);
    add({ sentAt, what });
  });
  return { setup, restarts, acts, onAct: (listener) => void listeners.push(listener), newest: 0, mayBeUnknown: false };
}

function restartIn({ at, by, resource, before, after, request }: Change): RestartPatch | undefined {
  if (before === undefined || after === undefined || by !== fieldManager || !resource.startsWith('apps/')) return undefined;
  if (restartOf(before)[0] === restartOf(after)[0]) return undefined;
  const { sentAt = at, process = by, version = 'older' } = request ?? {};
  return { at, sentAt, process, version, resource, before, after };
}

function ownersOf({ metadata: { ownerReferences } }: ApiObject): string[] {
  const references: readonly unknown[] = Array.isArray(ownerReferences) ? ownerReferences : [];
  return references.map((one) => textOrEmpty(fieldsOf(one)['uid']));
}

/** What an object owned goes a little later than the object. */
function collectGarbage({ resource, before, after }: Change, server: ApiServer, clock: Clock): void {
  if (resource !== basePolicies || before === undefined || after !== undefined) return;
  const { uid } = before.metadata;
  clock.schedule(undefined, 2_000, () => {
    for (const policy of server.all(imagePolicies)) {
      const { namespace = '', name } = policy.metadata;
      if (ownersOf(policy).includes(uid)) server.delete({ resource: imagePolicies, namespace, name, by: 'garbage-collector' });
    }
  });
}

/** Creates what there is at first, without the workloads. */
export function furnishBase(setup: BaseSetup, server: ApiServer, registry: Registry): void {
  registry.push(base, setup.follows ?? '1.0.0', baseImage(0), 0);
  for (const { repository, tag } of setup.images) registry.push(repository, tag, appImage(0, 0, base), 0);
  const config = JSON.stringify({ auths: { [registryHost]: pusher } });
  server.create(
    { resource: 'v1/secrets', namespace: policyNamespace, name: pushSecret, by: 'kubectl' },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      spec: {},
      type: 'kubernetes.io/dockerconfigjson',
      data: { '.dockerconfigjson': Buffer.from(config).toString('base64') },
    },
  );
  createBasePolicy(setup, server);
}

/** Creates the policy. */
export function createBasePolicy({ spec }: BaseSetup, server: ApiServer): void {
  server.create(
    { resource: basePolicies, namespace: policyNamespace, name: basePolicyName, by: 'kubectl' },
    { apiVersion, kind: baseKind, spec: { ...spec, suspend: false } },
  );
}

/** The policy as it is now. */
export function basePolicyNow(server: ApiServer): ApiObject | undefined {
  return server.get(basePolicies, policyNamespace, basePolicyName);
}

/** The number of the base that an image is built on; undefined for one without contents. */
export function baseOf(digest: string, registry: Registry): number | undefined {
  return baseBuildOf(registry.layersOf(digest));
}
