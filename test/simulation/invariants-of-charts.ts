/** What must hold for charts and other artifacts: none is mixed up with an image, and an upgrade that fails does not stay. */
import { consentAnnotation } from '../../src/core/model/consent-annotation.ts';
import { readStatus } from '../../src/core/model/stored-status.ts';
import { fieldsOf, textOrEmpty } from '../../src/core/model/untyped.ts';
import type { ApiObject } from './api-server.ts';
import { heldBy, helmRepositories, isChartResource, sourceName, sourceNamespaceOf, sourceUrl } from './chart-kinds.ts';
import { kindOf, type Content } from './image-content.ts';
import { partsOf, shorten } from './images.ts';
import { boundOf, describe, setupOf } from './invariants-of-changes.ts';
import type { Invariant } from './invariants.ts';
import type { ImagePatch } from './patch-log.ts';
import { otherNamespace, policyNamespace, type PolicySetup } from './setup.ts';
import { isVisible, policies, policyNow, type World } from './world.ts';

export const chartInvariants: readonly Invariant[] = [
  {
    name: 'nothing of another kind',
    promise:
      'No policy writes an artifact of another kind than it selects: neither a chart for an image, nor an image for a chart, nor a signature.',
    onPatch(patch, world) {
      const setup = setupOf(patch, world);
      if (!patch.isOurs || setup === undefined) return undefined;
      const { repository, tag, digest = world.registry.tags(repository).get(tag) ?? '' } = partsOf(patch.to);
      return isSelectable(digest, setup)
        ? undefined
        : `${describe(patch)}, which is the ${kindOf(digest)} of a policy for ${setup.artifact ?? 'Image'}`;
    },
  },
  {
    name: 'a HelmRepository names the chart',
    promise: 'A HelmRelease is changed only while its HelmRepository, which the policy may see, names the repository of the policy.',
    onPatch(patch, world) {
      const namespace = sourceNamespaceOf(patch.before);
      if (!patch.isOurs || namespace === undefined) return undefined;
      const bound = boundOf(patch, world);
      const sources = world.history.statesWithin(helmRepositories, namespace, sourceName, ...bound);
      const consents = namespace === policyNamespace ? [] : world.history.statesWithin('v1/namespaces', '', namespace, ...bound);
      const isAllowed = namespace === policyNamespace || (patch.version !== 'newer' && consents.some(isConsent));
      return isAllowed && sources.some(isOurSource) ? undefined : describe(patch);
    },
  },
  {
    name: 'a failed upgrade does not stay',
    promise: 'With onFailure: Rollback, no chart stays whose upgrade has failed, and its digest is rejected, unless somebody interferes.',
    atEnd: (world) =>
      world.setup.policies.flatMap((setup) =>
        world.setup.workloads.flatMap((target) => {
          const { resource, namespace, name } = target;
          const object = isChartResource(resource) ? world.server.get(resource, namespace, name) : undefined;
          const installed = object && heldBy(object).get(setup.container);
          const last = world.patches.all.findLast((one) => isOf(one, object));
          if (object === undefined || installed === undefined || last === undefined || !mustRollBack(last, setup, world)) return [];
          const failed = isFailed(object) ? [`${name} stays at ${shorten(installed)}, whose upgrade has failed`] : [];
          return [...failed, ...acceptedAgain(last, setup, world)];
        }),
      ),
  },
];

/** Whether a policy may select this. */
export function isSelectable(digest: string, { artifact = 'Image' }: Pick<PolicySetup, 'artifact'>): boolean {
  const kind = kindOf(digest);
  const selectable: Readonly<Record<typeof artifact, readonly (Content | undefined)[]>> = {
    Image: ['image', undefined],
    Chart: ['chart'],
    Any: ['image', 'chart', 'bundle'],
  };
  return selectable[artifact].includes(kind);
}

/** Whether an object holds something of the repository, as far as policies may see: a HelmRelease does as long as its HelmRepository says so. */
export function namesRepository(object: ApiObject, world: World): boolean {
  const namespace = sourceNamespaceOf(object);
  return namespace === undefined || (isVisible(namespace, world) && isOurSource(world.server.get(helmRepositories, namespace, sourceName)));
}

/** Whether that has been so since a time. */
export function hasNamedRepository(object: ApiObject, since: number, { history, clock }: World): boolean {
  const namespace = sourceNamespaceOf(object);
  if (namespace === undefined) return true;
  const consents = namespace === otherNamespace ? history.statesWithin('v1/namespaces', '', namespace, since, clock.now()) : [];
  return consents.every(isConsent) && history.statesWithin(helmRepositories, namespace, sourceName, since, clock.now()).every(isOurSource);
}

function isOurSource(source: ApiObject | undefined): boolean {
  return source?.spec['url'] === sourceUrl;
}

function isConsent(namespace: ApiObject | undefined): boolean {
  return namespace?.metadata.annotations?.[consentAnnotation] === policyNamespace;
}

function isOf({ after, resource }: ImagePatch, object: ApiObject | undefined): boolean {
  return isChartResource(resource) && after.metadata.uid === object?.metadata.uid;
}

function isFailed({ status }: ApiObject): boolean {
  const operation = fieldsOf(status?.['operationState']);
  const conditions = Array.isArray(status?.['conditions']) ? status['conditions'].map(fieldsOf) : [];
  return operation['phase'] === 'Failed' || conditions.some(({ type, status }) => type === 'Stalled' && status === 'True');
}

/** Whether nothing keeps the policy from rolling the last change of a target back: its spec and the target were never touched by anybody else. */
function mustRollBack(last: ImagePatch, { name, spec }: PolicySetup, world: World): boolean {
  const policy = policyNow(world, name);
  const states = world.history.statesOf(policies, policyNamespace, name);
  const isUntouched = states.every(({ object }) => object?.metadata.uid === policy?.metadata.uid && object?.metadata.generation === 1);
  const isUnasked = world.asked.size === 0 && policy?.metadata.annotations === undefined;
  const own = world.patches.all.filter((one) => isOf(one, last.after));
  const isVisibleAll = last.after.metadata.namespace === policyNamespace && hasNamedRepository(last.after, 0, world);
  const isRollback = fieldsOf(spec['rollout'])['onFailure'] === 'Rollback';
  return (
    isRollback &&
    isUntouched &&
    isUnasked &&
    isVisibleAll &&
    own.every(({ isOurs }) => isOurs) &&
    last.record.policy === policy?.metadata.uid
  );
}

/** What was rolled back and is not rejected: the digest of a chart that another target of the policy runs may have been released by its success. */
function acceptedAgain({ from, record }: ImagePatch, { name }: PolicySetup, world: World): string[] {
  if (record.trigger !== 'Rollback') return [];
  const policy = policyNow(world, name);
  const { rejected = [] } = readStatus(policy?.status);
  const { tag } = partsOf(from);
  return rejected.some((one) => one.tag === tag) ? [] : [`${textOrEmpty(name)} does not reject ${shorten(from)}, which it has rolled back`];
}
