/** The NotificationTargets of namespaces: sends them notices, and writes their status. */
import { notificationTargetResource } from './resource/kind.ts';
import { readNotificationTarget } from './resource/read-target.ts';
import { createOptionalCache } from '../service/cluster/optional-cache.ts';
import type { KubeClient } from '../service/kube/client.ts';
import { objectPath } from '../service/kube/objects.ts';
import { patchStatus } from '../service/kube/patch-status.ts';
import { describeError } from '../core/model/errors.ts';
import {
  isUsableTarget,
  publicUrls,
  type NotificationTarget,
  type NotificationTargetSpec,
  type SecretKeyRef,
  type TargetReason,
  type TargetStatus,
} from '../core/model/notification-target.ts';
import { cut, toSeconds } from '../core/model/text.ts';
import { isAllowedHost } from './allowed-hosts.ts';
import type { ConfiguredTarget } from '../core/model/configured-target.ts';
import { describeResult, type SendResult } from '../service/proxy/exchange.ts';
import type { ReadSecret } from '../service/registry/credentials/secret-offer.ts';
import type { Foundation } from '../service/compose/foundation.ts';

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
/** Reasons whose cause is outside of the target, so that it is checked again. */
const checkedAgain: ReadonlySet<string> = new Set<TargetReason>(['SecretNotUsable', 'TooManyTargets', 'HostNotAllowed']);

type State = { readonly reason: TargetReason; readonly message: string };

