import type { Imported } from '../importer.ts';
import { policiesOf } from '../merge-drafts.ts';
import type { SourceWorkload } from '../workload.ts';
import { convertWorkload } from './convert-workload.ts';

/** The policies for all workloads that Keel updates. */
export function convertAll(workloads: readonly SourceWorkload[]): Imported {
  const converted = workloads.map(convertWorkload);
  const { policies, skipped } = policiesOf(converted.flatMap(({ drafts }) => drafts));
  return { policies, skipped: [...converted.flatMap((one) => one.skipped), ...skipped], remarks: [] };
}
