import { defined } from '../../core/model/defined.ts';
import type { OnAnswered } from '../../core/model/server-clock.ts';
import type { Workload, WorkloadRef } from '../../core/model/workload.ts';
import type { KubeClient } from './client.ts';
import { findTarget, type TargetKind } from './targets.ts';
import { isWanted, projectWorkload } from './project-workload.ts';
import { listPages, listPath, objectPath, readObject } from './objects.ts';
import { formatSelector, type LabelSelector } from '../../core/model/label-selector.ts';

interface ReadOptions {
  readonly signal?: AbortSignal;
  /** The kind of the workload; needed only for custom resources. */
  readonly target?: TargetKind;
  readonly onAnswered?: OnAnswered | undefined;
}

/** Reads the current state of one workload; undefined if it does not exist. Throws PermanentError(UnsupportedTargetKind) for kinds that cannot be updated. */
export async function readWorkload(
  client: KubeClient,
  ref: WorkloadRef,
  { signal, target = findTarget(ref), onAnswered }: ReadOptions = {},
): Promise<Workload | undefined> {
  const raw = await readObject<unknown>(client, objectPath(target, ref.namespace, ref.name), signal, onAnswered);
  return raw === undefined || !isWanted(target, raw) ? undefined : projectWorkload(target, raw);
}

const pageSize = 500;

/** Reads the current state of the workloads of a namespace that a selector matches. */
export async function listSelected(
  client: KubeClient,
  target: TargetKind,
  { namespace, selector }: { readonly namespace: string; readonly selector: LabelSelector },
  signal?: AbortSignal,
): Promise<Workload[]> {
  const found: Workload[] = [];
  const query = {
    path: listPath(target, namespace),
    labelSelector: formatSelector(selector),
    pageSize,
    ...defined({ signal }),
  };
  for await (const { items } of listPages(client, query)) {
    found.push(...items.filter((raw) => isWanted(target, raw)).map((raw) => projectWorkload(target, raw)));
  }
  return found;
}