/** Builds the NotificationTargets of namespaces. Nothing connects before it is started. */
export function composeNamespacedTargets(
  { settings, logger }: Foundation,
  { client, readSecret, isSelected }: NamespacedTargetMeans,
): NamespacedTargets {
  const { hosts } = settings.config.notifications;
  const message = 'notification targets cannot be watched';
  const cache = createOptionalCache({ client, logger, resource: notificationTargetResource, read: readNotificationTarget, message });
  const targets = cache.objects;
  const reportedAt = new Map<string, number>();

  const inOrder = (namespace: string) =>
    [...targets.values()].filter((one) => one.namespace === namespace).toSorted((a, b) => orderOf(a).localeCompare(orderOf(b), 'en'));
  const isOneTooMany = ({ namespace, uid }: NotificationTarget) => inOrder(namespace).findIndex((one) => one.uid === uid) >= maxInNamespace;

  const read = async (namespace: string, { name, key }: SecretKeyRef) => {
    const content = await readSecret({ namespace, name }, { refresh: false });
    if ('why' in content) throw new Error(`the Secret ${name} ${content.why}`);
    const value = Object.hasOwn(content.data, key) ? content.data[key] : undefined;
    if (value === undefined) throw new Error(`the Secret ${name} has no key ${key}`);
    // Trimmed, because editors add a line break at the end of a file.
    return Buffer.from(value, 'base64').toString('utf8').trim();
  };
  /** The address of a target, or why it has no usable one. The reason contains nothing of the Secret. */
  const readUrl = async (namespace: string, { type, urlSecret }: NotificationTargetSpec): Promise<string | State> => {
    if (urlSecret === undefined) return publicUrls[type] ?? '';
    try {
      const text = await read(namespace, urlSecret);
      const url = URL.parse(text);
      if (url === null)
        return { reason: 'SecretNotUsable', message: `the key ${urlSecret.key} of the Secret ${urlSecret.name} holds no URL` };
      if (isAllowedHost(url, hosts)) return text;
      const message = 'the host of its URL is not allowed: ask the operator to add it to notifications.hosts of the configuration';
      return { reason: 'HostNotAllowed', message };
    } catch (error) {
      return { reason: 'SecretNotUsable', message: describeError(error) };
    }
  };
  const toConfigured = ({ namespace, name }: NotificationTarget, spec: NotificationTargetSpec): ConfiguredTarget => ({
    name: `${namespace}/${name}`,
    kind: spec.type,
    events: spec.events,
    namespaces: [namespace],
    policies: spec.policyLabels,
    email: spec.email,
    forge: spec.forge,
    template: spec.template,
    // Whether plain http is allowed depends on the host. Mails need TLS.
    insecure: spec.type !== 'email',
    perMinute: spec.perMinute,
    async url() {
      const found = await readUrl(namespace, spec);
      if (typeof found !== 'string') throw new Error(found.message);
      return found;
    },
    secret: async () => (spec.secret === undefined ? '' : read(namespace, spec.secret)),
  });

  const stateOf = async (target: NotificationTarget): Promise<State> => {
    if (!isUsableTarget(target)) return { reason: 'InvalidTarget', message: 'problem' in target.spec ? target.spec.problem.message : '' };
    const { namespace, spec } = target;
    if (spec.suspended) return { reason: 'Suspended', message: 'suspended by the spec: nothing is sent' };
    if (isOneTooMany(target))
      return {
        reason: 'TooManyTargets',
        message: `the namespace has more than ${maxInNamespace} targets: the oldest ${maxInNamespace} are used`,
      };
    const url = await readUrl(namespace, spec);
    if (typeof url !== 'string') return url;
    if (spec.secret !== undefined) {
      const problem = await read(namespace, spec.secret).then(() => undefined, describeError);
      if (problem !== undefined) return { reason: 'SecretNotUsable', message: problem };
    }
    return { reason: 'Configured', message: 'messages can be sent' };
  };
  const report = async (target: NotificationTarget, state: State) => {
    await patchStatus({
      client,
      path: objectPath(notificationTargetResource, target.namespace, target.name),
      current: target,
      update: (status) => nextStatus(status as TargetStatus, target.generation, state, new Date()),
    });
  };
  const reportLogged = (target: NotificationTarget, state: Promise<State>) => {
    state
      .then((known) => report(target, known))
      .catch((error: unknown) =>
        logger.warn({ target: `${target.namespace}/${target.name}`, why: describeError(error) }, 'notification target not checked'),
      );
  };
  const check = (target: NotificationTarget) => {
    const { status, generation } = target;
    const reason = readyOf(status)?.reason ?? '';
    const isDue = status.observedGeneration !== generation || checkedAgain.has(reason);
    if (isDue && isSelected(target.namespace)) reportLogged(target, stateOf(target));
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
      const [namespace = '', short = ''] = name.split('/');
      const target = targets.get(namespace, short);
      if (target === undefined || !isUsableTarget(target) || target.spec.suspended || !isSelected(namespace) || isOneTooMany(target))
        return undefined;
      return toConfigured(target, target.spec);
    },
    onResult(name, result) {
      const [namespace = '', short = ''] = name.split('/');
      const target = targets.get(namespace, short);
      if (target === undefined) return;
      const reason = readyOf(target.status)?.reason;
      const now = Date.now();
      const isKnown = result.kind === 'sent' ? reason === 'Delivered' : reason === 'NotAccepted';
      if (isKnown || now - (reportedAt.get(target.uid) ?? 0) < reportEveryMs) return;
      reportedAt.set(target.uid, now);
      const refused: State = { reason: 'NotAccepted', message: describeResult(result) };
      const state: Promise<State> =
        result.kind === 'sent'
          ? Promise.resolve({ reason: 'Delivered', message: 'the last message was accepted' })
          : // Nothing was sent if the target itself cannot be used.
            stateOf(target).then((own) => (own.reason === 'Configured' ? refused : own));
      reportLogged(target, state);
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

function readyOf({ conditions = [] }: TargetStatus) {
  return conditions.find(({ type }) => type === 'Ready');
}

const good: ReadonlySet<TargetReason> = new Set(['Configured', 'Delivered', 'Suspended']);

/** The status for a state. A target with a delivered message stays Delivered when it is checked again. */
function nextStatus(status: TargetStatus, generation: number, { reason, message }: State, now: Date): TargetStatus {
  const before = readyOf(status);
  const isKept = reason === 'Configured' && before?.reason === 'Delivered' && status.observedGeneration === generation;
  if (isKept) return status;
  const value = good.has(reason) ? ('True' as const) : ('False' as const);
  const lastTransitionTime = before?.status === value ? before.lastTransitionTime : toSeconds(now);
  const ready = { type: 'Ready', status: value, reason, message: cut(message, 1_024), lastTransitionTime, observedGeneration: generation };
  return {
    ...status,
    observedGeneration: generation,
    conditions: [ready, ...(status.conditions ?? []).filter(({ type }) => type !== 'Ready')],
  };
}
