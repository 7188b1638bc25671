/** Records decisions and rollouts in traces. */
import { formatWorkload } from '../../core/model/workload.ts';
import type { TracedChange } from '../queue/trace-memory.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { DecisionObserver } from '../reconcile/ports.ts';

/** How many names of policies or workloads an event lists. */
const maxNames = 20;
const maxBlocked = 20;

/** Adds each decision, and each update that a guard blocks, as an event to the current span. */
export function traceDecisions(tracing: Tracing): DecisionObserver {
  return {
    matched(policies) {
      if (policies.length === 0) return tracing.event('unwatched', {});
      const names = policies.slice(0, maxNames);
      tracing.event('matched', { 'image_watcher.policies': names, 'image_watcher.policies.count': policies.length });
    },
    decided(policy, { kind, reason, message, tag, blocked = [] }) {
      const about = { 'image_watcher.policy': policy };
      tracing.event('decision', {
        ...about,
        'image_watcher.outcome': kind,
        'image_watcher.reason': reason,
        'image_watcher.message': message,
        ...(tag !== undefined && { 'container.image.tags': [tag] }),
      });
      for (const one of blocked.slice(0, maxBlocked))
        tracing.event('blocked', { ...about, 'image_watcher.reason': one.reason, 'image_watcher.message': one.message });
    },
  };
}

/** The results of successful rollouts. All other results are failures. */
const good = new Set<string>(['RolledOut']);

/** Records a finished rollout as a span from the change to its end. */
export function traceRollouts({ traceparent, at }: TracedChange, tracing: Tracing): Required<Pick<DecisionObserver, 'rolledOut'>> {
  return {
    rolledOut(policy, workload, { reason, message }) {
      const attributes = {
        'image_watcher.policy': policy,
        'image_watcher.workload': formatWorkload(workload),
        'image_watcher.reason': reason,
        'image_watcher.message': message,
        'k8s.namespace.name': workload.namespace,
      };
      tracing.record({ name: 'rollout', parent: traceparent, startedAt: at, attributes }, good.has(reason) ? undefined : message);
    },
  };
}
