import { formatSelector, type LabelSelector } from '../model/label-selector.ts';
import type { Workload } from '../model/workload.ts';
import type { KubeClient } from './client.ts';
import { listPages } from './list-pages.ts';
import { isWanted, projectWorkload } from './project-workload.ts';
import { listPath } from './resource-path.ts';
import type { TargetKind } from './target-kind.ts';

const pageSize = 500;

/** The workloads that a selector finds in a namespace, as the API server knows them now. */
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
    ...(signal !== undefined && { signal }),
  };
  for await (const { items } of listPages(client, query)) {
    found.push(...items.filter((raw) => isWanted(target, raw)).map((raw) => projectWorkload(target, raw)));
  }
  return found;
}
