/** A hash of the targets that a status does not list, because a status must not grow with their number. */
import { hash } from 'node:crypto';
import { maxLengths } from '../model/status-fields.ts';
import { cut } from '../model/text.ts';
import { workloadKey } from '../model/workload.ts';
import type { SeenContainer } from './seen-targets.ts';

const hashLength = 16;

/** The hash of these containers in any order; undefined for none. */
export function hashOfTargets(containers: readonly SeenContainer[]): string | undefined {
  const lines = containers.flatMap((one) =>
    one.container === undefined || one.image === undefined
      ? []
      : [JSON.stringify([workloadKey(one), one.uid, one.container, cut(one.image, maxLengths.image)])],
  );
  return lines.length === 0 ? undefined : hash('sha256', lines.toSorted().join('\n')).slice(0, hashLength);
}
