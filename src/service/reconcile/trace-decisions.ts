/** Records decisions and rollouts in the current span, if there is one. */
import type { Reason } from '../../core/model/reasons.ts';
import { formatWorkload, type Workload } from '../../core/model/workload.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import { currentSpan } from '../telemetry/tracing.ts';

/** How many names of policies or blocked changes are recorded. */
const maxNames = 20;
const maxBlocked = 20;

/** How the reconcile of a policy ended: with an outcome, or with the reason why it is requeued. */
export interface Decision extends Pick<Outcome, 'reason' | 'message' | 'tag' | 'blocked'> {
  readonly kind: Outcome['kind'] | 'retrying';
}

/** Records the policies that watch the repository of a push; there may be none. */
export function traceMatches(policies: readonly string[]): void {
  const span = currentSpan();
  if (policies.length === 0) span?.event('unwatched', {});
  else span?.event('matched', { 'image_watcher.policies': policies.slice(0, maxNames), 'image_watcher.policies.count': policies.length });
}

/** Records the decision about a policy, and each update that a guard blocks. `policy`: `namespace/name`. */
export function traceDecision(policy: string, { kind, reason, message, tag, blocked = [] }: Decision): void {
  const span = currentSpan();
  if (span === undefined) return;
  const about = { 'image_watcher.policy': policy };
  span.event('decision', {
    ...about,
    'image_watcher.outcome': kind,
    'image_watcher.reason': reason,
    'image_watcher.message': message,
    ...(tag !== undefined && { 'container.image.tags': [tag] }),
  });
  for (const one of blocked.slice(0, maxBlocked))
    span.event('blocked', { ...about, 'image_watcher.reason': one.reason, 'image_watcher.message': one.message });
}

/** Records a finished rollout as a span from the change to its end. */
export function traceRollout(
  policy: string,
  workload: Workload,
  { reason, message }: { readonly reason: Reason; readonly message: string },
): void {
  const span = currentSpan();
  if (span === undefined) return;
  const attributes = {
    'image_watcher.policy': policy,
    'image_watcher.workload': formatWorkload(workload),
    'image_watcher.reason': reason,
    'image_watcher.message': message,
    'k8s.namespace.name': workload.namespace,
  };
  span.recordFollowed({ name: 'rollout', attributes }, reason === 'RolledOut' ? undefined : message);
}
