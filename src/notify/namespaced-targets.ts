/** The NotificationTargets of namespaces: sends them notices, and writes their status. */
import { notificationTargetResource } from './resource/kind.ts';
import { readNotificationTarget } from './resource/read-target.ts';
import { createOptionalCache } from '../service/cluster/optional-cache.ts';
import type { KubeClient } from '../service/kube/client.ts';
import { objectPath } from '../service/kube/objects.ts';
import { patchStatus } from '../service/kube/patch-status.ts';
import { describeError } from '../core/model/errors.ts';
import { isUsableTarget, type NotificationTarget, type TargetStatus } from '../core/model/notification-target.ts';
import type { ConfiguredTarget } from '../core/model/configured-target.ts';
import { describeResult, type SendResult } from '../service/proxy/exchange.ts';
import type { ReadSecret } from '../service/registry/credentials/secret-offer.ts';
import type { Foundation } from '../service/compose/foundation.ts';
import { createTargetSecrets } from './target-secrets.ts';
import { isCheckDue, nextTargetStatus, readyOf, type TargetState } from './target-status.ts';

/** What the NotificationTargets of namespaces share with the rest of the role. */
export interface NamespacedTargetMeans {
  readonly client: KubeClient;
  readonly readSecret: ReadSecret;
  readonly isSelected: (namespace: string) => boolean;
}

/** The targets of namespaces, by `namespace/name`. */
export interface NamespacedTargets {
  hasTargets(): boolean;
  /** All of them, also those that cannot be used. */
  all(): Iterable<NotificationTarget>;
  /** The usable targets of a namespace. */
  of(namespace: string): readonly ConfiguredTarget[];
  find(name: string): ConfiguredTarget | undefined;
  /** Whether all targets are listed. Otherwise a target that is not found may exist. */
  isComplete(): boolean;
  /** Resolves when the targets are listed, or when the API server has answered that there are none. */
  settled(): Promise<unknown>;
  /** Checks all targets. It is called when the namespaces are known. */
  checkAll(): void;
  /** Writes into the status whether the target accepts messages. */
  onResult(name: string, result: SendResult): void;
  /** Called when a Secret of a namespace has changed. */
  onSecret(namespace: string): void;
  start(namespaces: readonly (string | undefined)[]): void;
  stop(): Promise<void>;
}

/** The maximum number of targets in a namespace. Each event is a message for each of them. */
const maxInNamespace = 10;
const checkEveryMs = 60_000;
/** The minimum time between two writes of a target's status, for a target that fails now and then. */
const reportEveryMs = 30_000;
/** Creates the NotificationTargets of namespaces. Nothing connects before they are started. */
export function createNamespacedTargets(
  { settings, logger }: Pick<Foundation, 'settings' | 'logger'>,
  { client, readSecret, isSelected }: NamespacedTargetMeans,
): NamespacedTargets {
  const message = 'notification targets cannot be watched';
  const cache = createOptionalCache({ client, logger, resource: notificationTargetResource, read: readNotificationTarget, message });
  const targets = cache.objects;
  const { toConfigured, problemOf } = createTargetSecrets(readSecret, settings.config.notifications.hosts);
  const reportedAt = new Map<string, number>();

  const inOrder = (namespace: string) =>
    [...targets.values()].filter((one) => one.namespace === namespace).toSorted((a, b) => orderOf(a).localeCompare(orderOf(b), 'en'));
  const isOneTooMany = ({ namespace, uid }: NotificationTarget) => inOrder(namespace).findIndex((one) => one.uid === uid) >= maxInNamespace;
  const get = (fullName: string) => {
    const [namespace = '', name = ''] = fullName.split('/');
    return targets.get(namespace, name);
  };

  const stateOf = async (target: NotificationTarget): Promise<TargetState> => {
    if (!isUsableTarget(target)) return { reason: 'InvalidTarget', message: 'problem' in target.spec ? target.spec.problem.message : '' };
    const { namespace, spec } = target;
    if (spec.suspended) return { reason: 'Suspended', message: 'suspended by the spec: nothing is sent' };
    if (isOneTooMany(target))
      return {
        reason: 'TooManyTargets',
        message: `the namespace has more than ${maxInNamespace} targets: the oldest ${maxInNamespace} are used`,
      };
    return (await problemOf(namespace, spec)) ?? { reason: 'Configured', message: 'messages can be sent' };
  };
  const report = async (target: NotificationTarget, findState: () => Promise<TargetState>) => {
    try {
      const state = await findState();
      await patchStatus({
        client,
        path: objectPath(notificationTargetResource, target.namespace, target.name),
        current: target,
        update: (status) => nextTargetStatus(status as TargetStatus, target.generation, state, new Date()),
      });
    } catch (error) {
      logger.warn({ target: `${target.namespace}/${target.name}`, why: describeError(error) }, 'notification target not checked');
    }
  };
  const check = (target: NotificationTarget) => {
    if (isCheckDue(target.status, target.generation) && isSelected(target.namespace)) void report(target, () => stateOf(target));
  };
  const checkAll = () => {
    for (const target of targets.values()) check(target);
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    hasTargets: () => targets.size > 0,
    all: targets.values,
    of: (namespace) =>
      isSelected(namespace)
        ? inOrder(namespace)
            .slice(0, maxInNamespace)
            .flatMap((target) => (isUsableTarget(target) && !target.spec.suspended ? [toConfigured(target, target.spec)] : []))
        : [],
    find(name) {
      const target = get(name);
      if (target === undefined || !isUsableTarget(target) || target.spec.suspended) return undefined;
      return isSelected(target.namespace) && !isOneTooMany(target) ? toConfigured(target, target.spec) : undefined;
    },
    onResult(name, result) {
      const target = get(name);
      if (target === undefined) return;
      const isSent = result.kind === 'sent';
      const isKnown = readyOf(target.status)?.reason === (isSent ? 'Delivered' : 'NotAccepted');
      const now = Date.now();
      if (isKnown || now - (reportedAt.get(target.uid) ?? 0) < reportEveryMs) return;
      reportedAt.set(target.uid, now);
      void report(target, async () => {
        if (isSent) return { reason: 'Delivered', message: 'the last message was accepted' };
        // Nothing was sent if the target itself cannot be used.
        const own = await stateOf(target);
        return own.reason === 'Configured' ? { reason: 'NotAccepted', message: describeResult(result) } : own;
      });
    },
    isComplete: cache.isComplete,
    settled: cache.settled,
    checkAll,
    onSecret(namespace) {
      for (const target of inOrder(namespace)) check(target);
    },
    start(namespaces) {
      targets.subscribe(({ type, object }) => {
        if (type === 'deleted') reportedAt.delete(object.uid);
        else check(object);
      });
      cache.start(namespaces);
      timer = setInterval(checkAll, checkEveryMs);
    },
    async stop() {
      clearInterval(timer);
      await cache.stop();
    },
  };
}

function orderOf({ createdAt = '', name }: NotificationTarget): string {
  return `${createdAt} ${name}`;
}
