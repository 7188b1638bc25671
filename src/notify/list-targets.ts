/** The targets that a caller of the API may see, each with its state. */
import { defined } from '../core/model/defined.ts';
import type { ConfiguredTarget } from '../core/model/configured-target.ts';
import { isUsableTarget, targetReasons, type NotificationTarget, type TargetReason } from '../core/model/notification-target.ts';
import { toSeconds } from '../core/model/text.ts';
import type { Access } from '../service/api/access.ts';
import type { NotificationView } from '../service/api/notification-view.ts';
import type { LastResults } from '../service/queue/notice-results.ts';
import { notificationTarget } from './resource/kind.ts';

export interface KnownTargets {
  /** The targets of the configuration. */
  readonly configured: readonly ConfiguredTarget[];
  /** The NotificationTargets of namespaces, also those that cannot be used. */
  readonly namespaced: () => Iterable<NotificationTarget>;
  /** The last results of targets, by their names. Rejects if they cannot be read. */
  readonly readResults: (names: readonly string[]) => Promise<readonly LastResults[]>;
}

/** The most targets of an answer. Teams create theirs, up to ten in a namespace. */
const maxListed = 200;

type Stated = Omit<NotificationView, 'lastAcceptedAt' | 'lastFailedAt' | 'lastFailure'>;

/** Lists the targets of the configuration for those who may list all policies, and those of the namespaces whose targets the caller may list. */
export async function listTargets({ configured, namespaced, readResults }: KnownTargets, access: Access): Promise<NotificationView[]> {
  const seesAll = await access.may({ verb: 'list' });
  const found: Stated[] = seesAll ? configured.map(ofConfiguration) : [];
  for (const one of namespaced()) {
    if (found.length >= maxListed) break;
    if (await access.may({ verb: 'list', resource: notificationTarget.plural, namespace: one.namespace })) found.push(ofNamespace(one));
  }
  const results = await readResults(found.map(({ name }) => name)).catch(() => []);
  return found.map((one, index) => withResults(one, results[index] ?? {}));
}

function ofConfiguration({ name, kind }: ConfiguredTarget): Stated {
  return { name, type: kind, ready: true, reason: 'Configured', message: '' };
}

function ofNamespace(target: NotificationTarget): Stated {
  const { namespace, name, status } = target;
  const condition = status.conditions?.find(({ type }) => type === 'Ready');
  return {
    name: `${namespace}/${name}`,
    namespace,
    ...(isUsableTarget(target) && { type: target.spec.type }),
    ready: condition?.status === 'True',
    reason: readReason(condition?.reason),
    message: condition?.message ?? '',
  };
}

function readReason(text: string | undefined): TargetReason {
  return targetReasons.find((one) => one === text) ?? 'Configured';
}

/** A target of the configuration has no status: whether it works is what its last message showed. */
function withResults(target: Stated, { acceptedAt, failedAt, why }: LastResults): NotificationView {
  const times = defined({
    lastAcceptedAt: toText(acceptedAt),
    lastFailedAt: toText(failedAt),
    lastFailure: why,
  });
  if (target.namespace !== undefined || (acceptedAt ?? failedAt) === undefined) return { ...target, ...times };
  const hasFailed = (failedAt ?? 0) > (acceptedAt ?? 0);
  return { ...target, ready: !hasFailed, reason: hasFailed ? 'NotAccepted' : 'Delivered', message: hasFailed ? (why ?? '') : '', ...times };
}

function toText(at: number | undefined): string | undefined {
  return at === undefined ? undefined : toSeconds(new Date(at));
}
