import type { ImagePolicy, PolicySpec } from '../core/image-policy.ts';
import type { WorkloadView } from '../core/resolve-target.ts';
import { runningTags } from '../core/running-tags.ts';
import type { PlanPorts } from './plan-with.ts';

/** The tags with which a candidate is compared: what the targets run, what was selected before and what waits. */
export function neededTags(
  { status }: Pick<ImagePolicy, 'status'>,
  spec: PolicySpec,
  ports: WorkloadView & Pick<PlanPorts, 'aliases'>,
): string[] {
  const running = runningTags(spec, ports, ports.aliases);
  const remembered = [status.latest?.tag, status.waiting?.tag].filter((tag) => tag !== undefined);
  return [...new Set([...running, ...remembered])].filter((tag) => spec.strategy.reject(tag) === undefined);
}
