import type { Workload, WorkloadRef } from '../model/workload.ts';
import type { KubeClient } from './client.ts';
import { findTarget } from './find-target.ts';
import { isWanted, projectWorkload } from './project-workload.ts';
import { readObject } from './read-object.ts';
import { objectPath } from './resource-path.ts';
import type { TargetKind } from './target-kind.ts';

/** Reads one workload, or undefined where it does not exist; throws PermanentError(UnsupportedTargetKind) for kinds that cannot be updated. */
export async function readWorkload(
  client: KubeClient,
  ref: WorkloadRef,
  signal?: AbortSignal,
  target: TargetKind = findTarget(ref),
): Promise<Workload | undefined> {
  const raw = await readObject<unknown>(client, objectPath(target, ref.namespace, ref.name), signal);
  return raw === undefined || !isWanted(target, raw) ? undefined : projectWorkload(target, raw);
}
